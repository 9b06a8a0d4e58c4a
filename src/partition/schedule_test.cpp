// How parts run, and divisions that keep them busy.
#include "partition/partition.hpp"

#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace weir::partition {
namespace {

timetable run_of(std::size_t tasks, std::span<const edge> edges, const target& t, const std::vector<int>& part,
                 double cost_of_byte = 0) {
  const successors s = successors_of(tasks, edges);
  const std::vector<std::uint64_t> cost(tasks, 10);
  return schedule(s, order_of(s), cost, t, part, cost_of_byte);
}

TEST(partition_schedule, tasks_of_a_part_wait_for_each_other) {
  EXPECT_DOUBLE_EQ(run_of(4, {}, equal_parts(2), {0, 0, 1, 1}).length, 20);
  EXPECT_DOUBLE_EQ(run_of(4, {}, equal_parts(2), {0, 0, 0, 1}).length, 30);
  target two_each = equal_parts(2);
  two_each.capacity = {2, 2};
  EXPECT_DOUBLE_EQ(run_of(4, {}, two_each, {0, 0, 0, 1}).length, 20);
}

TEST(partition_schedule, reading_from_far_takes_longer) {
  const edge edges[] = {{0, 1, 3}};
  target t = equal_parts(2);
  t.distance = {0, 2, 2, 0};
  EXPECT_DOUBLE_EQ(run_of(2, edges, t, {0, 0}, 1).length, 20);
  const timetable apart = run_of(2, edges, t, {0, 1}, 1);
  EXPECT_DOUBLE_EQ(apart.length, 26);
  EXPECT_DOUBLE_EQ(apart.transfer, 6);
  EXPECT_DOUBLE_EQ(apart.work, 20);
  EXPECT_DOUBLE_EQ(apart.efficiency(), 20.0 / 2 / 26);
}

TEST(partition_schedule, what_is_fixed_on_a_part_without_workers_runs_all_the_same) {
  target t = equal_parts(2);
  t.capacity = {1, 0};
  EXPECT_DOUBLE_EQ(run_of(3, {}, t, {0, 1, 1}).length, 20);
}

// Two parts, each with a task of its own and then a chain; the second chain begins one task later.
TEST(partition_schedule, steady_is_what_lies_between_the_first_that_waits_and_the_last) {
  const edge edges[] = {{0, 1, 1}, {1, 2, 1}, {1, 4, 1}, {3, 4, 1}, {4, 5, 1}};
  const timetable t = run_of(6, edges, equal_parts(2), {0, 0, 0, 1, 1, 1});
  EXPECT_DOUBLE_EQ(t.length, 40);
  EXPECT_DOUBLE_EQ(t.steady, 20);
  const timetable late = run_of(6, edges, equal_parts(2), {0, 0, 0, 0, 1, 1});
  EXPECT_DOUBLE_EQ(late.length, 50);
  EXPECT_DOUBLE_EQ(late.steady, 20);
}

TEST(partition_schedule, without_tasks_takes_no_time) {
  EXPECT_DOUBLE_EQ(run_of(0, {}, equal_parts(2), {}).length, 0);
  EXPECT_DOUBLE_EQ(run_of(0, {}, equal_parts(2), {}).efficiency(), 1);
}

TEST(partition_schedule, average_share_is_one_where_steps_are_of_one_part) {
  const std::vector<std::uint32_t> depth{0, 0, 1, 1};
  const std::vector<std::uint64_t> weight{1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(average_share(depth, weight, 2, std::vector<int>{0, 0, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(average_share(depth, weight, 2, std::vector<int>{0, 1, 0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(average_share({}, {}, 2, {}), 0);
}

// In place, so that the cheapest cut lets one part wait for the other.
std::vector<edge> sweeps(std::size_t steps, std::size_t width) {
  std::vector<edge> edges;
  for (std::size_t s = 0; s < steps; s++)
    for (std::size_t i = 0; i < width; i++) {
      const auto me = static_cast<vertex>(s * width + i);
      if (i > 0) edges.push_back({me - 1, me, 4});
      if (s > 0) edges.push_back({me - static_cast<vertex>(width), me, 128});
      if (s > 0 && i + 1 < width) edges.push_back({me - static_cast<vertex>(width) + 1, me, 4});
    }
  return edges;
}

TEST(partition_in_time, keeps_parts_busy_where_the_cheapest_cut_does_not) {
  const std::vector<edge> edges = sweeps(20, 160);
  const std::vector<std::uint64_t> cost(20 * 160, 10);
  options o;
  o.onto = equal_parts(8);
  const successors s = successors_of(cost.size(), edges);
  const std::vector<vertex> order = order_of(s);
  for (const std::string& name : partitioner_names()) {
    const auto p = make_partitioner(name);
    const division cheapest = p->partition(make_graph(cost, edges), o);
    const timely_division d = divide_in_time(*p, cost, edges, o, 0);
    const timetable plain = schedule(s, order, cost, o.onto, cheapest.part, 0);
    EXPECT_LT(d.expected.length, 0.8 * plain.length) << name;
    EXPECT_GE(d.expected.length, d.bound) << name;
    EXPECT_GT(d.bands, 1u) << name;
    EXPECT_DOUBLE_EQ(schedule(s, order, cost, o.onto, d.part, 0).length, d.expected.length) << name;
    EXPECT_EQ(d.measured.imbalance.size(), d.bands) << name;
  }
}

TEST(partition_in_time, tries_once_where_nobody_waits) {
  std::vector<edge> edges;  // chains
  for (vertex v = 64; v < 64 * 50; v++) edges.push_back({v - 64, v, 100});
  const std::vector<std::uint64_t> cost(64 * 50, 10);
  options o;
  o.onto = equal_parts(8);
  const timely_division d = divide_in_time(*make_partitioner("built-in"), cost, edges, o, 1);
  EXPECT_EQ(d.tries, 1);
  EXPECT_DOUBLE_EQ(d.measured.cut_bytes, 0);
  EXPECT_DOUBLE_EQ(d.expected.length, d.bound);
}

TEST(partition_in_time, holds_what_is_fixed_and_takes_no_more_tries_than_allowed) {
  const std::vector<edge> edges = sweeps(10, 40);
  const std::vector<std::uint64_t> cost(400, 10);
  options o;
  o.onto = equal_parts(4);
  o.fixed.assign(400, anywhere);
  std::fill(o.fixed.begin(), o.fixed.begin() + 40, 3);
  const timely_division d = divide_in_time(*make_partitioner("built-in"), cost, edges, o, 1, 2);
  EXPECT_LE(d.tries, 2);
  for (std::size_t v = 0; v < 40; v++) EXPECT_EQ(d.part[v], 3);
}

TEST(partition_in_time, of_nothing_is_nothing) {
  options o;
  o.onto = equal_parts(4);
  const timely_division d = divide_in_time(*make_partitioner("built-in"), {}, {}, o, 1);
  EXPECT_TRUE(d.part.empty());
  EXPECT_DOUBLE_EQ(d.expected.length, 0);
}

TEST(partition_in_time, a_cycle_is_refused) {
  const edge edges[] = {{0, 1, 1}, {1, 0, 1}};
  const std::vector<std::uint64_t> cost{1, 1};
  options o;
  o.onto = equal_parts(2);
  EXPECT_THROW(divide_in_time(*make_partitioner(), cost, edges, o, 1), usage_error);
}

}  // namespace
}  // namespace weir::partition
