// A worker's own queue of ready tasks: the owner pushes and pops at one end, thieves take from the other.
//
// D. Chase, Y. Lev: Dynamic circular work-stealing deque, SPAA 2005, with the memory orders derived from N. M. Le,
// A. Pop, A. Cohen, F. Zappa Nardelli: Correct and efficient work-stealing for weak memory models, PPoPP 2013.
// README.md gives the invariants, and says where the orders differ from the paper's and why.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "base/base.hpp"

namespace weir::sched {

// What a thief got: an item; or nothing, because the deque was empty or because somebody else was faster.
template <class T>
struct steal_result {
  T item{};
  bool lost_race = false;  // there was an item, another worker got it: trying again may pay
  T next{};  // a hint, not to be followed: the item behind it, or one that was there long ago
  explicit operator bool() const { return item != T{}; }
};

// T is a word: a pointer, or as small as one. T{} is never stored. One owner thread, any number of thieves. Grows
// without bound; rings it has outgrown live as long as the deque (together less memory than the current one). The
// memory is touched first by the constructing thread: construct a deque on its owner's node.
template <class T, class Atomics = real_atomics>
class deque {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*));

 public:
  // Room for `capacity` items (rounded up to a power of two, at least 2) before the first growth. A thief may take up
  // to `most_stolen` at once; if that is more than one, the owner has pop_beyond_thieves() and steal_some(), not pop().
  explicit deque(std::size_t capacity = 1024, int most_stolen = 1);
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;
  ~deque();

  // Owner only. Some 1-2 ns; growth copies the ring. Throws std::bad_alloc, the deque is then unchanged.
  void push(T item);
  // Owner only. The item pushed last, or T{} if there is none. Some 10 ns; one seq_cst store unless empty.
  T pop();
  // Owner only. The item pushed last; T{} if no more than `most_stolen` are left, which a thief may take at once.
  T pop_beyond_thieves();
  // Any thread. The item pushed first, if `wants(item)`. It may be asked about one that is gone, and about T{}.
  template <class Wants>
  steal_result<T> steal(Wants&& wants);
  steal_result<T> steal() {
    return steal([](T) { return true; });
  }
  // Any thread. The items pushed first, at most `most_stolen` and as many as `taken` has room for. Their number, or 0
  // if there are none or somebody else was faster; what lies in `taken` behind so many means nothing.
  std::size_t steal_some(std::span<T> taken);
  // Any thread. What it would be; T{} if there is none. Behind somebody else's back: one that is gone.
  T first() const;

  // Any thread. Exact for the owner; for others a moment's picture, unless a seq_cst fence stands between what they
  // learned and this call: then every push before it in that order is seen (this is what sleep.hpp needs).
  bool empty() const { return size() == 0; }
  std::size_t size() const;
  // Owner only: at most so many, without a look at the thieves' line; look_again() brings it up to date.
  std::size_t size_at_most() const { return static_cast<std::size_t>(bottom_.load(std::memory_order_relaxed) - known_top_); }
  void look_again() { known_top_ = top_.load(std::memory_order_acquire); }
  // Owner only: where the next item goes, and how many of those are left that were there when that was at `end`.
  std::int64_t end() const { return bottom_.load(std::memory_order_relaxed); }
  std::int64_t left_before(std::int64_t end) const { return end - top_.load(std::memory_order_relaxed); }
  // Owner only.
  std::size_t capacity() const { return own_ring_->mask + 1; }
  // While nobody else uses it.
  bool is_valid() const;

 private:
  template <class V>
  using atomic_of = typename Atomics::template atomic<V>;

  // Header of a block of memory; the slots follow it.
  struct alignas(alignof(std::max_align_t)) ring {
    std::size_t mask;
    ring* outgrown;  // the ring this one replaced
    atomic_of<T>* slots() { return std::launder(reinterpret_cast<atomic_of<T>*>(this + 1)); }
    atomic_of<T>& slot(std::int64_t index) { return slots()[static_cast<std::size_t>(index) & mask]; }
  };

  static ring* make_ring(std::size_t capacity, ring* outgrown);
  static void free_ring(ring* r);
  void grow(std::int64_t top, std::int64_t bottom);

  // Items have the indices top_ <= i < bottom_. Thieves' line: top_ only grows.
  alignas(cache_line_bytes) atomic_of<std::int64_t> top_{0};
  atomic_of<ring*> ring_;
  // Owner's line: bottom_ is written by the owner alone, the fields after it are seen by no one else, but for the last.
  alignas(cache_line_bytes) atomic_of<std::int64_t> bottom_{0};
  ring* own_ring_;
  std::int64_t known_top_ = 0;  // <= top_; spares push the look at the thieves' line
  const std::int64_t most_stolen_;
};

