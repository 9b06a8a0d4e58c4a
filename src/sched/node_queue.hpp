// The container of one node under the discipline queues::nodes: all its workers push and pop, and others steal from it
// (Rossignon et al., PDSEC 2013, section VI: "an optimized structure which allows multiple operations at the same
// time").
//
// First in, first out. The front is the ring of inbox.hpp, in which pushes and pops meet only when it is empty or full;
// what does not fit waits behind a lock. Tasks of high priority have a ring of their own, and so has each rank of the
// tasks of graphs, which are priorities below 0: what has most behind it comes first, and after tasks of no graph.
//
// Not strictly in order: while tasks wait behind the lock, later ones may find a place in a ring. Nobody relies on it.
#pragma once

#include "sched/inbox.hpp"
#include "sched/locked_queue.hpp"
#include "sched/ready_task.hpp"

#include <algorithm>
#include <array>

namespace weir::sched {

class alignas(cache_line_bytes) node_queue {
 public:
  static constexpr int ranks = 16;  // priorities 0 to -15

  // A push is to be followed by a wake-up, as for an inbox: an item can be hidden behind a push that is not done.
  void push(frame* f, task_hint hint = {}) {
    if (f->priority < 0 && !has_ranks()) has_ranks_.store(true, std::memory_order_relaxed);
    if (!ring_of(f->priority).try_push(ready_task(f, hint))) rest_.push(f);
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
    if (has_ranks())
      for (ring& r : ranked_)
        if (!r.empty())
          if (const ready_task t = r.try_pop(wanted)) return t.task();
    return rest_.pop(wants);
  }
  // Whether something waits that comes before this rank.
  bool anything_before(int rank) const {
    if (!urgent_.empty() || (rank > 0 && !normal_.empty())) return true;
    return has_ranks() && std::any_of(ranked_.begin(), ranked_.begin() + std::max(rank - 1, 0), is_used);
  }
  // While nobody uses it.
  bool is_valid() {
    return normal_.is_valid() && urgent_.is_valid() && rest_.is_valid() &&
           std::ranges::all_of(ranked_, [](const ring& r) { return r.is_valid(); });
  }
  bool empty() const {
    return normal_.empty() && urgent_.empty() && rest_.empty() && (!has_ranks() || std::ranges::none_of(ranked_, is_used));
  }
  std::size_t size() const {
    std::size_t n = urgent_.size() + normal_.size() + rest_.size();
    if (has_ranks())
      for (const ring& r : ranked_) n += r.size();
    return n;
  }
  // Of the first task, a moment ago. Ranked ones have none: graphs have no data.
  task_hint first() const {
    if (const ready_task t = urgent_.first()) return t.hint();
    if (const ready_task t = normal_.first()) return t.hint();
    return rest_.first();
  }

 private:
  // More: 16 bytes each, touched one after the other. Fewer: wide graphs wait behind the lock.
  static constexpr std::size_t ring_capacity = 4096, urgent_capacity = 64;
  static constexpr std::size_t ranked_capacity = 256;
  struct ring : inbox<ready_task> {
    ring() : inbox(ranked_capacity) {}
  };
  static bool is_used(const ring& r) { return !r.empty(); }
  bool has_ranks() const { return has_ranks_.load(std::memory_order_relaxed); }
  inbox<ready_task>& ring_of(int priority) {
    if (priority > 0) return urgent_;
    return priority == 0 ? normal_ : ranked_[static_cast<std::size_t>(std::min(-priority, ranks - 1) - 1)];
  }

  inbox<ready_task> normal_{ring_capacity}, urgent_{urgent_capacity};
  std::array<ring, ranks - 1> ranked_;  // by rank - 1
  atomic<bool> has_ranks_{false};       // there has been a task with one
  locked_queue rest_;
};

}  // namespace weir::sched
