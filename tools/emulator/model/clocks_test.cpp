// Virtual clocks, memory controllers, and the map from addresses to nodes.
#include "address_map.hpp"
#include "clocks.hpp"
#include "controller.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace weir::emulator {
namespace {

constexpr std::uint64_t quantum = 1000, wake = 70;

TEST(Clocks, RunApartUpToAQuantum) {
  clocks c(2, quantum, wake);
  c.advance(0, quantum);
  EXPECT_FALSE(c.ahead(0));
  c.advance(0, 1);
  EXPECT_TRUE(c.ahead(0));
  c.advance(1, 500);
  EXPECT_EQ(c.update_floor(), 500u);
  EXPECT_FALSE(c.ahead(0));
}

TEST(Clocks, WhoIsAheadWaitsForTheSlowest) {
  clocks c(2, quantum, wake);
  c.advance(0, 5 * quantum);
  std::atomic<bool> arrived{false};
  std::thread slow([&] {
    for (int i = 0; i < 50; i++) {
      c.advance(1, quantum / 10);
      std::this_thread::yield();
    }
    arrived = true;
  });
  while (!c.wait_for_others(0)) {}
  EXPECT_GE(c.now(1) + quantum, c.now(0));
  slow.join();
  EXPECT_TRUE(arrived);
}

TEST(Clocks, WaitingEndsIfNobodyMoves) {
  clocks c(2, quantum, wake);
  c.advance(0, 5 * quantum);
  EXPECT_FALSE(c.wait_for_others(0));
}

TEST(Clocks, TheIdleHoldNobodyBack) {
  clocks c(2, quantum, wake);
  c.advance(0, 5 * quantum);
  c.sleep(1);
  EXPECT_TRUE(c.wait_for_others(0));
  EXPECT_EQ(c.update_floor(), 5 * quantum);
}

TEST(Clocks, TheWokenComeBackInThePresent) {
  clocks c(2, quantum, wake);
  c.sleep(1);
  c.advance(0, 5000);
  c.update_floor();
  EXPECT_EQ(c.wake(1, true), 5000 + wake);
  EXPECT_EQ(c.now(1), 5000 + wake);
  c.sleep(1);
  EXPECT_EQ(c.wake(1, false), 0u);   // nobody passed it
}

TEST(Clocks, AllAsleepTimeStandsStill) {
  clocks c(1, quantum, wake);
  c.advance(0, 30);
  c.update_floor();
  c.sleep(0);
  EXPECT_EQ(c.update_floor(), 30u);
}

TEST(Clocks, WhoWaitsForTimeWhileAllSleepGetsThisMachines) {
  clocks c(2, quantum, wake);
  c.sleep(0);
  c.sleep(1);
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  c.wake(1, true);
  const std::uint64_t woken = c.now(1);
  EXPECT_EQ(woken, wake) << "whoever is woken for another reason gets none of it";
  c.timed_out(1);
  EXPECT_GE(c.now(1) - woken, 5'000'000'000u);
  EXPECT_LE(c.now(1) - woken, 1000u * static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begin).count()));
  const std::uint64_t later = c.now(1);
  c.timed_out(1);
  EXPECT_EQ(c.now(1), later) << "a sleep counts once";
}

TEST(Clocks, WhoWaitsForTimeWhileOthersRunGetsTheirs) {
  clocks c(2, quantum, wake);
  c.sleep(0);
  c.advance(1, 300);
  c.update_floor();
  c.wake(0, true);
  c.timed_out(0);
  EXPECT_EQ(c.now(0), 300 + wake);
}

TEST(Clocks, LieInMemoryThatOthersRead) {
  std::vector<cpu_clock> memory(clock_memory_bytes / sizeof(cpu_clock));
  clocks c(2, quantum, wake, memory.data());
  c.advance(1, 77);
  const auto* words = reinterpret_cast<const volatile std::uint64_t*>(memory.data());
  EXPECT_EQ(words[0], 0u);
  EXPECT_EQ(words[8], 77u);
}

TEST(Clocks, AlignedAllBeginTogether) {
  clocks c(3, quantum, wake);
  c.advance(0, 100);
  c.advance(1, 700);
  EXPECT_EQ(c.align(), 700u);
  EXPECT_EQ(c.update_floor(), 700u) << "clocks that have not joined count as at the beginning";
  c.join(0);
  c.join(1);
  EXPECT_EQ(c.now(0), 700u);
  c.advance(0, 50), c.advance(1, 60);
  EXPECT_EQ(c.update_floor(), 700u) << "the third has not joined";
  c.join(2);
  c.advance(2, 20);
  EXPECT_EQ(c.update_floor(), 720u);
  EXPECT_EQ(c.align(5000), 5000u) << "not before what is asked for";
  EXPECT_EQ(c.align(20), 5000u) << "and not back";
}

TEST(Controller, LinesWaitForThoseBefore) {
  controller c;
  EXPECT_EQ(c.serve(1000, 5, 0), 0u);
  EXPECT_EQ(c.serve(1000, 5, 0), 5u);
  EXPECT_EQ(c.serve(1002, 5, 0), 8u);
  EXPECT_EQ(c.serve(2000, 5, 0), 0u);
}

TEST(Controller, WhoIsBehindFindsItAsItWasThen) {
  controller c;
  c.serve(10000, 5, quantum);
  EXPECT_EQ(c.serve(9500, 5, quantum), 0u);
}

TEST(Controller, ResetItIsFree) {
  controller c;
  for (int i = 0; i < 100; i++) c.serve(1000, 50, 0);
  c.reset(1000);
  EXPECT_EQ(c.serve(1000, 50, 0), 0u);
}

constexpr std::uint64_t mib = 1 << 20;

// QEMU's numbers: a block's place among blocks and in memory, and the offset in it.
TEST(AddressMap, FindsTheNode) {
  const address_map map({4 * mib, 2 * mib, 3 * mib});
  EXPECT_EQ(map.lines(), 9 * mib / 64);
  struct { std::uint64_t address; int node; std::uint64_t line; } expected[] = {
      {0, 0, 0}, {4 * mib - 1, 0, 4 * mib / 64 - 1}, {8 * mib, 1, 4 * mib / 64}, {8 * mib + 640, 1, 4 * mib / 64 + 10}, {12 * mib, 2, 6 * mib / 64}, {15 * mib - 64, 2, 9 * mib / 64 - 1}};
  for (const auto& e : expected) {
    EXPECT_EQ(map.find(e.address).node, e.node) << e.address;
    EXPECT_EQ(map.find(e.address).line, e.line) << e.address;
  }
}

TEST(AddressMap, NothingIsBetweenNodesAndBehindThem) {
  const address_map map({4 * mib, 2 * mib, 3 * mib});
  for (std::uint64_t address : {4 * mib, 8 * mib - 1, 10 * mib, 15 * mib, std::uint64_t{UINT64_MAX}}) EXPECT_EQ(map.find(address).node, -1) << address;
}

}  // namespace
}  // namespace weir::emulator
