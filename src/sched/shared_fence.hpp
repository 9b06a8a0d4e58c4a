// One heavy fence for all who need one at about the same time. Each interrupts every CPU that runs a thread of this
// process, so that n workers that fall asleep together would interrupt n CPUs n times.
#pragma once

#include <cstdint>

#include "base/base.hpp"

namespace weir::sched {

// Like the grace periods of read-copy-update: a fence that began after a thread asked serves that thread, whoever passes it.
template <class Atomics = real_atomics>
class shared_fence {
 public:
  ~shared_fence() { WEIR_ASSERT(!is_under_way(turns_.load(std::memory_order_relaxed))); }

  // To be kept for passed_since(). The caller has fenced (seq_cst) after what other threads shall see.
  std::uint32_t turn() const { return turns_.load(std::memory_order_relaxed); }

  // Whether a heavy fence has begun and ended since turn() returned this; if none has and none is under way, passes one.
  // False: another thread is passing one; the caller comes again. Never blocks but for its own fence.
  bool passed_since(std::uint32_t asked) {
    std::uint32_t now = turns_.load(std::memory_order_acquire);
    WEIR_ASSERT(static_cast<std::int32_t>(now - asked) >= 0);
    if (static_cast<std::int32_t>(now - end_of_next(asked)) >= 0) return true;
    if (is_under_way(now) || !turns_.compare_exchange_strong(now, now + 1, std::memory_order_relaxed, std::memory_order_relaxed)) return false;
    Atomics::heavy_fence();
    turns_.store(now + 2, std::memory_order_release);
    return true;
  }

 private:
  static bool is_under_way(std::uint32_t turn) { return turn % 2 != 0; }
  // The end of the first fence to begin from now on; one that is under way began too early.
  static std::uint32_t end_of_next(std::uint32_t turn) { return (turn + 3) & ~std::uint32_t{1}; }

  // Counts beginnings and ends of fences, of which there is one at a time; modulo 2^32.
  typename Atomics::template atomic<std::uint32_t> turns_{0};
};

}  // namespace weir::sched
