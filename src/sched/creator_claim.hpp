// A thread of the program that creates tasks has its CPU for itself: there is a worker for each CPU, and one of them
// would share that one's. It sleeps between two tasks until the thread does something else.
#pragma once

#include "base/base.hpp"

#include <algorithm>
#include <cstdint>

namespace weir::sched {

// One a worker. Nothing is published by it: it only says for how long to sleep, so all accesses are relaxed.
template <class Atomics = real_atomics>
class creator_claim {
 public:
  // A claim that is not renewed for so long is over. Longer: who stops without a word has its CPU idle for longer.
  // Shorter: who creates slowly has its claim end between two tasks.
  static constexpr std::int32_t lasts_us = 1000;

  // By a thread on the worker's CPU, again and again while it creates tasks. True: there was none before.
  bool renew(std::uint64_t now_ns) { return claim_.exchange(stamp(now_ns), std::memory_order_relaxed) == none; }
  // It waits, or has come to another CPU. A system call. False: it was over already.
  bool end() {
    if (claim_.exchange(none, std::memory_order_relaxed) == none) return false;
    Atomics::wake_one(claim_);
    return true;
  }
  // By who has something that the worker alone can do: it looks again. A system call.
  void look_again() { Atomics::wake_one(claim_); }
  bool is_made() const { return claim_.load(std::memory_order_relaxed) != none; }
  // By the worker: until it is ended, or over, or there is something that nobody else can do, which it looks for
  // whenever the claim could be over. True: it was over, and the caller has ended it.
  template <class Clock, class AnythingToDo>
  bool wait_out(Clock&& now_ns, AnythingToDo&& anything_to_do) {
    for (std::uint32_t seen = claim_.load(std::memory_order_relaxed); seen != none && !anything_to_do();) {
      // A little below zero: it was renewed behind the look at the clock. Far below: half an hour ago.
      const auto age_us = static_cast<std::int32_t>(stamp(now_ns()) - seen);
      if (age_us < lasts_us && age_us > -lasts_us) {
        Atomics::wait_for(claim_, seen, static_cast<std::uint32_t>(std::min(lasts_us - age_us, lasts_us)));
        seen = claim_.load(std::memory_order_relaxed);
      } else if (claim_.compare_exchange_strong(seen, none, std::memory_order_relaxed, std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::uint32_t none = 0;
  // Odd, so that it is never `none`.
  static std::uint32_t stamp(std::uint64_t now_ns) { return static_cast<std::uint32_t>(now_ns / 1000) | 1; }

  typename Atomics::template atomic<std::uint32_t> claim_{none};
};

}  // namespace weir::sched
