// A queue of tasks behind a lock.
#pragma once

#include "base/base.hpp"

#include <weir/detail/frame.hpp>

#include <cstddef>

namespace weir::sched {

using detail::frame;

// First in, first out, tasks of high priority before the others, behind a lock: the central queue of `fifo`, and tasks
// that require a node.
class locked_queue {
 public:
  void push(frame* f);
  frame* pop();
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }

 private:
  struct list {
    frame* head = nullptr;
    frame* tail = nullptr;
  };
  spin_lock lock_;
  list urgent_, normal_;
  atomic<std::size_t> size_{0};
};

}  // namespace weir::sched
