// What is known of where the program's own memory lies, page by page: what placement, statistics and traces read of
// memory that tasks name with weir::ref. README.md says who writes it down, and how it is kept.
#pragma once

#include "base/base.hpp"
#include "memory/debts.hpp"
#include "memory/pools.hpp"
#include "memory/remembered.hpp"
#include "os/os.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

namespace weir::memory {

// A page that has cost more where it lies than moving it takes.
struct misplaced_page {
  std::uintptr_t address;
  int home, to;  // nodes
  std::uint64_t debt_ns;
};

// Bytes of a matrix, or one row: all of a range.
struct rows {
  std::uintptr_t first;
  std::uint64_t width, stride = 0, count = 1;
};

class regions {
 public:
  // Of longer ranges, 64 GiB, nothing is known: they lie nowhere in particular, and their chunks would take memory.
  static constexpr std::uint64_t most_bytes_known = std::uint64_t{1} << 36;

  // `os_nodes[i]` is the system's number of node i. With one node nothing is ever written down or asked.
  regions(os::memory_backend&, std::vector<int> os_nodes);
  ~regions();
  regions(const regions&) = delete;
  regions& operator=(const regions&) = delete;

  // Calls f(bytes, node) for what lies on a node, and f(bytes, place_unknown) for the rest. Once, where all of it lies
  // in one place; else mostly once a node. Any thread, at any time. Some 3 ns for a page, or for a part of a chunk
  // that lies on one node; for a longer range so much a chunk, and 35 ns for a chunk that is spread.
  template <class F>
  void for_each_part(std::uintptr_t first, std::uint64_t bytes, F&& f) const {
    for_each_part_in(chunk_of(first), first, bytes, f);
  }
  // The same of rows: f(row, bytes, node).
  template <class F>
  void for_each_part(const rows& r, F&& f) const {
    std::uintptr_t first = r.first;
    const chunk* c = chunk_of(first);
    for (std::uint64_t row = 0, number = first >> chunk_bits_; row < r.count; row++, first += r.stride) {
      if (first >> chunk_bits_ != number) {
        number = first >> chunk_bits_;
        c = chunk_of(first);
      }
      for_each_part_in(c, first, r.width, [&](std::uint64_t bytes, int node) { f(row, bytes, node); });
    }
  }
  // The node of the page, or place_unknown.
  int node_of(std::uintptr_t address) const {
    const chunk* const c = chunk_of(address);
    return c == nullptr ? place_unknown : node_in(c->at(page_in_chunk(address)));
  }

  // Who has found that all bytes of a range or of a tile lie on one node has that remembered under their name
  // (remembered::name). It is told then until a page that was known has another place, or none. Any thread; some 5 ns.
  // `since`: what changes() said before it looked.
  int remembered_node(std::uint64_t name) const { return remembered_.find(name, changes()); }
  void remember(std::uint64_t name, int node, std::uint64_t since) { remembered_.keep(name, node, since); }
  // How often a page that was known has got another place, or none, and 1.
  std::uint64_t changes() const { return changes_.now(); }

  // A task is about to read it, or has: the system is asked about pages that nobody has asked about. Those that nobody
  // has touched stay unknown, and are asked about again when a task has written them, or after a barrier. True: of some
  // it may be known now.
  bool read(const rows& r) { return find_out(r, asked_by::reader, place_unknown); }
  // A task is about to write it, or, with `reads`, to update it. Where nobody has touched it the system is asked once
  // about all that follows in the chunk.
  bool before_write(const rows& r, bool reads) {
    return find_out(r, reads ? asked_by::updater : asked_by::creator, place_unknown);
  }
  // A task has written it, on this node: pages that are new are where the system says, or else on that node.
  bool written(const rows& r, int node) { return find_out(r, asked_by::writer, node); }
  // Whoever moves pages, or tells the system where they are to come from, says so; place_unknown: they are to be asked
  // about again.
  void placed(std::uintptr_t first, std::uint64_t bytes, int node);
  // As placed(), with the system's number of the node.
  void placed_by_system(std::uintptr_t first, std::uint64_t bytes, int os_node);
  // A task on this node uses it, and some of it may lie elsewhere. Adds it to the pages' debts, or takes it away from
  // them, and appends those that are to move. Some 2 ns a page. Throws std::bad_alloc.
  void used(rows, int node, use, const tariff&, std::vector<misplaced_page>& due);
  // Whether any page has ever been used from elsewhere.
  bool any_debts() const { return any_debts_.load(std::memory_order_relaxed); }
  // All that are to move. Throws std::bad_alloc.
  void collect_due(const tariff&, std::vector<misplaced_page>& due) const;
  // The system was told to move these: where it says that they are then (`became`, as memory_backend::move_pages has
  // it). What it has not moved is to be asked about again. Returns how many have moved.
  std::size_t have_moved(std::span<const misplaced_page>, std::span<const int> became);
  // At a barrier: looks at a few pages that are thought to be known, and forgets the chunks of those that lie
  // elsewhere now. One call of the system, for at most `pages_looked_at`, if the last one was `look_interval_ns` ago;
  // else a look at the clock.
  void look_again();

