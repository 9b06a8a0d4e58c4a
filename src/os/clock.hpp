// Time for statistics, back-off and traces. Monotonic. In a guest of weir emulate it is the model's, of the CPU that
// the caller runs on: a thread never sees it go backwards, two threads may see times up to 20 us apart.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace weir::os {

std::uint64_t now_ns();

// The cheapest clock there is, in ticks of its own, with their length. On x86-64 the time stamp counter where the system
// itself trusts it to be the same on all CPUs (some 8 ns a look), on ARMv8 the virtual counter, else now_ns() (20 ns and up).
// Used by any thread; synchronize() by one.
class tick_clock {
 public:
  tick_clock();
  std::uint64_t now() const {
#if defined(__x86_64__)
    if (hardware_) return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    return now_ns();
  }
  // Measures how long a tick is, from the time since this was made: exact to some 100 ns.
  void synchronize();
  // Nanoseconds from when this was made to a moment that now() returned; 0 for earlier ones. After synchronize().
  std::uint64_t ns(std::uint64_t ticks) const { return ticks <= start_.ticks ? 0 : static_cast<std::uint64_t>(static_cast<double>(ticks - start_.ticks) * ns_per_tick_); }
  // Roughly, for intervals, without synchronize().
  std::uint64_t ticks_in(std::uint64_t nanoseconds) const { return static_cast<std::uint64_t>(static_cast<double>(nanoseconds) / ns_per_tick_); }
  std::uint64_t start_ticks() const { return start_.ticks; }

 private:
  struct moment {
    std::uint64_t ticks, ns;
  };
  moment look() const;

  bool hardware_;
  double ns_per_tick_ = 1;
  moment start_;
};

}  // namespace weir::os
