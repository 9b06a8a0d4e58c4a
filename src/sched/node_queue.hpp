// The container of one node under the discipline queues::nodes: all its workers push and pop, and others steal from it
// (Rossignon et al., PDSEC 2013, section VI: "an optimized structure which allows multiple operations at the same
// time").
//
// First in, first out. The front is the ring of inbox.hpp, in which pushes and pops meet only when it is empty or full;
// what does not fit waits behind a lock. Tasks of high priority have a ring of their own.
//
// Not strictly in order: while tasks wait behind the lock, later ones may find a place in the ring. Nobody relies on it.
#pragma once

#include "sched/inbox.hpp"
#include "sched/locked_queue.hpp"
#include "sched/ready_task.hpp"

namespace weir::sched {

class alignas(cache_line_bytes) node_queue {
 public:
  // A push is to be followed by a wake-up, as for an inbox: an item can be hidden behind a push that is not done.
  void push(frame* f, task_hint hint = {}) {
    if (!(f->priority > 0 ? urgent_ : normal_).try_push(ready_task(f, hint))) rest_.push(f);
  }
  frame* pop() {
    return pop([](task_hint, std::size_t) { return true; });
  }
  // The first task, if wants(its hint, how many there are, more or less).
  template <class Wants>
  frame* pop(Wants&& wants) {
    const auto wanted = [&](ready_task t) { return wants(t.hint(), size()); };
    if (!urgent_.empty())
      if (const ready_task t = urgent_.try_pop(wanted)) return t.task();
    if (!normal_.empty())
      if (const ready_task t = normal_.try_pop(wanted)) return t.task();
    return rest_.pop(wants);
  }
  // While nobody uses it.
  bool is_valid() { return normal_.is_valid() && urgent_.is_valid() && rest_.is_valid(); }
  bool empty() const { return normal_.empty() && urgent_.empty() && rest_.empty(); }
  std::size_t size() const { return urgent_.size() + normal_.size() + rest_.size(); }
  // Of the first task, a moment ago.
  task_hint first() const {
    if (const ready_task t = urgent_.first()) return t.hint();
    if (const ready_task t = normal_.first()) return t.hint();
    return rest_.first();
  }

 private:
  // More: 16 bytes each, touched one after the other. Fewer: wide graphs wait behind the lock.
  static constexpr std::size_t ring_capacity = 4096, urgent_capacity = 64;
  inbox<ready_task> normal_{ring_capacity}, urgent_{urgent_capacity};
  locked_queue rest_;
};

}  // namespace weir::sched
