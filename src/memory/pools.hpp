// Per-node pools (Drebes et al., PACT 2016, section 3.1): free lists by size class, a cache per worker in front of
// them, chunks from the system bound to the node. Whoever holds a block knows its size and place, so blocks carry no
// header, and freeing asks nobody. src/memory/README.md explains the states of a block.
#pragma once

#include "base/base.hpp"
#include "memory/size_classes.hpp"
#include "os/os.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace weir::memory {

// Where a block is: a node's index, or one of these.
inline constexpr int place_unknown = -1;      // from the first-touch pool, not written yet
inline constexpr int place_interleaved = -2;  // pages round robin over all nodes

struct block {
  void* data = nullptr;
  int place = place_unknown;  // where its pages are
  int pool = place_unknown;   // whose it is: equal to place, but for first touch, whose blocks lie where they lie
};

// Blocks a cache takes or gives at a time: bounded in number and in bytes, so that large blocks do not pile up where
// nobody needs them.
constexpr std::uint32_t batch_size(std::size_t block_bytes) {
  constexpr std::size_t batch_bytes = 128 * 1024, most = 64;
  const std::size_t n = batch_bytes / block_bytes;
  return static_cast<std::uint32_t>(n < 1 ? 1 : n > most ? most : n);
}

inline constexpr auto full_batch = [] {
  std::array<std::uint32_t, class_count> sizes{};
  for (int c = 0; c < class_count; c++) sizes[static_cast<std::size_t>(c)] = batch_size(bytes_of_class(c));
  return sizes;
}();

class pools;

// One worker's private stock of blocks, so that the common case takes no lock. Used by one thread at a time.
class cache {
 public:
  // `home`: the place this cache mostly allocates from; blocks of other places are handed on early.
  cache(pools& owner, int home);
  ~cache();  // gives everything back
  cache(const cache&) = delete;
  cache& operator=(const cache&) = delete;

  // A block of at least `bytes` from a pool: a node's, place_interleaved, or place_unknown for first touch (the
  // result's place then says where an earlier writer put it). Throws std::bad_alloc. Some 3 ns; a lock at every
  // batch_size()th.
  block allocate(std::size_t bytes, int pool) {
    void* const b = take_at_hand(bytes, pool);
    if (b == nullptr) [[unlikely]] return allocate_elsewhere(bytes, pool);
    if (counted_) count(home_, *home_uncounted_, static_cast<std::int64_t>(bytes));
    return {b, pool, pool};
  }
  // As allocate(), of a cache that does not count, and null where that would have to look further. Calls nothing.
  void* allocate_at_hand(std::size_t bytes, int pool) noexcept {
    WEIR_ASSERT(!counted_);
    return take_at_hand(bytes, pool);
  }
  // `bytes` as asked for. Into any thread's cache; the block goes back to its pool.
  [[gnu::always_inline]] void release(block b, std::size_t bytes) noexcept {
    if (const int c = kept_class(bytes); b.pool == home_place_ && c >= 0) [[likely]] {
      stock& s = home_stocks_[static_cast<std::size_t>(c)];
      WEIR_ASSERT(b.data != nullptr && b.data != s.head);
      if (s.count + 1 < s.full) [[likely]] {
        auto* f = static_cast<free_block*>(b.data);
        f->next = s.head;
        s.head = f;
        s.count++;
        if (counted_) count(home_, *home_uncounted_, -static_cast<std::int64_t>(bytes));
        return;
      }
    }
    release_elsewhere(b.data, b.place, b.pool, bytes);
  }
  // Its thread is somewhere else now. If there is no memory for that, it stays at home where it was.
  void move_home(int home) noexcept;
  // Counting with limited precision: what this cache has not reported yet.
  void flush_counts() noexcept;
  // By who uses it. O(blocks that it keeps).
  bool is_valid() const;