  static constexpr std::size_t pages_looked_at = 64;
  static constexpr std::uint64_t look_interval_ns = 10'000'000;
  static constexpr std::size_t pages_per_chunk = 512;

  std::size_t page_bytes() const { return std::size_t{1} << page_bits_; }
  std::size_t chunk_bytes() const { return page_bytes() * pages_per_chunk; }
  // Chunks written down so far.
  std::size_t chunks() const;

 private:
  using state = std::uint16_t;  // of a page; from `first_node` on the node's index is added
  // Of pages in one state that others are in, too, nobody has touched those that are absent or, when they were last
  // seen, presumed to be.
  static constexpr state never_asked = 0, absent = 1, presumed_absent = 2, first_node = 3, mixed = 0xffff;
  static constexpr state on(int node) { return static_cast<state>(first_node + node); }
  static constexpr int node_in(state s) { return s < first_node ? place_unknown : s - first_node; }

  // Of a chunk's pages. Changed without a lock: an update that is lost is one use less.
  struct debts_of_chunk {
    std::array<atomic<std::uint64_t>, pages_per_chunk> words{};
    atomic<bool> move_together{false};  // a huge page: the first word is for all
  };
  // 512 pages. Changed under its lock, read at any time: each state says all that is to be said about its page.
  struct chunk {
    static constexpr std::size_t per_word = sizeof(std::uint64_t) / sizeof(state);
    static constexpr std::uint64_t in_all = 0x0001'0001'0001'0001;
    explicit chunk(std::uintptr_t number_of_chunk) : number(number_of_chunk) {}

    state at(std::size_t page) const {
      return static_cast<state>(words[page / per_word].load(std::memory_order_relaxed) >> shift_of(page));
    }
    static unsigned shift_of(std::size_t page) { return static_cast<unsigned>(16 * (page % per_word)); }
    // What comes of changes by who holds the lock.
    struct outcome {
      bool lost = false;       // a page that had a place has another one now, or none
      bool uncounted = false;  // the summary has not followed
    };
    void set(std::size_t first_page, std::size_t end_page, state s, bool only_unplaced, outcome&);

    // In shares there is one for all states without a place.
    static state counted_as(state s) { return s < first_node ? never_asked : s; }
    static constexpr std::uint32_t share(std::size_t pages, state s) {
      return static_cast<std::uint32_t>(pages << 16 | s);
    }
    // So many pages that were this are that now. False: there are more states than shares.
    bool count(state was, state is, std::size_t pages);
    void count_all();

    // Calls f(pages, state) for each state, the unplaced ones together, if the chunk has few, and nobody changes it.
    // False: look at the pages.
    template <class F>
    bool for_each_share(F&& f) const;

    const std::uintptr_t number;     // address by chunk_bytes()
    atomic<state> all{never_asked};  // what all pages are, or `mixed`
    atomic<std::uint16_t> unplaced{pages_per_chunk};
    // How many pages there are of which state: count << 16 | state. All zero if there are more states than that.
    std::array<atomic<std::uint32_t>, 16> shares{atomic<std::uint32_t>(share(pages_per_chunk, never_asked))};
    atomic<std::uint32_t> asked_at{0};  // how many barriers there had been when absent pages were last asked about
    atomic<debts_of_chunk*> debts{nullptr};  // null: all its uses were at home
    spin_lock lock;
    std::array<atomic<std::uint64_t>, pages_per_chunk / per_word> words{};
  };
  // A tree of addresses: 27 bits of a chunk's number. Nothing is taken out before the end.
  static constexpr unsigned level_bits = 9, address_levels = 3;
  static constexpr std::size_t fan_out = std::size_t{1} << level_bits;
  struct leaf {
    std::array<atomic<chunk*>, fan_out> chunks{};
  };
  struct branch {
    std::array<atomic<leaf*>, fan_out> leaves{};
  };

  // Who is about to read, write or update, and who has written.
  enum class asked_by : std::uint8_t { reader, creator, updater, writer };
  class question;

