// Graphs, orders, bands and targets.
#include "machine/machine.hpp"
#include "partition/partition.hpp"

#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace weir::partition {
namespace {

std::string refusal(const auto& f) {
  try {
    f();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(partition_graph, an_edge_is_there_from_both_ends) {
  const edge edges[] = {{0, 1, 5}, {2, 1, 7}};
  const graph g = make_graph({1, 1, 1}, edges);
  EXPECT_EQ(g.begin, (std::vector<std::uint32_t>{0, 1, 3, 4}));
  EXPECT_EQ(g.edges(), 2u);
  EXPECT_EQ(g.neighbour[g.begin[0]], 1u);
  EXPECT_EQ(g.bytes[g.begin[2]], 7u);
  check(g);
}

TEST(partition_graph, repeated_edges_add_up_in_either_direction) {
  const edge edges[] = {{0, 1, 5}, {1, 0, 7}, {0, 1, 1}, {1, 2, 1}};
  const graph g = make_graph({1, 1, 1}, edges);
  EXPECT_EQ(g.edges(), 2u);
  EXPECT_EQ(g.bytes[g.begin[0]], 13u);
  check(g);
}

TEST(partition_graph, loops_and_edges_without_bytes_are_left_out) {
  const edge edges[] = {{0, 0, 5}, {0, 1, 0}, {1, 1, 9}};
  const graph g = make_graph({1, 1}, edges);
  EXPECT_EQ(g.edges(), 0u);
  EXPECT_EQ(g.vertices(), 2u);
  check(g);
}

TEST(partition_graph, sums_that_do_not_fit_stay_the_largest) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const edge edges[] = {{0, 1, most}, {0, 1, most}};
  EXPECT_EQ(make_graph({1, 1}, edges).bytes[0], most);
}

TEST(partition_graph, may_be_empty) {
  const graph g = make_graph({}, {});
  EXPECT_EQ(g.vertices(), 0u);
  check(g);
}

TEST(partition_graph, an_edge_to_nowhere_is_refused) {
  const edge edges[] = {{0, 1, 1}, {1, 2, 1}};
  EXPECT_EQ(refusal([&] { make_graph({1, 1}, edges); }), "partition: edge 1 has vertex 2, expected one below 2");
}

TEST(partition_graph, what_does_not_hold_together_is_refused) {
  const edge edges[] = {{0, 1, 1}};
  graph g = make_graph({1, 1}, edges);
  g.bands = 0;
  EXPECT_EQ(refusal([&] { check(g); }), "partition: a graph without bands; 1 is the least");
  g.bands = 2;
  g.band = {0, 2};
  EXPECT_EQ(refusal([&] { check(g); }), "partition: band 2, expected one below 2");
  g.band = {0};
  EXPECT_EQ(refusal([&] { check(g); }), "partition: 1 bands for 2 vertices");
  g.band.clear();
  g.neighbour[0] = 0;
  EXPECT_EQ(refusal([&] { check(g); }), "partition: vertex 0 has neighbour 0, expected another one below 2");
  g.begin[1] = 5;
  EXPECT_EQ(refusal([&] { check(g); }), "partition: row 1 ends before it begins");
}

TEST(partition_order, depth_is_the_longest_way) {
  const edge edges[] = {{0, 1, 1}, {1, 3, 0}, {0, 3, 1}, {2, 3, 1}};
  const successors s = successors_of(4, edges);
  const std::vector<vertex> order = order_of(s);
  EXPECT_EQ(depth_of(s, order), (std::vector<std::uint32_t>{0, 1, 0, 2}));
}

TEST(partition_order, a_cycle_is_refused) {
  const edge edges[] = {{0, 1, 1}, {1, 2, 1}, {2, 1, 1}};
  EXPECT_EQ(refusal([&] { order_of(successors_of(3, edges)); }),
            "partition: 2 of 3 tasks wait for each other in a cycle, or for one");
  const edge loop[] = {{0, 0, 1}};
  EXPECT_EQ(refusal([&] { successors_of(1, loop); }),
            "partition: an edge from task 0 to 0, expected two different ones below 1");
}

TEST(partition_order, bands_have_about_the_same_weight) {
  std::vector<std::uint32_t> depth, band;
  std::vector<std::uint64_t> weight;
  for (std::uint32_t d = 0; d < 100; d++)
    for (std::uint32_t i = 0; i <= d; i++) depth.push_back(d), weight.push_back(1);
  ASSERT_EQ(cut_into_bands(depth, weight, 10, band), 10u);
  std::vector<std::size_t> in(10, 0);
  for (std::size_t v = 0; v < depth.size(); v++) {
    in[band[v]]++;
    if (v > 0) {
      ASSERT_GE(band[v], band[v - 1]) << "bands are ranges of depth";
    }
  }
  for (const std::size_t n : in) EXPECT_NEAR(static_cast<double>(n), 505, 60);
}

TEST(partition_order, there_are_no_more_bands_than_depths) {
  std::vector<std::uint32_t> band;
  const std::vector<std::uint32_t> depth{0, 1, 1, 2};
  const std::vector<std::uint64_t> weight{1, 1, 1, 1}, nothing{0, 0, 0, 0};
  EXPECT_EQ(cut_into_bands(depth, weight, 50, band), 3u);
  EXPECT_EQ(band, depth);
  EXPECT_EQ(cut_into_bands(depth, weight, 1, band), 1u);
  EXPECT_EQ(cut_into_bands(depth, nothing, 2, band), 1u) << "without weight there is nothing to share out";
  EXPECT_EQ(cut_into_bands({}, {}, 4, band), 1u);
}

TEST(partition_target, takes_distances_of_a_machine_in_units_of_the_nearest) {
  machine::description m = machine::synthetic(3, 2, 20);
  m.distance = {10, 16, 22, 16, 10, 16, 22, 16, 10};
  const target t = target_of(m, {2, 2, 0});
  EXPECT_EQ(t.parts(), 3);
  EXPECT_DOUBLE_EQ(t.between(0, 1), 1);
  EXPECT_DOUBLE_EQ(t.between(2, 0), 2);
  EXPECT_DOUBLE_EQ(t.between(1, 1), 0);
  EXPECT_EQ(t.capacity, (std::vector<double>{2, 2, 0}));
}

TEST(partition_target, nodes_at_no_distance_are_apart_all_the_same) {
  machine::description m = machine::synthetic(2, 1, 20);
  m.distance = {10, 10, 10, 10};
  EXPECT_DOUBLE_EQ(target_of(m, {1, 1}).between(0, 1), 1);
}

TEST(partition_target, what_makes_no_sense_is_refused) {
  EXPECT_EQ(refusal([] { check(target{}); }), "partition: no part to divide onto");
  EXPECT_EQ(refusal([] { check(equal_parts(-1)); }), "partition: no part to divide onto");
  EXPECT_EQ(refusal([] { check(target{{0, 0}, {}}); }), "partition: none of 2 parts has a capacity above 0");
  EXPECT_EQ(refusal([] { check(target{{1, -1}, {}}); }), "partition: a part with a capacity below 0");
  EXPECT_EQ(refusal([] { check(target{{1, 1}, {0, 1}}); }), "partition: 2 distances for 2 parts, expected 4");
  EXPECT_EQ(refusal([] { check(target{{1, 1}, {0, 1, 2, 0}}); }),
            "partition: the distance of parts 1 and 0 differs by direction");
  EXPECT_EQ(refusal([] { check(target{{1, 1}, {1, 1, 1, 0}}); }),
            "partition: the distance of parts 0 and 0 is 1.000000");
  EXPECT_EQ(refusal([] { target_of(machine::synthetic(2, 1), {1}); }), "partition: 1 numbers of workers for 2 nodes");
}

}  // namespace
}  // namespace weir::partition