 private:
  friend class pools;
  // A block that will be allocated soon: its lines may be in the caches of another worker, who used it last.
  static void prefetch_block(const void* block, std::size_t bytes) {
    prefetch_to_write(block);
    if (bytes > 64) prefetch_to_write(static_cast<const char*>(block) + 64);
    if (bytes > 128) prefetch_to_write(static_cast<const char*>(block) + 128);
  }
  struct free_block {
    free_block* next;
    std::uint64_t not_used;   // who walks all frames may still look at what lies here in one that has just been freed
    free_block* next_batch;   // of a batch's first block, in the central list
    const free_block* ahead;  // in a batch: what to prefetch when this one is allocated, or null; else not used
    std::uint32_t batch_size;
    std::int32_t place;  // first-touch pool: where an earlier writer put it
  };
  // More: lines wait in the cache until they are used, or are gone again. Fewer: who allocates waits for them.
  static constexpr int blocks_ahead = 4;
  static void link_ahead(free_block* head);
  struct stock {
    free_block* head = nullptr;    // in use
    free_block* batch = nullptr;   // the rest of one that came from another cache, for when there are no others
    free_block* spare = nullptr;   // one full batch
    char* fresh = nullptr;         // never used yet
    char* fresh_end = nullptr;
    std::uint32_t count = 0;       // blocks in head
    std::uint32_t in_batch = 0;
    std::uint32_t full = 0;        // of which it may have fewer than so many
  };
  using stocks = std::array<stock, class_count>;
  static std::size_t length_of(const free_block*, std::size_t most);
  static bool is_valid(const stock&, std::size_t block_bytes);

  // Of blocks that caches keep; -1: too large for that. Most are small, and for these it is one comparison.
  [[gnu::always_inline]] static int kept_class(std::size_t bytes) {
    const std::size_t last = bytes - 1;
    if (last < fine_limit_bytes) [[likely]] return static_cast<int>(last / smallest_block_bytes);
    return bytes <= largest_block_bytes ? class_of(bytes) : -1;
  }
  [[gnu::always_inline]] void* take_at_hand(std::size_t bytes, int pool) noexcept {
    const int c = kept_class(bytes);
    if (pool != home_place_ || c < 0) [[unlikely]] return nullptr;
    stock& s = home_stocks_[static_cast<std::size_t>(c)];
    free_block* const b = s.head;
    WEIR_ASSERT((b == nullptr) == (s.count == 0));
    if (b == nullptr) [[unlikely]] return take_of_batch(s, bytes);
    s.head = b->next;
    s.count--;
    return b;
  }
  // Null if there is none.
  [[gnu::always_inline]] static free_block* take_of_batch(stock& s, std::size_t bytes) noexcept {
    free_block* const b = s.batch;
    if (b == nullptr) return nullptr;
    s.batch = b->next;
    s.in_batch--;
    if (b->ahead != nullptr) prefetch_block(b->ahead, bytes);
    return b;
  }
  stocks& stocks_of(int pool) {
    if (!stocks_[static_cast<std::size_t>(pool)]) make_stocks(pool);
    return *stocks_[static_cast<std::size_t>(pool)];
  }
  void make_stocks(int pool);
  stocks* stocks_if_any(int pool) noexcept;
  block refill(int pool, int size_class, stock&);
  void hand_on(int pool, int size_class, free_block* head, std::uint32_t count) noexcept;
  void give_back(int pool, int size_class, stock&) noexcept;
  block allocate_elsewhere(std::size_t bytes, int pool);
  void release_elsewhere(void* data, int place, int pool, std::size_t bytes) noexcept;
  void report(int pool) noexcept;
  void count(int pool, std::int64_t& uncounted, std::int64_t bytes) noexcept;

  pools& pools_;
  int home_place_;
  int home_;  // index of its pool
  const bool counted_;
  stock* home_stocks_;
  std::vector<std::unique_ptr<stocks>> stocks_;  // by pool
  std::vector<std::int64_t> uncounted_;          // bytes allocated minus released, by pool
  std::int64_t* home_uncounted_;
};

// What placement could not be had.
struct losses {
  bool bind_refused = false;        // mbind refused: pages are placed by touching them
  bool interleave_refused = false;
};

