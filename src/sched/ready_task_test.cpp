// What fits beside a task in a queue's word, and what it says of costs.
#include "sched/ready_task.hpp"

#include "place/place.hpp"
#include "sched/move_costs.hpp"

#include <gtest/gtest.h>

#include <random>

namespace weir::sched {
namespace {

TEST(rough_number, is_exact_for_small_ones_and_an_eighth_off_at_most) {
  for (std::uint64_t n = 0; n < 16; n++) EXPECT_EQ(rough_number::value(rough_number::of(n)), n);
  std::mt19937_64 random(7);
  for (int i = 0; i < 10'000; i++) {
    const std::uint64_t n = random() >> (30 + random() % 34);  // up to 2^34
    const std::uint64_t back = rough_number::value(rough_number::of(n));
    EXPECT_LE(back, n);
    EXPECT_GE(8 * back, 7 * n) << n;
  }
  EXPECT_GT(rough_number::value(rough_number::of(~std::uint64_t{0})), std::uint64_t{15'000'000'000});
}

TEST(rough_number, never_falls) {
  std::uint8_t last = 0;
  for (std::uint64_t n = 0; n < 100'000; n++) {
    EXPECT_GE(rough_number::of(n), last);
    last = rough_number::of(n);
  }
}

TEST(ready_task, keeps_its_task_and_its_hint) {
  alignas(64) frame f;
  const ready_task t(&f, task_hint(4096, 20'000));
  EXPECT_EQ(t.task(), &f);
  EXPECT_EQ(t.hint().bytes(), 4096u);
  EXPECT_NEAR(static_cast<double>(t.hint().ns()), 20'000, 2'500);
  EXPECT_TRUE(t);
  EXPECT_FALSE(ready_task());
  EXPECT_EQ(ready_task().task(), nullptr);
  EXPECT_EQ(ready_task(&f).hint().bytes(), 0u);
  EXPECT_EQ(ready_task(&f).hint().ns(), 0u);
}

TEST(move_costs, are_what_a_byte_takes_longer_from_there) {
  machine::description m = machine::synthetic(2, 1, 20);
  m.read_ns = {100, 420, 260, 100};
  const move_costs costs(place::seen_by_policies(m, {0, 1}));
  EXPECT_DOUBLE_EQ(costs.of(task_hint(6400, 0), 0, 0), 0);
  // From node 0 to node 1: node 1 reads a line of node 0 in 260 ns, node 0 in 100.
  EXPECT_DOUBLE_EQ(costs.of(task_hint(64, 0), 0, 1), 160);
  EXPECT_DOUBLE_EQ(costs.of(task_hint(64, 0), 1, 0), 320);
  EXPECT_DOUBLE_EQ(costs.of(task_hint(), 0, 1), 0);
  // Only distances: a local line counts as 80 ns.
  const move_costs guessed(place::seen_by_policies(machine::synthetic(2, 1, 20), {0, 1}));
  EXPECT_DOUBLE_EQ(guessed.of(task_hint(64, 0), 0, 1), 80);
}

}  // namespace
}  // namespace weir::sched
