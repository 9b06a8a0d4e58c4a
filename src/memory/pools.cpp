// The central, locked half of the pools: chunks from the system and batches of free blocks.
#include "memory/pools.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace weir::memory {
namespace {

// What a size class gets at a time. Smaller: more often under the lock. Larger: wasted in classes that are hardly used.
constexpr std::size_t first_chunk_bytes = std::size_t{256} << 10;
constexpr std::size_t chunk_bytes = std::size_t{2} << 20;

// What a pool gets from the system at a time, doubled each time. The system's locks are shared by all threads, so calls
// should be few: with one for each chunk, the nodes of a large machine stand in line when a program begins. Address
// space only: pages come when they are touched, as huge pages where the system has some.
constexpr std::size_t first_extent_bytes = std::size_t{4} << 20, largest_extent_bytes = std::size_t{64} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + os::page_bytes() - 1) & ~(os::page_bytes() - 1); }

void touch_pages(char* p, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += os::page_bytes()) const_cast<volatile char*>(p)[i] = 0;
}

void raise(atomic<std::int64_t>& peak, std::int64_t value) {
  std::int64_t seen = peak.load(std::memory_order_relaxed);
  while (value > seen && !peak.compare_exchange_weak(seen, value, std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
}

}  // namespace

pools::pools(os::memory_backend& backend, std::vector<int> os_nodes, bool counted)
    : os_(backend), os_nodes_(std::move(os_nodes)), counted_(counted), central_(pool_count()), usage_(pool_count() + 1) {}

pools::~pools() {
  WEIR_ASSERT(is_valid());
  for (central& c : central_) {
    while (c.chunks != nullptr) delete std::exchange(c.chunks, c.chunks->next);
    while (c.extents != nullptr) {
      const std::unique_ptr<extent> last(std::exchange(c.extents, c.extents->next));
      os_.unmap(last->data, last->bytes);
    }
  }
}

cache::free_block* pools::take_batch(int pool, int size_class) {
  central& c = central_[static_cast<std::size_t>(pool)];
  std::lock_guard guard(c.lock);
  shelf& s = c.shelves[static_cast<std::size_t>(size_class)];
  cache::free_block* head = s.batches;
  if (head != nullptr) s.batches = head->next_batch;
  return head;
}

void pools::put_batch(int pool, int size_class, cache::free_block* head, std::uint32_t count) noexcept {
  if (head == nullptr) return;
  central& c = central_[static_cast<std::size_t>(pool)];
  head->batch_size = count;
  std::lock_guard guard(c.lock);
  WEIR_ASSERT(cache::length_of(head, count) == count && holds(c, head, bytes_of_class(size_class)));
  shelf& s = c.shelves[static_cast<std::size_t>(size_class)];
  head->next_batch = s.batches;
  s.batches = head;
}

// A run of blocks nobody has touched yet. Nothing is written to them: the pages stay unplaced until a task writes.
void pools::carve(int pool, int size_class, char*& begin, char*& end) {
  const std::size_t block_bytes = bytes_of_class(size_class);
  central& c = central_[static_cast<std::size_t>(pool)];
  shelf& s = c.shelves[static_cast<std::size_t>(size_class)];
  const auto cut_one = [&] {
    std::lock_guard guard(c.lock);
    return cut(s, block_bytes, begin, end);
  };
  if (cut_one()) return;
  std::lock_guard alone(c.growth);
  while (!cut_one()) open_chunk(pool, s, block_bytes);  // perhaps somebody else has done it meanwhile
}

// The pool is locked. Whether the block was cut from one of its chunks.
bool pools::holds(const central& c, const void* block, std::size_t block_bytes) {
  const auto* const b = static_cast<const char*>(block);
  for (const chunk* k = c.chunks; k != nullptr; k = k->next)
    if (b >= k->data && b < k->data + k->used)
      return k->block_bytes == block_bytes && static_cast<std::size_t>(b - k->data) % block_bytes == 0;
  return false;
}

bool pools::is_valid() const {
  std::int64_t live = 0;
  for (std::size_t pool = 0; pool < pool_count(); pool++) live += usage_[pool].live.load(std::memory_order_relaxed);
  if (live != live_bytes() || live < 0) return false;
  for (const central& c : central_) {
    std::size_t in_chunks = 0, in_extents = 0;
    for (const chunk* k = c.chunks; k != nullptr; in_chunks += whole_pages(k->bytes), k = k->next)
      if (k->used > k->bytes || k->used % k->block_bytes != 0) return false;
    for (const extent* e = c.extents; e != nullptr; in_extents += e->used, e = e->next)
      if (e->used > e->bytes) return false;
    if (in_chunks != in_extents) return false;
  }
  return true;
}

bool pools::nothing_is_in_use() const {
  if (live_bytes() != 0) return false;
  std::size_t used = 0, free = 0;
  for (const central& c : central_) {
    for (const chunk* k = c.chunks; k != nullptr; k = k->next) used += k->used;
    for (std::size_t i = 0; i < c.shelves.size(); i++)
      for (const cache::free_block* b = c.shelves[i].batches; b != nullptr; b = b->next_batch)
        free += b->batch_size * bytes_of_class(static_cast<int>(i));
  }
  return used == free;
}

// The pool is locked. False: the open chunk has no block left.
bool pools::cut(shelf& s, std::size_t block_bytes, char*& begin, char*& end) {
  if (s.open == nullptr || s.open->used + block_bytes > s.open->bytes) return false;
  chunk& k = *s.open;
  const std::size_t n = std::min<std::size_t>(batch_size(block_bytes), (k.bytes - k.used) / block_bytes);
  begin = k.data + k.used;
  end = begin + n * block_bytes;
  k.used += n * block_bytes;
  return true;
}

// The caller grows the pool; nobody else opens a chunk. The last one is used up.
void pools::open_chunk(int pool, shelf& s, std::size_t block_bytes) {
  central& c = central_[static_cast<std::size_t>(pool)];
  const std::size_t wanted = std::max(block_bytes, s.open == nullptr ? first_chunk_bytes : chunk_bytes);
  auto made = std::make_unique<chunk>(chunk{nullptr, wanted, 0, block_bytes, nullptr});
  made->data = new_chunk(pool, wanted);
  std::lock_guard guard(c.lock);
  made->next = c.chunks;
  s.open = c.chunks = made.release();
}

// The caller grows the pool.
char* pools::new_chunk(int pool, std::size_t bytes) {
  bytes = whole_pages(bytes);
  central& c = central_[static_cast<std::size_t>(pool)];
  if (c.extents == nullptr || c.extents->used + bytes > c.extents->bytes) {
    const std::size_t next =
        c.extents == nullptr ? first_extent_bytes : std::min(2 * c.extents->bytes, largest_extent_bytes);
    auto made = std::make_unique<extent>(extent{nullptr, std::max(next, bytes), 0, c.extents});
    made->data = new_extent(pool, made->bytes);
    if (made->data == nullptr) made->data = new_extent(pool, made->bytes = bytes);  // address space may be limited
    if (made->data == nullptr) throw std::bad_alloc();
    c.extents = made.release();
  }
  extent& e = *c.extents;
  char* p = e.data + e.used;
  e.used += bytes;
  // First touch is all there is: a worker refills from its own node, so touching now puts the pages there.
  if (pool < node_count() && bind_refused_.load(std::memory_order_relaxed)) touch_pages(p, bytes);
  return p;
}

char* pools::new_extent(int pool, std::size_t bytes) {
  const std::size_t alignment = bytes >= chunk_bytes ? chunk_bytes : os::page_bytes();
  auto* p = static_cast<char*>(os_.map(whole_pages(bytes), alignment));
  if (p == nullptr) return nullptr;
  // Interleaving and first touch place page by page: a huge page would put all its blocks on one node.
  const bool by_page = pool >= node_count() && node_count() > 1;
  if (alignment == chunk_bytes || by_page) madvise(p, bytes, by_page ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
  if (node_count() < 2) return p;
  if (pool < node_count()) {
    if (!os_.prefer_node(p, bytes, os_nodes_[static_cast<std::size_t>(pool)])) bind_refused_.store(true, std::memory_order_relaxed);
  } else if (pool == pool_of(place_interleaved) && !os_.interleave(p, bytes, os_nodes_)) {
    interleave_refused_.store(true, std::memory_order_relaxed);
  }
  return p;
}

void pools::warm_up(int node) {
  central& c = central_[static_cast<std::size_t>(pool_of(node))];
  std::lock_guard alone(c.growth);
  if (c.extents != nullptr) return;
  auto made = std::make_unique<extent>(extent{nullptr, first_extent_bytes, 0, nullptr});
  made->data = new_extent(pool_of(node), made->bytes);
  if (made->data == nullptr) return;  // whoever needs memory will be told
  touch_pages(made->data, 1);
  c.extents = made.release();
}

void* pools::allocate_large(int pool, std::size_t bytes) {
  char* p = new_extent(pool, bytes);
  if (p == nullptr) throw std::bad_alloc();
  if (pool < node_count() && bind_refused_.load(std::memory_order_relaxed)) touch_pages(p, bytes);
  return p;
}

void pools::release_large(int, void* p, std::size_t bytes) noexcept { os_.unmap(p, whole_pages(bytes)); }

void pools::add(int pool, std::int64_t bytes) noexcept {
  const auto charge = [bytes](usage& u) { raise(u.peak, u.live.fetch_add(bytes, std::memory_order_relaxed) + bytes); };
  charge(usage_[static_cast<std::size_t>(pool)]);
  charge(usage_.back());
}

std::int64_t pools::live_bytes() const { return usage_.back().live.load(std::memory_order_relaxed); }
std::int64_t pools::live_bytes(int place) const { return usage_[static_cast<std::size_t>(pool_of(place))].live.load(std::memory_order_relaxed); }
std::int64_t pools::peak_bytes() const { return usage_.back().peak.load(std::memory_order_relaxed); }
std::int64_t pools::peak_bytes(int node) const { return usage_[static_cast<std::size_t>(pool_of(node))].peak.load(std::memory_order_relaxed); }

void pools::reset_peaks() {
  for (usage& u : usage_) u.peak.store(u.live.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

losses pools::lost() const { return {bind_refused_.load(std::memory_order_relaxed), interleave_refused_.load(std::memory_order_relaxed)}; }

int pools::node_of(const void* p) const {
  const int os_node = os_.node_of(p);
  const auto it = std::find(os_nodes_.begin(), os_nodes_.end(), os_node);
  return it == os_nodes_.end() ? place_unknown : static_cast<int>(it - os_nodes_.begin());
}

}  // namespace weir::memory
