// A memory controller: one line after the other, each for its service time. Who comes while it is busy waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weir::emulator {

// Times in picoseconds. Requests come from all CPUs, in no order within the quantum of their clocks.
class alignas(64) controller {
 public:
  // Takes a request made at `now`; returns how long it waits before it is served. A request may be served up to a
  // quantum in the past, where a CPU that was behind would have found the controller free.
  std::uint64_t serve(std::uint64_t now, std::uint64_t service_ps, std::uint64_t quantum_ps) {
    std::uint64_t free = free_ps_.load(std::memory_order_relaxed), start = 0;
    do start = std::max(free, now > quantum_ps ? now - quantum_ps : 0);
    while (!free_ps_.compare_exchange_weak(free, start + service_ps, std::memory_order_relaxed));
    return start > now ? start - now : 0;
  }

  // Nothing is left of what was before `now`.
  void reset(std::uint64_t now) { free_ps_.store(now, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> free_ps_{0};
};

}  // namespace weir::emulator
