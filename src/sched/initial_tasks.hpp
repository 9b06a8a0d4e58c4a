// Tasks of a node that decide where data will be.
#pragma once

#include "sched/locked_queue.hpp"

#include <cstddef>
#include <utility>

namespace weir::sched {

// Those of a plan that write memory of the program's own for the first time, and then all others, which also hold what
// a plan sends there beside. The first ones come before what has become ready meanwhile: there are at most as many as a
// window has, their memory is the program's, and other nodes wait for it. The others come after that: each gets memory
// when it runs, and were all of them to run before those that use it, all of it would be needed at once.
class initial_tasks {
 public:
  void push_first(frame* f) { first_.push(f); }
  void push(frame* f) { others_.push(f); }
  frame* pop_first() { return first_.pop(); }
  frame* pop() {
    return pop([](task_hint, std::size_t) { return true; });
  }
  // As locked_queue has it.
  template <class Wants>
  frame* pop(Wants&& wants) {
    frame* const f = first_.pop(wants);
    return f != nullptr ? f : others_.pop(std::forward<Wants>(wants));
  }
  bool empty() const { return first_.empty() && others_.empty(); }
  std::size_t size() const { return first_.size() + others_.size(); }
  task_hint first() const { return first_.empty() ? others_.first() : first_.first(); }
  bool is_valid() { return first_.is_valid() && others_.is_valid(); }

 private:
  locked_queue first_, others_;
};

}  // namespace weir::sched
