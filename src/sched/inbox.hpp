// Through an inbox other workers hand tasks to a worker (or to a node): a bounded queue, many producers, many
// consumers. A full inbox refuses, and the task stays with its sender: the bound is what keeps pushing from
// flooding one worker (Drebes et al., PACT 2016, section 2.3).
//
// D. Vyukov's bounded MPMC queue: each cell carries a sequence number that says whose turn it is. README.md has the
// invariants.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/base.hpp"

namespace weir::sched {

// T is a word: a pointer, or as small as one. T{} is never stored. FIFO. No memory is allocated after construction.
template <class T, class Atomics = real_atomics>
class inbox {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*));

 public:
  // Holds `capacity` items, rounded up to a power of two, at least 2. 16 bytes each.
  explicit inbox(std::size_t capacity = 64)
      : memory_(std::make_unique<cell[]>(rounded(capacity))),
        tail_{{memory_.get(), rounded(capacity) - 1}},
        head_{{memory_.get(), rounded(capacity) - 1}} {
    for (std::size_t i = 0; i < this->capacity(); i++) memory_[i].sequence.store(i, std::memory_order_relaxed);
  }
  ~inbox() { WEIR_ASSERT(is_valid()); }
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  // Any thread. False if the inbox is full (or if the consumer of the oldest cell is not done with it yet).
  // Some 7 ns uncontended.
  bool try_push(T item) {
    WEIR_ASSERT(item != T{});
    std::uint64_t position = tail_.next.load(std::memory_order_relaxed);
    for (;;) {
      cell& c = tail_.cells.at(position);
      const std::int64_t turn = distance(sequence_to_write(c, position), position);
      if (turn < 0) return false;
      if (turn > 0) {
        position = tail_.next.load(std::memory_order_relaxed);
      } else if (tail_.next.compare_exchange_weak(position, position + 1, std::memory_order_relaxed,
                                                  std::memory_order_relaxed)) {
        c.item.store(item, std::memory_order_relaxed);
        c.sequence.store(position + 1, std::memory_order_release);
        return true;
      }
    }
  }

  // Any thread. The oldest item, if `wants(item)`, which may be asked about one that is gone; T{} if not, or if the
  // inbox is empty (or if the producer of the oldest item is not done yet).
  template <class Wants>
  T try_pop(Wants&& wants) {
    std::uint64_t position = head_.next.load(std::memory_order_relaxed);
    for (;;) {
      cell& c = head_.cells.at(position);
      const std::int64_t turn = distance(c.sequence.load(std::memory_order_acquire), position + 1);
      if (turn < 0) return T{};
      if (turn > 0) {
        position = head_.next.load(std::memory_order_relaxed);
        continue;
      }
      // Whoever else takes it moves head_ first: if that is where it was, this is the item that was there.
      const T item = c.item.load(std::memory_order_relaxed);
      if (!wants(item)) return T{};
      if (head_.next.compare_exchange_weak(position, position + 1, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
        WEIR_ASSERT(item != T{});
        c.sequence.store(position + capacity(), std::memory_order_release);
        return item;
      }
    }
  }
  T try_pop() {
    return try_pop([](T) { return true; });
  }
  // Any thread. What try_pop would take; T{} if nothing. Behind somebody else's back: one that is gone.
  T first() const {
    const std::uint64_t position = head_.next.load(std::memory_order_relaxed);
    const cell& c = head_.cells.at(position);
    if (distance(c.sequence.load(std::memory_order_acquire), position + 1) != 0) return T{};
    return c.item.load(std::memory_order_relaxed);
  }

  // Any thread. Whether try_pop would find nothing. After a seq_cst fence it knows of every push that precedes the
  // fence in that order (this is what sleep.hpp needs), unless an older item's producer is not done yet: then it is
  // that producer's turn to wake somebody.
  bool empty() const {
    const std::uint64_t position = head_.next.load(std::memory_order_relaxed);
    return distance(head_.cells.at(position).sequence.load(std::memory_order_relaxed), position + 1) < 0;
  }
  // A moment's picture; counts items whose producer is not done yet.
  std::size_t size() const {
    const std::uint64_t tail = tail_.next.load(std::memory_order_relaxed);
    const std::int64_t n = distance(tail, head_.next.load(std::memory_order_relaxed));
    return n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  std::size_t capacity() const { return head_.cells.mask + 1; }
  // While nobody uses it: each cell is full or free, for the position whose turn it is.
  bool is_valid() const {
    const std::uint64_t head = head_.next.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.next.load(std::memory_order_relaxed);
    if (tail - head > capacity()) return false;
    for (std::uint64_t p = head; p != head + capacity(); p++) {
      const cell& c = head_.cells.at(p);
      const bool is_full = distance(p, tail) < 0;
      if (c.sequence.load(std::memory_order_relaxed) != p + (is_full ? 1 : 0)) return false;
      if (is_full && c.item.load(std::memory_order_relaxed) == T{}) return false;
    }
    return true;
  }

 private:
  template <class V>
  using atomic_of = typename Atomics::template atomic<V>;

  // sequence == position: free for the push at that position; == position + 1: holds the item pushed there.
  struct cell {
    atomic_of<std::uint64_t> sequence;
    atomic_of<T> item;  // thieves look at it before they take it
  };

  // The cell's line comes from whoever has used it last. After a load there it would be asked for once more, to be
  // written.
  static std::uint64_t sequence_to_write(cell& c, std::uint64_t expected) {
    std::uint64_t seen = expected;
    c.sequence.compare_exchange_strong(seen, expected, std::memory_order_acquire, std::memory_order_relaxed);
    return seen;
  }
  static std::int64_t distance(std::uint64_t to, std::uint64_t from) { return static_cast<std::int64_t>(to - from); }

  struct ring {
    cell* first;
    std::size_t mask;
    cell& at(std::uint64_t position) const { return first[position & mask]; }
  };
  // Who pushes has a line, and who pops or looks; in both it is where the cells lie.
  struct alignas(cache_line_bytes) end {
    const ring cells;
    atomic_of<std::uint64_t> next{0};
  };
  static std::size_t rounded(std::size_t capacity) { return std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity); }

  const std::unique_ptr<cell[]> memory_;
  end tail_;  // the next push
  end head_;  // the next pop
};

}  // namespace weir::sched