template <class T, class Atomics>
deque<T, Atomics>::deque(std::size_t capacity, int most_stolen)
    : ring_(make_ring(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity), nullptr)),
      own_ring_(ring_.load(std::memory_order_relaxed)), most_stolen_(most_stolen) {
  WEIR_ASSERT(most_stolen >= 1);
}

template <class T, class Atomics>
deque<T, Atomics>::~deque() {
  WEIR_ASSERT(is_valid());
  for (ring* r = own_ring_; r != nullptr;) {
    ring* next = r->outgrown;
    free_ring(r);
    r = next;
  }
}

template <class T, class Atomics>
[[gnu::always_inline]] inline void deque<T, Atomics>::push(T item) {
  WEIR_ASSERT(item != T{});
  const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
  if (bottom - known_top_ > static_cast<std::int64_t>(own_ring_->mask)) [[unlikely]] {
    // Acquire: a thief has read its slot before it moved top_; only then may the slot be written again.
    known_top_ = top_.load(std::memory_order_acquire);
    WEIR_ASSERT(known_top_ <= bottom);
    if (bottom - known_top_ > static_cast<std::int64_t>(own_ring_->mask)) grow(known_top_, bottom);
  }
  own_ring_->slot(bottom).store(item, std::memory_order_relaxed);
  bottom_.store(bottom + 1, std::memory_order_release);
}