class pools {
 public:
  // `os_nodes[i]` is the system's number of node i. `counted`: keep usage and peak (buffers do, frames do not).
  pools(os::memory_backend&, std::vector<int> os_nodes, bool counted);
  ~pools();
  pools(const pools&) = delete;
  pools& operator=(const pools&) = delete;

  int node_count() const { return static_cast<int>(os_nodes_.size()); }
  // Bytes asked for and not released; exact to count_precision_bytes per cache.
  std::int64_t live_bytes() const;
  std::int64_t live_bytes(int place) const;
  std::int64_t peak_bytes() const;
  std::int64_t peak_bytes(int node) const;
  void reset_peaks();
  losses lost() const;
  // Gets a node's first memory from the system now, so that its first tasks need not wait for it.
  void warm_up(int node);
  // While no cache is left: sums are those of their parts; and whether each block has come back.
  bool is_valid() const;
  bool nothing_is_in_use() const;
  int node_of(const void* p) const;  // index of the node this page is on, or place_unknown; a system call

  // Calls f(first byte, bytes handed out, block bytes) for every chunk that was cut into blocks; f must not allocate.
  template <class F> void for_each_chunk(F&& f) const {
    for (const central& c : central_) {
      std::lock_guard guard(c.lock);
      for (const chunk* k = c.chunks; k != nullptr; k = k->next) f(k->data, k->used, k->block_bytes);
    }
  }

  // A cache reports its counts when they have moved by this much. Larger: coarser peaks. Smaller: more shared writes.
  static constexpr std::int64_t count_precision_bytes = 64 * 1024;

 private:
  friend class cache;
  struct chunk {
    char* data;
    std::size_t bytes;
    std::size_t used;  // handed out so far
    std::size_t block_bytes;
    chunk* next;       // made before this one
  };
  struct shelf {  // one size class
    cache::free_block* batches = nullptr;
    chunk* open = nullptr;
  };
  struct extent {
    char* data;
    std::size_t bytes;
    std::size_t used;  // cut into chunks so far
    extent* next;      // mapped before this one
  };
  struct alignas(cache_line_bytes) central {
    mutable spin_lock lock;
    std::array<shelf, class_count> shelves;
    chunk* chunks = nullptr;    // all; the newest first
    extent* extents = nullptr;  // likewise: chunks are cut from the first one. Whoever grows the pool may look at them
    std::mutex growth;          // who gets memory from the system holds it: one at a time, and not `lock`
  };
  struct alignas(cache_line_bytes) usage {
    atomic<std::int64_t> live{0};
    atomic<std::int64_t> peak{0};
  };

  int pool_of(int place) const { return place >= 0 ? place : node_count() + (place == place_interleaved ? 0 : 1); }
  std::size_t pool_count() const { return os_nodes_.size() + 2; }
  cache::free_block* take_batch(int pool, int size_class);
  void put_batch(int pool, int size_class, cache::free_block* head, std::uint32_t count) noexcept;
  void carve(int pool, int size_class, char*& begin, char*& end);
  static bool holds(const central&, const void* block, std::size_t block_bytes);
  static bool cut(shelf&, std::size_t block_bytes, char*& begin, char*& end);
  void open_chunk(int pool, shelf&, std::size_t block_bytes);
  char* new_chunk(int pool, std::size_t bytes);
  char* new_extent(int pool, std::size_t bytes);
  void* allocate_large(int pool, std::size_t bytes);
  void release_large(int pool, void* p, std::size_t bytes) noexcept;
  void add(int pool, std::int64_t bytes) noexcept;

  os::memory_backend& os_;
  std::vector<int> os_nodes_;
  bool counted_;
  std::vector<central> central_;  // by pool
  std::vector<usage> usage_;      // by pool, then the total
  atomic<bool> bind_refused_{false}, interleave_refused_{false};
};

inline void cache::count(int pool, std::int64_t& uncounted, std::int64_t bytes) noexcept {
  uncounted += bytes;
  if (uncounted >= pools::count_precision_bytes || uncounted <= -pools::count_precision_bytes) [[unlikely]] report(pool);
}

}  // namespace weir::memory