  std::size_t page_in_chunk(std::uintptr_t address) const { return (address >> page_bits_) % pages_per_chunk; }
  std::uint64_t bytes_left_in_chunk(std::uintptr_t a) const { return chunk_bytes() - (a & (chunk_bytes() - 1)); }
  const chunk* chunk_of(std::uintptr_t address) const {
    const std::uintptr_t n = address >> chunk_bits_;
    if (n >> (address_levels * level_bits) != 0) [[unlikely]]
      return nullptr;
    const branch* const b = root_[n >> (2 * level_bits)].load(std::memory_order_acquire);
    if (b == nullptr) return nullptr;
    const leaf* const l = b->leaves[(n >> level_bits) % fan_out].load(std::memory_order_acquire);
    return l == nullptr ? nullptr : l->chunks[n % fan_out].load(std::memory_order_acquire);
  }
  // `c`: the first one's chunk.
  template <class F>
  void for_each_part_in(const chunk* c, std::uintptr_t first, std::uint64_t bytes, F&& f) const {
    if (bytes <= bytes_left_in_chunk(first)) [[likely]] {
      state s = c == nullptr ? never_asked : c->all.load(std::memory_order_relaxed);
      if (s == mixed && bytes <= page_bytes() - (first & (page_bytes() - 1))) s = c->at(page_in_chunk(first));
      if (s != mixed) return f(bytes, node_in(s));
    }
    const auto tell = [](void* to, std::uint64_t n, int node) {
      (*static_cast<std::remove_reference_t<F>*>(to))(n, node);
    };
    walk(first, bytes, tell, const_cast<void*>(static_cast<const void*>(std::addressof(f))));
  }
  chunk* make_chunk(std::uintptr_t number) noexcept;
  using told = void (*)(void* to, std::uint64_t bytes, int node);
  void walk(std::uintptr_t first, std::uint64_t bytes, told, void* to) const;
  bool find_out(const rows&, asked_by, int node);
  bool nobody_can_say(asked_by who, int node) const {
    return node == place_unknown && !(pretends_ && who == asked_by::reader) &&
           !system_tells_.load(std::memory_order_relaxed);
  }
  std::uint64_t first_row_to_ask(const rows&, asked_by);
  bool nothing_to_ask(const chunk&, std::size_t first_page, std::size_t end_page, asked_by) const;
  bool is_to_be_asked(const chunk&, state, asked_by) const;
  std::size_t choose_pages(std::span<const void*> pages, std::span<chunk*> of, std::span<state> believed);
  void forget(chunk&);
  void end_change(chunk&, const chunk::outcome&);
  void set_all(chunk&, std::size_t first_page, std::size_t end_page, state, bool only_unplaced);
  state state_of(int os_node) const;
  debts_of_chunk* debts_of(chunk&);
  bool lies_elsewhere(const chunk&, std::size_t first_page, std::size_t end_page, int node) const;
  static bool is_due(bool together, int home, debt, const tariff&);
  debts_of_chunk* debts_for(chunk&, std::uintptr_t first, std::uint64_t bytes, int node);
  void add_use(const chunk&, debts_of_chunk&, std::uintptr_t at, std::uint64_t bytes, int node, use, const tariff&,
               std::vector<misplaced_page>& due) const;
  std::uintptr_t address_of(const chunk& c, std::size_t page) const {
    return (c.number << chunk_bits_) + (page << page_bits_);
  }
  void note_moved(const misplaced_page&);
  void settle(const misplaced_page&, int became);
  void find_huge_pages(std::span<const misplaced_page>);
  bool others_have_moved(const chunk&, int to);
  // Calls f(chunk, first page, end page) for those that there is memory for.
  template <class F>
  void for_each_chunk(std::uintptr_t first, std::uint64_t bytes, F&& f) {
    if (bytes > most_bytes_known) return;
    while (bytes != 0) {
      const std::uint64_t here = std::min(bytes, bytes_left_in_chunk(first));
      chunk* c = const_cast<chunk*>(chunk_of(first));
      if (c == nullptr) c = make_chunk(first >> chunk_bits_);
      if (c != nullptr) f(*c, page_in_chunk(first), page_in_chunk(first + here - 1) + 1);
      first += here;
      bytes -= here;
    }
  }

  os::memory_backend& os_;
  const std::vector<int> os_nodes_;
  const unsigned page_bits_, chunk_bits_;
  const bool several_nodes_, pretends_;
  atomic<bool> system_tells_;
  atomic<std::uint32_t> barriers_{0};
  change_count<> changes_;
  remembered remembered_;
  std::array<atomic<branch*>, fan_out> root_{};
  mutable std::mutex growth_;  // who adds to the tree holds it
  std::vector<std::unique_ptr<leaf>> leaves_;
  std::vector<std::unique_ptr<branch>> branches_;
  std::vector<std::unique_ptr<chunk>> chunks_;
  std::vector<std::unique_ptr<debts_of_chunk>> debts_;
  atomic<bool> any_debts_{false};
  std::mutex looking_;  // who looks again holds it
  std::uint64_t looked_ns_ = 0;
  std::size_t next_look_ = 0;  // of chunks_
  rng random_{1};
};

// What weir::move and weir::distribute have done, to all regions of this process that ask the system. The system's
// number of the node; place_unknown: pages are somewhere else now.
void tell_all_regions(const void* first, std::size_t bytes, int os_node);

}  // namespace weir::memory
