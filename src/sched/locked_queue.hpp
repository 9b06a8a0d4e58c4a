// A queue of tasks behind a lock.
#pragma once

#include "base/base.hpp"

#include "sched/ready_task.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weir::sched {

// One bit of a word in which others see whether a queue holds anything, without a look at the queue.
struct queue_sign {
  atomic<std::uint64_t>* word = nullptr;  // null: nobody looks
  std::uint64_t bit = 0;

  // By who has the queue's lock.
  void set(bool holds_any) const {
    if (word == nullptr) return;
    if (holds_any) word->fetch_or(bit, std::memory_order_relaxed);
    else word->fetch_and(~bit, std::memory_order_relaxed);
  }
};

// First in, first out, tasks of high priority before the others, behind a lock: the central queue of `fifo`, and tasks
// that require a node.
class locked_queue {
 public:
  // Before anybody uses it.
  void show_on(queue_sign s) { sign_ = s; }
  void push(frame* f);
  frame* pop() {
    return pop([](task_hint, std::size_t) { return true; });
  }
  // The first task, if wants(its hint, how many there are).
  template <class Wants>
  frame* pop(Wants&& wants);
  bool empty() const { return size() == 0; }
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  // Of the first task, a moment ago.
  task_hint first() const { return task_hint(first_.load(std::memory_order_relaxed)); }
  // O(size).
  bool is_valid() {
    std::lock_guard guard(lock_);
    return length_of(urgent_) + length_of(normal_) == size() && first_.load(std::memory_order_relaxed) == first_hint();
  }

 private:
  struct list {
    frame* head = nullptr;
    frame* tail = nullptr;
  };
  static task_hint hint_of(const frame* f) { return f->has_no_data() ? task_hint() : task_hint(f->hint); }
  list& front() { return urgent_.head != nullptr ? urgent_ : normal_; }
  std::uint16_t first_hint() { return front().head != nullptr ? hint_of(front().head).bits() : std::uint16_t{0}; }
  void note_first() { first_.store(first_hint(), std::memory_order_relaxed); }
  // More than any size if the list does not end with its tail.
  static std::size_t length_of(const list& l) {
    std::size_t n = 0;
    const frame* last = nullptr;
    for (const frame* f = l.head; f != nullptr; last = f, f = f->next) n++;
    return last == l.tail ? n : ~std::size_t{0} / 2;
  }

  spin_lock lock_;
  list urgent_, normal_;
  atomic<std::size_t> size_{0};
  atomic<std::uint16_t> first_{0};
  queue_sign sign_;
};

template <class Wants>
frame* locked_queue::pop(Wants&& wants) {
  if (empty()) return nullptr;
  std::lock_guard guard(lock_);
  list& l = front();
  frame* f = l.head;
  WEIR_ASSERT((f == nullptr) == empty() && (f == nullptr) == (l.tail == nullptr));
  if (f == nullptr || !wants(hint_of(f), size())) return nullptr;
  l.head = f->next;
  if (l.head == nullptr) l.tail = nullptr;
  size_.store(size() - 1, std::memory_order_relaxed);
  if (empty()) sign_.set(false);
  note_first();
  return f;
}

}  // namespace weir::sched
