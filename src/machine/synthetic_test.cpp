// Synthetic machines and the strings that ask for them.
#include <gtest/gtest.h>

#include "machine/machine.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

std::string refusal(const std::string& specification) {
  try {
    load(specification);
  } catch (const machine_error& e) {
    return e.what();
  }
  return "";
}

TEST(synthetic, equal_nodes) {
  description m = synthetic(3, 2, 25);
  ASSERT_EQ(m.node_count(), 3);
  ASSERT_EQ(m.cpus.size(), 6u);
  EXPECT_FALSE(m.is_host);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(m.nodes[static_cast<std::size_t>(i)].cpus, (std::vector<int>{2 * i, 2 * i + 1}));
    for (int j = 0; j < 3; j++) {
      EXPECT_EQ(m.distance_between(i, j), i == j ? 10 : 25);
      EXPECT_EQ(m.read_cost(i, j), m.distance_between(i, j));
      EXPECT_EQ(m.class_between(i, j), i == j ? 0 : 1);
    }
  }
  EXPECT_EQ(m.cpus[5].node, 2);
}

TEST(synthetic, of_one_cpu) {
  description m = synthetic(1, 1);
  EXPECT_EQ(m.node_count(), 1);
  EXPECT_EQ(m.distance, std::vector<double>{10});
}

TEST(synthetic, refuses_sizes_and_distances_out_of_range) {
  for (auto [nodes, cpus] : {std::pair{0, 1}, {1, 0}, {-1, 4}, {1025, 1}, {1024, 65}, {2, 2000000000}}) EXPECT_THROW(synthetic(nodes, cpus), machine_error) << nodes << ' ' << cpus;
  EXPECT_THROW(synthetic(2, 2, 9), machine_error);
  EXPECT_THROW(synthetic(2, 2, -1), machine_error);
  EXPECT_EQ(synthetic(1024, 64).cpus.size(), 65536u);
}

TEST(load, our_synthetic_string) {
  description m = load("nodes:4 cpus:2 distance:31.5");
  EXPECT_EQ(m.node_count(), 4);
  EXPECT_EQ(m.cpus.size(), 8u);
  EXPECT_EQ(m.distance_between(0, 3), 31.5);
  EXPECT_EQ(load("cpus:1 nodes:2").distance_between(0, 1), 20);
}

TEST(load, hwloc_synthetic_string) {
  description m = load("numa:4 core:2 pu:1");
  EXPECT_EQ(m.node_count(), 4);
  EXPECT_EQ(m.cpus.size(), 8u);
  EXPECT_EQ(m.nodes[3].cpus.size(), 2u);
  EXPECT_FALSE(m.is_host);
  EXPECT_EQ(load("pack:2 [numa] core:3 pu:2").cpus.size(), 12u);
}

TEST(load, refused_strings_say_what_was_expected) {
  EXPECT_NE(refusal("nodes:2").find("cpus is missing"), std::string::npos);
  EXPECT_NE(refusal("nodes:2 cpus:x").find("\"cpus:x\""), std::string::npos);
  EXPECT_NE(refusal("nodes:2 cpus:1 cpus:1").find("each once"), std::string::npos);
  EXPECT_NE(refusal("nodes:2 cpus:1 colour:3").find("\"colour:3\""), std::string::npos);
  EXPECT_NE(refusal("nodes:99999999999 cpus:1").find("nodes:99999999999"), std::string::npos);
  EXPECT_NE(refusal("opteron").find("an hwloc synthetic string"), std::string::npos);
  EXPECT_NE(refusal("pu:100000").find("65536"), std::string::npos);
  EXPECT_NE(refusal("numa:1000 core:1000 pu:1000").find("65536"), std::string::npos);
  EXPECT_NE(refusal("[numa").find("expected"), std::string::npos);
  EXPECT_NE(refusal("numa:2000 pu:1").find("1024 nodes"), std::string::npos);
}

}  // namespace
}  // namespace weir::machine