template <class T, class Atomics>
[[gnu::always_inline]] inline T deque<T, Atomics>::pop() {
  WEIR_ASSERT(most_stolen_ == 1);
  std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
  if (top_.load(std::memory_order_relaxed) >= bottom) return T{};
  bottom--;
  // Claims the item before looking at top_; seq_cst keeps the two in order (see README.md, "pop against steal").
  bottom_.store(bottom, std::memory_order_seq_cst);
  std::int64_t top = top_.load(std::memory_order_seq_cst);
  WEIR_ASSERT(top <= bottom + 1);  // thieves have not taken what was not there
  if (top < bottom) [[likely]] return own_ring_->slot(bottom).load(std::memory_order_relaxed);
  // At most one item is left, and thieves may be after it: whoever moves top_ has it.
  T item{};
  if (top == bottom && top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
    item = own_ring_->slot(bottom).load(std::memory_order_relaxed);
  bottom_.store(bottom + 1, std::memory_order_relaxed);  // empty now: no thief can succeed with this value
  return item;
}

template <class T, class Atomics>
T deque<T, Atomics>::pop_beyond_thieves() {
  std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
  if (top_.load(std::memory_order_relaxed) + most_stolen_ >= bottom) return T{};
  bottom--;
  bottom_.store(bottom, std::memory_order_seq_cst);  // as in pop()
  if (top_.load(std::memory_order_seq_cst) + most_stolen_ <= bottom)
    return own_ring_->slot(bottom).load(std::memory_order_relaxed);
  bottom_.store(bottom + 1, std::memory_order_release);  // thieves may learn by this value of what is left
  return T{};
}

template <class T, class Atomics>
template <class Wants>
steal_result<T> deque<T, Atomics>::steal(Wants&& wants) {
  std::int64_t top = top_.load(std::memory_order_seq_cst);
  const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
  if (top >= bottom) return {};
  // Not older than the value of bottom_ just read, so it holds the slot of every index below that.
  ring* const r = ring_.load(std::memory_order_acquire);
  const T item = r->slot(top).load(std::memory_order_relaxed);
  if (!wants(item)) return {};
  if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
    return {T{}, true};
  WEIR_ASSERT(item != T{});
  return {item, false, r->slot(top + 1).load(std::memory_order_relaxed)};
}

template <class T, class Atomics>
std::size_t deque<T, Atomics>::steal_some(std::span<T> taken) {
  std::int64_t top = top_.load(std::memory_order_seq_cst);
  const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
  const std::int64_t n = std::min({bottom - top, most_stolen_, static_cast<std::int64_t>(taken.size())});
  if (n <= 0) return 0;
  ring* const r = ring_.load(std::memory_order_acquire);  // as in steal()
  for (std::int64_t i = 0; i < n; i++)
    taken[static_cast<std::size_t>(i)] = r->slot(top + i).load(std::memory_order_relaxed);
  if (!top_.compare_exchange_strong(top, top + n, std::memory_order_seq_cst, std::memory_order_relaxed)) return 0;
  WEIR_ASSERT(taken[0] != T{} && taken[static_cast<std::size_t>(n - 1)] != T{});
  return static_cast<std::size_t>(n);
}

template <class T, class Atomics>
T deque<T, Atomics>::first() const {
  const std::int64_t top = top_.load(std::memory_order_relaxed);
  // Acquire: unless somebody takes it meanwhile, the slot holds what was pushed there.
  if (top >= bottom_.load(std::memory_order_acquire)) return T{};
  return ring_.load(std::memory_order_acquire)->slot(top).load(std::memory_order_relaxed);
}

template <class T, class Atomics>
std::size_t deque<T, Atomics>::size() const {
  const std::int64_t top = top_.load(std::memory_order_relaxed);
  const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
  return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
}

template <class T, class Atomics>
bool deque<T, Atomics>::is_valid() const {
  const std::int64_t top = top_.load(std::memory_order_relaxed), bottom = bottom_.load(std::memory_order_relaxed);
  if (known_top_ > top || top > bottom || bottom - top > static_cast<std::int64_t>(capacity())) return false;
  if (ring_.load(std::memory_order_relaxed) != own_ring_) return false;
  for (std::int64_t i = top; i < bottom; i++)
    if (own_ring_->slot(i).load(std::memory_order_relaxed) == T{}) return false;
  return true;
}

template <class T, class Atomics>
[[gnu::noinline]] void deque<T, Atomics>::grow(std::int64_t top, std::int64_t bottom) {
  WEIR_ASSERT(static_cast<std::size_t>(bottom - top) == capacity());
  ring* bigger = make_ring(2 * (own_ring_->mask + 1), own_ring_);
  for (std::int64_t i = top; i < bottom; i++) bigger->slot(i).store(own_ring_->slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
  own_ring_ = bigger;
  ring_.store(bigger, std::memory_order_release);
}

template <class T, class Atomics>
auto deque<T, Atomics>::make_ring(std::size_t capacity, ring* outgrown) -> ring* {
  static_assert(alignof(atomic_of<T>) <= alignof(ring));
  void* memory = ::operator new(sizeof(ring) + capacity * sizeof(atomic_of<T>));
  ring* made = new (memory) ring{capacity - 1, outgrown};
  for (std::size_t i = 0; i < capacity; i++) new (static_cast<void*>(reinterpret_cast<atomic_of<T>*>(made + 1) + i)) atomic_of<T>();
  return made;
}

template <class T, class Atomics>
void deque<T, Atomics>::free_ring(ring* r) {
  std::destroy_n(r->slots(), r->mask + 1);
  r->~ring();
  ::operator delete(r);
}

}  // namespace weir::sched
