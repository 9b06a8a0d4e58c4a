// The clocks.
#include "os/clock.hpp"

#include <weir/region.h>

#include <cstdio>
#include <cstring>

namespace weir::os {
namespace {

// The system watches the counter and leaves it when it differs between CPUs or stops in sleep.
bool system_trusts_counter() {
  char name[32] = "";
  if (std::FILE* file = std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r")) {
    if (std::fgets(name, sizeof name, file) == nullptr) name[0] = '\0';
    std::fclose(file);
  }
  return std::strncmp(name, "tsc", 3) == 0 || std::strncmp(name, "arch_sys_counter", 16) == 0;
}

}  // namespace

std::uint64_t now_ns() { return weir_region_now_ns(); }

// The counter of an emulated machine goes by the time of the machine outside.
tick_clock::tick_clock() : hardware_(!weir_region_has_clocks() && system_trusts_counter()), start_(look()) {
  // A first estimate of the length, good to some percent; where it matters, synchronize() comes later.
  constexpr std::uint64_t first_ns = 20'000;
  while (now_ns() - start_.ns < first_ns) continue;
  synchronize();
}

// The two clocks at one moment: of some tries the one that was least disturbed.
tick_clock::moment tick_clock::look() const {
  moment best{};
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int i = 0; i < 8; i++) {
    const std::uint64_t before = now_ns(), ticks = now(), after = now_ns();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {ticks, before + (after - before) / 2};
  }
  return best;
}

void tick_clock::synchronize() {
  const moment m = look();
  if (m.ticks > start_.ticks && m.ns > start_.ns) ns_per_tick_ = static_cast<double>(m.ns - start_.ns) / static_cast<double>(m.ticks - start_.ticks);
}

}  // namespace weir::os
