// For statistics: how long one worker ran tasks while others had none, and why.
//
// The worker that runs tasks looks, not those that are idle: it knows what it has left to others. It looks when it has
// taken a task's time anyway, and adds the time since its last look to what it sees.
#pragma once

#include "sched/counter.hpp"

#include <weir/statistics.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace weir::sched {

class beside_idle {
 public:
  // Shorter: a worker of many, all idle, spends more than some percent of its time on looking at their counts. Longer:
  // what comes and goes is seen as what it is at its end.
  static constexpr std::uint64_t interval_ns = 20'000;

  // A task has run from `begin_ns` to `end_ns`. Returns the time that a look now stands for; 0: it is too early.
  std::uint64_t due(std::uint64_t begin_ns, std::uint64_t end_ns) {
    if (looked_ns_ == 0) looked_ns_ = begin_ns;
    const std::uint64_t since = end_ns < looked_ns_ ? 0 : end_ns - looked_ns_;  // a place's threads differ in clocks
    if (since < interval_ns) return 0;
    looked_ns_ = end_ns;
    watched_ns_.add(since);
    return since;
  }
  void add(idle_reason why, bool alone, std::uint64_t ns) {
    by_reason_[static_cast<std::size_t>(why)].add(ns);
    if (alone) alone_ns_.add(ns);
  }
  // The worker has no tasks any more.
  void ends() { looked_ns_ = 0; }

  std::uint64_t watched_ns() const { return watched_ns_.read(); }
  std::uint64_t alone_ns() const { return alone_ns_.read(); }
  std::uint64_t ns(std::size_t reason) const { return by_reason_[reason].read(); }

 private:
  std::uint64_t looked_ns_ = 0;  // 0: not since it was idle
  counter watched_ns_, alone_ns_;
  std::array<counter, idle_reasons> by_reason_;
};

}  // namespace weir::sched
