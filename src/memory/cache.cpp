// A worker's private stock of blocks: the lock-free half of the pools. Only its owner uses it.
#include "memory/pools.hpp"

#include <new>
#include <utility>

namespace weir::memory {

cache::cache(pools& owner, int home)
    : pools_(owner), home_place_(home), home_(owner.pool_of(home)), counted_(owner.counted_), stocks_(owner.pool_count()), uncounted_(owner.pool_count(), 0), home_uncounted_(&uncounted_[static_cast<std::size_t>(home_)]) {
  home_stocks_ = stocks_of(home_).data();
}

cache::~cache() {
  WEIR_ASSERT(is_valid());
  flush_counts();
  for (std::size_t pool = 0; pool < stocks_.size(); pool++) {
    if (!stocks_[pool]) continue;
    for (int c = 0; c < class_count; c++) {
      stock& s = (*stocks_[pool])[static_cast<std::size_t>(c)];
      // What was never touched becomes ordinary free blocks; one cache ends at most once per thread.
      while (s.fresh != s.fresh_end) {
        auto* b = reinterpret_cast<free_block*>(s.fresh);
        s.fresh += bytes_of_class(c);
        b->place = place_unknown;
        b->next = s.head;
        s.head = b;
        s.count++;
      }
      give_back(static_cast<int>(pool), c, s);
    }
  }
}

// As far as `most`, for a list may be a circle.
std::size_t cache::length_of(const free_block* b, std::size_t most) {
  std::size_t n = 0;
  for (; b != nullptr && n <= most; b = b->next) n++;
  return n;
}

// Of a batch that another thread may get, in which each block's lines must come from here before the next one is known:
// allocated one after the other they would come one after the other.
void cache::link_ahead(free_block* head) {
  const free_block* further = head;
  for (int i = 0; i < blocks_ahead && further != nullptr; i++) further = further->next;
  for (free_block* b = head; b != nullptr; b = b->next) {
    b->ahead = further;
    if (further != nullptr) further = further->next;
  }
}

// To whoever needs blocks of the pool.
void cache::hand_on(int pool, int size_class, free_block* head, std::uint32_t count) noexcept {
  if (head == nullptr) return;
  link_ahead(head);
  pools_.put_batch(pool, size_class, head, count);
}

bool cache::is_valid(const stock& s, std::size_t block_bytes) {
  if (length_of(s.head, s.count) != s.count || length_of(s.batch, s.in_batch) != s.in_batch) return false;
  if (s.spare != nullptr && length_of(s.spare, s.spare->batch_size) != s.spare->batch_size) return false;
  return s.fresh <= s.fresh_end && static_cast<std::size_t>(s.fresh_end - s.fresh) % block_bytes == 0;
}

bool cache::is_valid() const {
  for (const auto& its : stocks_)
    for (int c = 0; its && c < class_count; c++)
      if (!is_valid((*its)[static_cast<std::size_t>(c)], bytes_of_class(c))) return false;
  return true;
}

void cache::make_stocks(int pool) {
  auto made = std::make_unique<stocks>();
  for (std::size_t c = 0; c < made->size(); c++) (*made)[c].full = full_batch[c];
  stocks_[static_cast<std::size_t>(pool)] = std::move(made);
}

// What it kept there is of use to who is there.
void cache::move_home(int home) noexcept {
  stocks* const there = home == home_place_ ? nullptr : stocks_if_any(pools_.pool_of(home));
  if (there == nullptr) return;
  for (int c = 0; c < class_count; c++) give_back(home_, c, home_stocks_[static_cast<std::size_t>(c)]);
  home_place_ = home;
  home_ = pools_.pool_of(home);
  home_stocks_ = there->data();
  home_uncounted_ = &uncounted_[static_cast<std::size_t>(home_)];
}

// All but what was never used yet.
void cache::give_back(int pool, int size_class, stock& s) noexcept {
  hand_on(pool, size_class, std::exchange(s.head, nullptr), std::exchange(s.count, 0));
  hand_on(pool, size_class, std::exchange(s.batch, nullptr), std::exchange(s.in_batch, 0));
  if (s.spare == nullptr) return;
  pools_.put_batch(pool, size_class, s.spare, s.spare->batch_size);
  s.spare = nullptr;
}

// For a release, which cannot fail: null if there are none yet, and no memory for them.
cache::stocks* cache::stocks_if_any(int pool) noexcept {
  try {
    return &stocks_of(pool);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

block cache::allocate_elsewhere(std::size_t bytes, int pool) {
  const int p = pools_.pool_of(pool);
  block result;
  if (bytes > largest_block_bytes) {
    result = {pools_.allocate_large(p, bytes), pool, pool};
  } else {
    const int c = class_of(bytes);
    stock& s = stocks_of(p)[static_cast<std::size_t>(c)];
    if (free_block* b = s.head; b != nullptr) {
      s.head = b->next;
      s.count--;
      result = {b, b->place, pool};
    } else if (free_block* const of_batch = take_of_batch(s, bytes); of_batch != nullptr) {
      result = {of_batch, of_batch->place, pool};
    } else {
      result = refill(p, c, s);
      result.pool = pool;
    }
    if (pool != place_unknown) result.place = pool;
  }
  if (counted_) count(p, uncounted_[static_cast<std::size_t>(p)], static_cast<std::int64_t>(bytes));  // last: what was refused does not count
  return result;
}

block cache::refill(int pool, int size_class, stock& s) {
  if (free_block* const spare = std::exchange(s.spare, nullptr); spare != nullptr) {
    s.head = spare->next;
    s.count = spare->batch_size - 1;
    return {spare, spare->place, place_unknown};
  }
  if (free_block* const batch = pools_.take_batch(pool, size_class); batch != nullptr) {
    s.batch = batch->next;
    s.in_batch = batch->batch_size - 1;
    for (const free_block* const b : {static_cast<const free_block*>(batch->next), batch->ahead})
      if (b != nullptr) prefetch_block(b, bytes_of_class(size_class));
    return {batch, batch->place, place_unknown};
  }
  if (s.fresh == s.fresh_end) pools_.carve(pool, size_class, s.fresh, s.fresh_end);
  char* p = s.fresh;
  s.fresh += bytes_of_class(size_class);
  return {p, place_unknown, place_unknown};
}

void cache::release_elsewhere(void* data, int place, int pool, std::size_t bytes) noexcept {
  const int p = pools_.pool_of(pool);
  if (counted_) count(p, uncounted_[static_cast<std::size_t>(p)], -static_cast<std::int64_t>(bytes));
  if (bytes > largest_block_bytes) {
    pools_.release_large(p, data, bytes);
    return;
  }
  const int c = class_of(bytes);
  WEIR_ASSERT(data != nullptr);
  auto* f = static_cast<free_block*>(data);
  f->place = place;
  stocks* const its = stocks_if_any(p);
  if (its == nullptr) {
    f->next = nullptr;
    hand_on(p, c, f, 1);
    return;
  }
  stock& s = (*its)[static_cast<std::size_t>(c)];
  WEIR_ASSERT(f != s.head);
  f->next = s.head;
  s.head = f;
  s.count++;
  // Blocks of other nodes are wanted there: they go home in small batches instead of waiting for two full ones.
  if (p != home_) {
    if (s.count * 8 >= s.full) {
      hand_on(p, c, std::exchange(s.head, nullptr), std::exchange(s.count, 0));
      hand_on(p, c, std::exchange(s.batch, nullptr), std::exchange(s.in_batch, 0));
    }
  } else if (s.count >= s.full) {
    if (s.spare != nullptr) pools_.put_batch(p, c, s.spare, s.spare->batch_size);
    s.spare = s.head;
    s.spare->batch_size = s.count;
    link_ahead(s.spare);  // while its lines are in this thread's cache
    s.head = nullptr;
    s.count = 0;
  }
}

void cache::report(int pool) noexcept {
  std::int64_t& n = uncounted_[static_cast<std::size_t>(pool)];
  if (n != 0 && counted_) pools_.add(pool, n);
  n = 0;
}

void cache::flush_counts() noexcept {
  for (std::size_t pool = 0; pool < uncounted_.size(); pool++) report(static_cast<int>(pool));
}

}  // namespace weir::memory
