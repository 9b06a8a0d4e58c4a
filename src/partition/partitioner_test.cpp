// What holds for every partitioner, on graphs that one thinks of.
#include "partition/implementations.hpp"
#include "partition/partition.hpp"

#include <weir/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <thread>

namespace weir::partition {
namespace {

class every_partitioner : public testing::TestWithParam<std::string> {
 protected:
  division divided(const graph& g, const options& o) const {
    const division d = make_partitioner(GetParam())->partition(g, o);
    EXPECT_EQ(d.note, "");
    EXPECT_EQ(d.part.size(), g.vertices());
    for (std::size_t v = 0; v < d.part.size(); v++) {
      EXPECT_GE(d.part[v], 0);
      EXPECT_LT(d.part[v], o.onto.parts());
      if (!o.fixed.empty() && o.fixed[v] != anywhere) {
        EXPECT_EQ(d.part[v], o.fixed[v]) << "vertex " << v;
      }
    }
    return d;
  }
  static options onto(int parts) {
    options o;
    o.onto = equal_parts(parts);
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(all, every_partitioner, testing::ValuesIn(partitioner_names()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::vector<std::uint64_t> ones(std::size_t n) { return std::vector<std::uint64_t>(n, 1); }

// side x side vertices.
graph grid(std::size_t side, std::uint64_t bytes = 1) {
  std::vector<edge> edges;
  for (std::size_t y = 0; y < side; y++)
    for (std::size_t x = 0; x < side; x++) {
      const auto me = static_cast<vertex>(y * side + x);
      if (x > 0) edges.push_back({me - 1, me, bytes});
      if (y > 0) edges.push_back({me - static_cast<vertex>(side), me, bytes});
    }
  return make_graph(ones(side * side), edges);
}

graph clique(std::size_t n) {
  std::vector<edge> edges;
  for (vertex a = 0; a < n; a++)
    for (vertex b = 0; b < a; b++) edges.push_back({a, b, 10});
  return make_graph(ones(n), edges);
}

std::vector<std::size_t> sizes(const division& d, int parts) {
  std::vector<std::size_t> n(static_cast<std::size_t>(parts), 0);
  for (const int p : d.part) n[static_cast<std::size_t>(p)]++;
  return n;
}

TEST_P(every_partitioner, cuts_a_grid_near_the_best) {
  // Four squares cut 64 edges.
  const division d = divided(grid(32), onto(4));
  EXPECT_LE(d.measured.cut_bytes, 80);
  EXPECT_LE(d.measured.worst_imbalance(), 0.05 + 1e-9);
  EXPECT_EQ(d.measured.distant_bytes, d.measured.cut_bytes);
}

TEST_P(every_partitioner, gives_the_same_for_the_same_seed) {
  const graph g = grid(40);
  options o = onto(6);
  o.seed = 42;
  std::srand(7);
  const std::vector<int> first = divided(g, o).part;
  std::srand(8);
  EXPECT_EQ(divided(g, o).part, first);
}

TEST_P(every_partitioner, gives_the_same_to_many_threads) {
  const graph g = grid(24);
  const std::vector<int> alone = divided(g, onto(4)).part;
  std::vector<std::vector<int>> parts(4);
  {
    std::vector<std::jthread> threads;
    for (auto& p : parts) threads.emplace_back([&] { p = make_partitioner(GetParam())->partition(g, onto(4)).part; });
  }
  for (const auto& p : parts) EXPECT_EQ(p, alone);
}

TEST_P(every_partitioner, leaves_the_random_numbers_of_the_program_alone) {
  std::srand(5);
  const int first = std::rand(), second = std::rand();
  std::srand(5);
  EXPECT_EQ(std::rand(), first);
  divided(grid(16), onto(4));
  EXPECT_EQ(std::rand(), second);
}

TEST_P(every_partitioner, takes_no_vertices) { EXPECT_TRUE(divided(make_graph({}, {}), onto(4)).part.empty()); }

TEST_P(every_partitioner, takes_one_vertex_and_one_part) {
  EXPECT_EQ(divided(make_graph({5}, {}), onto(4)).part.size(), 1u);
  EXPECT_EQ(divided(grid(8), onto(1)).part, std::vector<int>(64, 0));
}

TEST_P(every_partitioner, takes_more_parts_than_vertices) {
  const division d = divided(grid(3), onto(20));
  const std::vector<std::size_t> n = sizes(d, 20);
  EXPECT_LE(*std::max_element(n.begin(), n.end()), 2u);
}

TEST_P(every_partitioner, shares_out_vertices_without_edges) {
  const division d = divided(make_graph(ones(1000), {}), onto(8));
  EXPECT_LE(d.measured.worst_imbalance(), 0.05 + 1e-9);
  EXPECT_EQ(d.measured.cut_bytes, 0);
}

TEST_P(every_partitioner, takes_edges_without_bytes) {
  std::vector<edge> edges;
  for (vertex v = 1; v < 500; v++) edges.push_back({v - 1, v, 0});
  const division d = divided(make_graph(ones(500), edges), onto(5));
  EXPECT_EQ(d.measured.cut_bytes, 0);
  EXPECT_LE(d.measured.worst_imbalance(), 0.05 + 1e-9);
}

TEST_P(every_partitioner, balances_a_clique) {
  const division d = divided(clique(400), onto(8));
  EXPECT_LE(d.measured.worst_imbalance(), 0.06);
}

TEST_P(every_partitioner, takes_gigabytes_on_many_edges) {
  const division d = divided(grid(64, std::uint64_t{1} << 40), onto(4));
  EXPECT_LE(d.measured.cut_bytes, 160 * std::ldexp(1.0, 40));
  EXPECT_GE(d.measured.cut_bytes, 96 * std::ldexp(1.0, 40));
  divided(grid(16, std::numeric_limits<std::uint64_t>::max()), onto(4));
}

TEST_P(every_partitioner, sees_light_edges_beside_heavy_ones) {
  // Pairs with a terabyte each; those with a byte only say which pairs go together.
  std::vector<edge> edges;
  for (vertex v = 0; v < 400; v += 2) {
    edges.push_back({v, v + 1, std::uint64_t{1} << 40});
    if (v > 0) edges.push_back({v - 1, v, 1});
  }
  EXPECT_LT(divided(make_graph(ones(400), edges), onto(4)).measured.cut_bytes, 100);
}

TEST_P(every_partitioner, takes_weights_that_do_not_fit_32_bits) {
  std::vector<std::uint64_t> weight(1000, std::uint64_t{1} << 50);
  const division d = divided(make_graph(std::move(weight), {}), onto(4));
  EXPECT_LE(d.measured.worst_imbalance(), 0.05 + 1e-9);
}

TEST_P(every_partitioner, takes_vertices_without_weight) {
  divided(make_graph(std::vector<std::uint64_t>(100, 0), {}), onto(4));
  graph g = grid(20);
  for (std::size_t v = 0; v < 200; v++) g.weight[v] = 0;
  EXPECT_LE(divided(g, onto(4)).measured.worst_imbalance(), 0.06);
}

TEST_P(every_partitioner, holds_vertices_that_are_fixed) {
  options o = onto(4);
  o.fixed.assign(32 * 32, anywhere);
  // The corners, of which each is to get its quarter.
  o.fixed[0] = 3, o.fixed[31] = 2, o.fixed[31 * 32] = 1, o.fixed[32 * 32 - 1] = 0;
  const division d = divided(grid(32), o);
  EXPECT_LE(d.measured.cut_bytes, 90);
  EXPECT_LE(d.measured.worst_imbalance(), 0.05 + 1e-9);
}

TEST_P(every_partitioner, takes_all_fixed_on_one_part) {
  options o = onto(4);
  o.fixed.assign(64, 2);
  EXPECT_EQ(divided(grid(8), o).part, std::vector<int>(64, 2));
  o.fixed[5] = anywhere;
  divided(grid(8), o);
}

TEST_P(every_partitioner, fills_up_beside_what_is_fixed) {
  options o = onto(4);
  o.fixed.assign(32 * 32, anywhere);
  std::fill(o.fixed.begin(), o.fixed.begin() + 256, 1);  // a whole share
  const division d = divided(grid(32), o);
  EXPECT_LE(d.measured.worst_imbalance(), 0.06);
  EXPECT_LE(d.measured.cut_bytes, 110);
}

TEST_P(every_partitioner, exceeds_what_is_fixed_too_heavily_by_no_more) {
  options o = onto(4);
  o.fixed.assign(32 * 32, anywhere);
  std::fill(o.fixed.begin(), o.fixed.begin() + 600, 1);
  const division d = divided(grid(32), o);
  EXPECT_LE(sizes(d, 4)[1], 620u);
}

TEST_P(every_partitioner, gives_larger_parts_more) {
  options o = onto(3);
  o.onto.capacity = {2, 1, 1};
  const std::vector<std::size_t> n = sizes(divided(grid(32), o), 3);
  EXPECT_LE(n[0], 538u);
  EXPECT_LE(std::max(n[1], n[2]), 269u);
}

TEST_P(every_partitioner, gives_nothing_to_parts_without_capacity) {
  options o = onto(4);
  o.onto.capacity = {1, 0, 1, 0};
  o.fixed.assign(32 * 32, anywhere);
  o.fixed[0] = 1;  // memory without a worker
  const std::vector<std::size_t> n = sizes(divided(grid(32), o), 4);
  EXPECT_EQ(n[1], 1u);
  EXPECT_EQ(n[3], 0u);
  EXPECT_NEAR(static_cast<double>(n[0]), 512, 27);
}

TEST_P(every_partitioner, puts_what_has_much_in_common_near) {
  // A line through four parts, of which 0 and 2, and 1 and 3, are near each other.
  options o = onto(4);
  o.onto.distance = {0, 9, 1, 9, 9, 0, 9, 1, 1, 9, 0, 9, 9, 1, 9, 0};
  std::vector<edge> edges;
  for (vertex v = 1; v < 800; v++) edges.push_back({v - 1, v, 1});
  const division d = divided(make_graph(ones(800), edges), o);
  EXPECT_LT(d.measured.distant_bytes, 18) << "only once to a part that is far";
}

TEST_P(every_partitioner, balances_each_band) {
  graph g = grid(32);
  g.bands = 4;
  for (vertex v = 0; v < 1024; v++) g.band.push_back(v / 256);  // the cheapest cut has one in each part
  const division d = divided(g, onto(4));
  EXPECT_LE(d.measured.worst_imbalance(), 0.08);
  EXPECT_EQ(d.measured.imbalance.size(), 4u);
}

TEST_P(every_partitioner, takes_an_imbalance_of_0) {
  options o = onto(4);
  o.imbalance = 0;
  const std::vector<std::size_t> n = sizes(divided(grid(32), o), 4);
  EXPECT_LE(*std::max_element(n.begin(), n.end()), 257u);
}

TEST_P(every_partitioner, takes_a_graph_in_many_pieces) {
  std::vector<edge> edges;
  for (vertex v = 0; v < 900; v += 3) edges.push_back({v, v + 1, 5}), edges.push_back({v + 1, v + 2, 5});
  const division d = divided(make_graph(ones(900), edges), onto(6));
  EXPECT_LE(d.measured.worst_imbalance(), 0.05 + 1e-9);
  EXPECT_LE(d.measured.cut_bytes, 15);
}

TEST_P(every_partitioner, takes_a_star) {
  std::vector<edge> edges;
  for (vertex v = 1; v < 3000; v++) edges.push_back({0, v, 5});
  EXPECT_LE(divided(make_graph(ones(3000), edges), onto(8)).measured.worst_imbalance(), 0.06);
}

TEST_P(every_partitioner, does_not_mind_one_that_is_heavier_than_a_share) {
  graph g = grid(16);
  g.weight[100] = 1000;
  const division d = divided(g, onto(4));
  const std::vector<std::size_t> n = sizes(d, 4);
  EXPECT_LE(n[static_cast<std::size_t>(d.part[100])], 40u) << "the others go elsewhere";
}

std::string refused(const graph& g, const options& o) {
  try {
    make_partitioner()->partition(g, o);
  } catch (const usage_error& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(partitioner_options, that_make_no_sense_are_refused) {
  const graph g = grid(2);
  options o;
  EXPECT_EQ(refused(g, o), "partition: no part to divide onto");
  o.onto = equal_parts(2);
  o.imbalance = -1;
  EXPECT_EQ(refused(g, o), "partition: imbalance -1.000000, expected 0 or more");
  o.imbalance = 0.05;
  o.fixed = {0, 1};
  EXPECT_EQ(refused(g, o), "partition: 2 fixed parts for 4 vertices");
  o.fixed = {0, 1, 2, -1};
  EXPECT_EQ(refused(g, o), "partition: vertex 2 has fixed part 2, expected one below 2, or -1 for none");
  o.fixed.clear();
  o.initial = {0, 1, -2, -1};
  EXPECT_EQ(refused(g, o), "partition: vertex 2 has initial part -2, expected one below 2, or -1 for none");
}

TEST(partitioner_names, the_built_in_one_is_always_there) {
  const std::vector<std::string> names = partitioner_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "built-in"), names.end());
  EXPECT_EQ(make_partitioner()->name(), names.front());
  for (const std::string& n : names) EXPECT_EQ(make_partitioner(n)->name(), n);
}

TEST(partitioner_names, others_are_refused_with_those_that_there_are) {
  for (const std::string name : {"metis", "scotch", "chaco"}) {
    const std::vector<std::string> names = partitioner_names();
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    try {
      make_partitioner(name);
      ADD_FAILURE() << name << " was made";
    } catch (const configuration_error& e) {
      EXPECT_NE(std::string(e.what()).find("built-in"), std::string::npos) << e.what();
    }
  }
}

TEST(built_in_partitioner, begins_with_initial_parts) {
  const graph g = grid(32);
  options o;
  o.onto = equal_parts(4);
  const division first = make_partitioner("built-in")->partition(g, o);
  o.initial = first.part;
  o.seed = 99;
  const division again = make_partitioner("built-in")->partition(g, o);
  EXPECT_LE(again.measured.cut_bytes, first.measured.cut_bytes);
  std::size_t moved = 0;
  for (std::size_t v = 0; v < g.vertices(); v++) moved += again.part[v] != first.part[v];
  EXPECT_LE(moved, g.vertices() / 10);
}

TEST(built_in_partitioner, mends_initial_parts_that_are_wrong) {
  const graph g = grid(32);
  options o;
  o.onto = equal_parts(4);
  o.initial.assign(g.vertices(), 0);
  const division d = make_partitioner("built-in")->partition(g, o);
  EXPECT_LE(d.measured.worst_imbalance(), 0.06);
}

// A library that fails in the ways in which libraries fail.
class failing final : public partitioner {
 public:
  explicit failing(bool throws) : throws_(throws) {}
  std::string_view name() const override { return "failing"; }

 private:
  std::vector<int> divide(const problem& p) const override {
    if (throws_) throw error("out of paper");
    return std::vector<int>(p.free, 17);
  }
  const bool throws_;
};

TEST(partitioner_failure, is_said_and_the_built_in_one_does_it) {
  const graph g = grid(16);
  options o;
  o.onto = equal_parts(4);
  const division d = failing(true).partition(g, o);
  EXPECT_EQ(d.note, "failing failed: out of paper; the built-in partitioner was used instead");
  EXPECT_EQ(d.part, make_partitioner("built-in")->partition(g, o).part);
  EXPECT_EQ(failing(false).partition(g, o).note,
            "failing failed: it gave parts that do not exist; the built-in partitioner was used instead");
}

}  // namespace
}  // namespace weir::partition
