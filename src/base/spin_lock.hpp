// A lock for sections of some tens of instructions. Spins a little, then yields, so that a preempted owner can go on.
#pragma once

#include "base/atomic.hpp"

#include <sched.h>

namespace weir {

// Waits politely for something another thread does within a few hundred cycles unless it was preempted.
class spin_wait {
 public:
  void once() {
    if (++rounds_ < spins_before_yield) cpu_pause();
    else sched_yield();
  }

 private:
  // Fewer: yields although the owner runs on another CPU. More: burns a time slice when it does not.
  static constexpr int spins_before_yield = 100;
  int rounds_ = 0;
};

class spin_lock {
 public:
  void lock() {
    spin_wait wait;
    while (word_.exchange(1, std::memory_order_acquire) != 0)
      while (word_.load(std::memory_order_relaxed) != 0) wait.once();
  }
  void unlock() { word_.store(0, std::memory_order_release); }

 private:
  atomic<std::uint32_t> word_{0};
};

}  // namespace weir
