// The cheap clock keeps time with the system's.
#include "os/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace weir::os {
namespace {

void spin_for(std::uint64_t ns) {
  const std::uint64_t begin = now_ns();
  while (now_ns() - begin < ns) continue;
}

TEST(tick_clock, is_as_long_as_the_systems) {
  tick_clock clock;
  const std::uint64_t begin = now_ns(), first = clock.now();
  spin_for(5'000'000);
  const std::uint64_t last = clock.now(), end = now_ns();
  clock.synchronize();
  const double ticked = static_cast<double>(clock.ns(last) - clock.ns(first)), passed = static_cast<double>(end - begin);
  EXPECT_LE(ticked, passed * 1.01 + 1000);  // it was looked at inside
  EXPECT_GT(ticked, 0);
}

TEST(tick_clock, goes_forward_from_thread_to_thread) {
  const tick_clock clock;
  std::atomic<std::uint64_t> latest{clock.now()};
  // A CPU may look a little before it is told to; longer where it is a virtual one that is stopped meanwhile.
  const std::uint64_t slack = clock.ticks_in(20'000);
  std::atomic<std::uint64_t> backward{0};
  std::atomic<int> turn{0};
  const auto go = [&](int mine) {
    for (int i = 0; i < 1000; i++) {
      while (turn.load() != mine) std::this_thread::yield();
      const std::uint64_t now = clock.now();
      const std::uint64_t before = latest.load();
      if (now + slack < before) backward = before - now;
      latest.store(now);
      turn.store(1 - mine);
    }
  };
  std::thread other(go, 1);
  go(0);
  other.join();
  EXPECT_EQ(backward.load(), 0u) << "ticks";
}

TEST(tick_clock, earlier_than_its_start_is_its_start) {
  const tick_clock clock;
  EXPECT_EQ(clock.ns(0), 0u);
  EXPECT_EQ(clock.ns(clock.start_ticks()), 0u);
  EXPECT_GT(clock.ticks_in(1'000'000), 0u);
}

}  // namespace
}  // namespace weir::os
