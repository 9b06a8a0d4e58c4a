// Where pages of the program's own memory lie: written down, told, looked at again.
#include "memory/regions.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <tuple>
#include <utility>

namespace weir::memory {
namespace {

// Regions that ask the system, so that whoever moves pages can tell them. Never destroyed: moves may be static
// objects'.
struct registry {
  std::mutex mutex;
  std::vector<regions*> all;

  static registry& only() {
    static registry& r = *new registry;
    return r;
  }
};

// Bytes by node, told when there are too many nodes to remember, and at the end.
class parts {
 public:
  parts(void (*tell)(void*, std::uint64_t, int), void* to) : tell_(tell), to_(to) {}
  ~parts() { tell_all(); }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;

  void add(std::uint64_t bytes, int node) {
    if (used_ != 0 && parts_[last_].node == node) {
      parts_[last_].bytes += bytes;
      return;
    }
    for (last_ = 0; last_ < used_; last_++)
      if (parts_[last_].node == node) {
        parts_[last_].bytes += bytes;
        return;
      }
    if (used_ == parts_.size()) tell_all();
    last_ = used_++;
    parts_[last_] = {bytes, node};
  }

 private:
  void tell_all() {
    for (std::size_t i = 0; i < used_; i++) tell_(to_, parts_[i].bytes, parts_[i].node);
    used_ = 0;
  }
  struct part {
    std::uint64_t bytes;
    int node;
  };
  std::array<part, 16> parts_;
  std::size_t used_ = 0, last_ = 0;
  void (*const tell_)(void*, std::uint64_t, int);
  void* const to_;
};

}  // namespace

regions::regions(os::memory_backend& backend, std::vector<int> os_nodes)
    : os_(backend),
      os_nodes_(std::move(os_nodes)),
      page_bits_(static_cast<unsigned>(std::bit_width(os::page_bytes()) - 1)),
      chunk_bits_(page_bits_ + static_cast<unsigned>(std::bit_width(pages_per_chunk) - 1)),
      several_nodes_(os_nodes_.size() > 1),
      pretends_(backend.pretends()),
      system_tells_(!pretends_),
      remembered_(backend) {
  if (!several_nodes_ || pretends_) return;
  const os::fork_shield shield;
  std::lock_guard guard(registry::only().mutex);
  registry::only().all.push_back(this);
}

regions::~regions() {
  if (!several_nodes_ || pretends_) return;
  const os::fork_shield shield;
  std::lock_guard guard(registry::only().mutex);
  std::erase(registry::only().all, this);
}

std::size_t regions::chunks() const {
  std::lock_guard guard(growth_);
  return chunks_.size();
}

// Null: there is no memory for it, or no such address; what lies there stays unknown.
regions::chunk* regions::make_chunk(std::uintptr_t n) noexcept {
  if (n >> (address_levels * level_bits) != 0) return nullptr;
  std::lock_guard guard(growth_);
  try {
    atomic<branch*>& b = root_[n >> (2 * level_bits)];
    if (b.load(std::memory_order_relaxed) == nullptr)
      b.store(branches_.emplace_back(std::make_unique<branch>()).get(), std::memory_order_release);
    atomic<leaf*>& l = b.load(std::memory_order_relaxed)->leaves[(n >> level_bits) % fan_out];
    if (l.load(std::memory_order_relaxed) == nullptr)
      l.store(leaves_.emplace_back(std::make_unique<leaf>()).get(), std::memory_order_release);
    atomic<chunk*>& c = l.load(std::memory_order_relaxed)->chunks[n % fan_out];
    if (c.load(std::memory_order_relaxed) == nullptr)
      c.store(chunks_.emplace_back(std::make_unique<chunk>(n)).get(), std::memory_order_release);
    remembered_.grow(chunks_.size());
    return c.load(std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void regions::chunk::set(std::size_t first, std::size_t end, state s, bool only_unplaced, outcome& out) {
  for (std::size_t page = first; page < end;) {
    const state was = at(page);
    const bool stays = was == s || (only_unplaced && was >= first_node);
    const std::size_t from = page;
    for (; page < end && at(page) == was; page++) {
      if (stays) continue;
      atomic<std::uint64_t>& word = words[page / per_word];
      const std::uint64_t others = word.load(std::memory_order_relaxed) & ~(std::uint64_t{0xffff} << shift_of(page));
      word.store(others | std::uint64_t{s} << shift_of(page), std::memory_order_relaxed);
    }
    if (stays) continue;
    out.lost |= was >= first_node;
    if (!out.uncounted) out.uncounted = !count(was, s, page - from);
  }
}

bool regions::chunk::count(state was, state is, std::size_t pages) {
  const state before = counted_as(was), now = counted_as(is);
  if (before == now) return true;
  atomic<std::uint32_t>*from = nullptr, *to = nullptr;
  for (atomic<std::uint32_t>& s : shares) {
    const std::uint32_t n = s.load(std::memory_order_relaxed);
    if (n >> 16 == 0) {
      if (to == nullptr) to = &s;
    } else if ((n & 0xffff) == before) {
      from = &s;
    } else if ((n & 0xffff) == now) {
      to = &s;
    }
  }
  if (from == nullptr || to == nullptr) return false;
  const std::uint32_t left = from->load(std::memory_order_relaxed) - share(pages, 0);
  const std::size_t there = (to->load(std::memory_order_relaxed) >> 16) + pages;
  from->store(left, std::memory_order_relaxed);
  to->store(share(there, now), std::memory_order_relaxed);
  const std::size_t placed_before = before == never_asked ? 0 : pages, placed_now = now == never_asked ? 0 : pages;
  unplaced.store(static_cast<std::uint16_t>(unplaced.load(std::memory_order_relaxed) + placed_before - placed_now),
                 std::memory_order_relaxed);
  all.store(there == pages_per_chunk ? now : mixed, std::memory_order_relaxed);
  return true;
}

void regions::chunk::count_all() {
  std::array<std::uint32_t, std::tuple_size_v<decltype(shares)>> found{};
  std::size_t used = 0, last = 0;
  std::size_t without_place = 0;
  for (std::size_t page = 0; page < pages_per_chunk; page++) {
    const state s = counted_as(at(page));
    if (s == never_asked) without_place++;
    if (used > found.size()) continue;
    if (used != 0 && (found[last] & 0xffff) != s)
      for (last = 0; last < used && (found[last] & 0xffff) != s;) last++;
    if (last == used && ++used <= found.size()) found[last] = s;
    if (used <= found.size()) found[last] += share(1, 0);
  }
  unplaced.store(static_cast<std::uint16_t>(without_place), std::memory_order_relaxed);
  for (std::size_t i = 0; i < found.size(); i++)
    shares[i].store(used <= found.size() ? found[i] : 0, std::memory_order_relaxed);
  all.store(used == 1 ? static_cast<state>(found[0] & 0xffff) : mixed, std::memory_order_relaxed);
}

template <class F>
bool regions::chunk::for_each_share(F&& f) const {
  std::array<std::uint32_t, std::tuple_size_v<decltype(shares)>> seen;
  std::size_t pages = 0;
  for (std::size_t i = 0; i < seen.size(); i++) {
    seen[i] = shares[i].load(std::memory_order_relaxed);
    pages += seen[i] >> 16;
  }
  if (pages != pages_per_chunk) return false;
  for (const std::uint32_t s : seen)
    if (s >> 16 != 0) f(s >> 16, static_cast<state>(s & 0xffff));
  return true;
}

// Chunks that lie on one node are one look each, whole chunks that lie on several one for each node; elsewhere four
// pages in a row on one node are one.
void regions::walk(std::uintptr_t first, std::uint64_t bytes, told tell, void* to) const {
  parts found(tell, to);
  if (bytes > most_bytes_known) return found.add(bytes, place_unknown);
  const std::uint64_t page_size = page_bytes();
  while (bytes != 0) {
    const chunk* const c = chunk_of(first);
    const std::uint64_t here = std::min(bytes, bytes_left_in_chunk(first));
    const state all = c == nullptr ? never_asked : c->all.load(std::memory_order_relaxed);
    const bool by_shares =
        all == mixed && here == chunk_bytes() &&
        c->for_each_share([&](std::uint64_t pages, state s) { found.add(pages * page_size, node_in(s)); });
    if (all != mixed) found.add(here, node_in(all));
    for (std::uint64_t done = 0; all == mixed && !by_shares && done < here;) {
      const std::size_t page = page_in_chunk(first + done);
      const state s = c->at(page);
      const bool whole_word = page % chunk::per_word == 0 && ((first + done) & (page_size - 1)) == 0 &&
                              c->words[page / chunk::per_word].load(std::memory_order_relaxed) == s * chunk::in_all;
      const std::uint64_t step =
          whole_word ? chunk::per_word * page_size : page_size - ((first + done) & (page_size - 1));
      found.add(std::min(step, here - done), node_in(s));
      done += step;
    }
    first += here;
    bytes -= here;
  }
}

regions::state regions::state_of(int os_node) const {
  const auto it = std::find(os_nodes_.begin(), os_nodes_.end(), os_node);
  return it == os_nodes_.end() ? absent : on(static_cast<int>(it - os_nodes_.begin()));
}

// By who holds the lock.
void regions::end_change(chunk& c, const chunk::outcome& out) {
  if (out.uncounted) c.count_all();
  if (out.lost) changes_.note_change();
}

void regions::set_all(chunk& c, std::size_t first, std::size_t end, state s, bool only_unplaced) {
  std::lock_guard guard(c.lock);
  chunk::outcome out;
  c.set(first, end, s, only_unplaced, out);
  end_change(c, out);
}

void regions::placed(std::uintptr_t first, std::uint64_t bytes, int node) {
  if (!several_nodes_) return;
  for_each_chunk(first, bytes, [&](chunk& c, std::size_t from, std::size_t to) {
    set_all(c, from, to, node < 0 ? never_asked : on(node), false);
    if (debts_of_chunk* const d = c.debts.load(std::memory_order_acquire); d != nullptr)
      for (; from < to; from++) {
        debt owed(d->words[from].load(std::memory_order_relaxed));
        owed.forget();
        d->words[from].store(owed.word(), std::memory_order_relaxed);
      }
  });
}

void regions::placed_by_system(std::uintptr_t first, std::uint64_t bytes, int os_node) {
  placed(first, bytes, node_in(state_of(os_node)));
}

void regions::forget(chunk& c) { set_all(c, 0, pages_per_chunk, never_asked, false); }

// One of each chunk's in turn; where a chunk has only a few that are known, the first one behind a random one. Returns
// how many.
std::size_t regions::choose_pages(std::span<const void*> pages, std::span<chunk*> of, std::span<state> believed) {
  std::lock_guard guard(growth_);
  std::size_t n = 0;
  for (std::size_t i = 0; i < pages.size() && !chunks_.empty(); i++) {
    chunk& c = *chunks_[next_look_++ % chunks_.size()];
    if (c.unplaced.load(std::memory_order_relaxed) == pages_per_chunk) continue;
    std::size_t page = random_.below(pages_per_chunk), tried = 0;
    while (c.at(page) < first_node && tried++ < pages_per_chunk) page = (page + 1) % pages_per_chunk;
    believed[n] = c.at(page);
    pages[n] = reinterpret_cast<const void*>((c.number << chunk_bits_) + (page << page_bits_));
    of[n++] = &c;
  }
  return n;
}

void regions::look_again() {
  if (!several_nodes_ || !system_tells_.load(std::memory_order_relaxed)) return;
  std::unique_lock alone(looking_, std::try_to_lock);
  if (!alone.owns_lock()) return;
  const std::uint64_t now = os::now_ns();
  if (now - looked_ns_ < look_interval_ns) return;
  looked_ns_ = now;
  barriers_.fetch_add(1, std::memory_order_relaxed);
  std::array<const void*, pages_looked_at> pages;
  std::array<chunk*, pages_looked_at> of;
  std::array<state, pages_looked_at> believed;
  std::array<int, pages_looked_at> nodes;
  const std::size_t n = choose_pages(pages, of, believed);
  if (n == 0 || !os_.nodes_of({pages.data(), n}, {nodes.data(), n})) return;
  for (std::size_t i = 0; i < n; i++)
    if (state_of(nodes[i]) != believed[i]) forget(*of[i]);
}

void tell_all_regions(const void* first, std::size_t bytes, int os_node) {
  const os::fork_shield shield;
  std::lock_guard guard(registry::only().mutex);
  for (regions* r : registry::only().all) r->placed_by_system(reinterpret_cast<std::uintptr_t>(first), bytes, os_node);
}

}  // namespace weir::memory
