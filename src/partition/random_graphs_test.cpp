// Random graphs and options, by all partitioners in turn: what they promise holds, whatever comes.
#include "base/base.hpp"
#include "partition/partition.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

namespace weir::partition {
namespace {

std::uint64_t seed_of_graphs() {
  const char* const given = std::getenv("WEIR_PARTITION_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::printf("WEIR_PARTITION_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

std::size_t number_of_graphs() {
  const char* const given = std::getenv("WEIR_PARTITION_GRAPHS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 2'000;
}

class random_case {
 public:
  explicit random_case(std::uint64_t seed) : random_(seed) {
    const std::uint32_t n = below(10) == 0 ? below(4) : below(8) == 0 ? below(3000) : below(120);
    make_graph_of(n);
    if (below(2) == 0) add_bands();
    make_options(n);
  }
  graph g;
  options o;

 private:
  std::uint32_t below(std::uint32_t n) { return random_.below(n); }
  std::uint64_t amount() {
    switch (below(6)) {
      case 0: return 0;
      case 1: return random_.next();
      case 2: return random_.next() >> 24;
      default: return 1 + below(100);
    }
  }
  void make_graph_of(std::uint32_t n) {
    std::vector<std::uint64_t> weight;
    const bool alike = below(2) == 0;
    for (std::uint32_t v = 0; v < n; v++) weight.push_back(alike ? 1 : amount());
    std::vector<edge> edges;
    const std::uint32_t reach = 1 + below(below(2) == 0 ? 4 : 200), each = below(6);
    for (std::uint32_t v = 0; v < n; v++)
      for (std::uint32_t i = 0; i < each; i++)
        edges.push_back({v, (v + below(reach)) % n, below(3) == 0 ? amount() : 1});
    g = make_graph(std::move(weight), edges);
  }
  void add_bands() {
    g.bands = 1 + below(below(3) == 0 ? 40 : 4);
    for (std::size_t v = 0; v < g.vertices(); v++) g.band.push_back(below(g.bands));
  }
  void make_options(std::uint32_t n) {
    const std::uint32_t parts = 1 + below(below(4) == 0 ? 30 : 6);
    o.onto = equal_parts(static_cast<int>(parts));
    if (below(3) == 0)
      for (double& c : o.onto.capacity) c = below(5);
    o.onto.capacity[below(parts)] = 1;
    if (below(2) == 0) add_distances(parts);
    o.imbalance = below(3) == 0 ? 0 : below(100) / 100.0;
    o.seed = random_.next();
    if (below(2) == 0) o.fixed = some_parts(n, parts, 2 + below(20));
    if (below(3) == 0) o.initial = some_parts(n, parts, 1 + below(3));
  }
  void add_distances(std::uint32_t parts) {
    o.onto.distance.assign(std::size_t{parts} * parts, 0);
    for (std::size_t a = 0; a < parts; a++)
      for (std::size_t b = 0; b < a; b++)
        o.onto.distance[a * parts + b] = o.onto.distance[b * parts + a] = below(50) == 0 ? 1e9 : below(40) / 10.0;
  }
  std::vector<int> some_parts(std::uint32_t n, std::uint32_t parts, std::uint32_t one_in) {
    std::vector<int> part;
    for (std::uint32_t v = 0; v < n; v++)
      part.push_back(below(one_in) == 0 ? static_cast<int>(below(parts)) : anywhere);
    return part;
  }

  rng random_;
};

void expect_valid(const random_case& c, const division& d) {
  ASSERT_EQ(d.note, "");
  ASSERT_EQ(d.part.size(), c.g.vertices());
  for (std::size_t v = 0; v < d.part.size(); v++) {
    ASSERT_GE(d.part[v], 0);
    ASSERT_LT(d.part[v], c.o.onto.parts());
    const bool is_fixed = !c.o.fixed.empty() && c.o.fixed[v] != anywhere;
    if (is_fixed) {
      ASSERT_EQ(d.part[v], c.o.fixed[v]) << "vertex " << v;
    } else {
      ASSERT_GT(c.o.onto.capacity[static_cast<std::size_t>(d.part[v])], 0) << "vertex " << v;
    }
  }
  double cut = 0, distant = 0;
  for (std::size_t v = 0; v < c.g.vertices(); v++)
    for (std::uint32_t i = c.g.begin[v]; i < c.g.begin[v + 1]; i++) {
      const int a = d.part[v], b = d.part[c.g.neighbour[i]];
      if (a == b) continue;
      cut += static_cast<double>(c.g.bytes[i]) / 2;
      distant += static_cast<double>(c.g.bytes[i]) / 2 * c.o.onto.between(a, b);
    }
  ASSERT_NEAR(d.measured.cut_bytes, cut, cut * 1e-9);
  ASSERT_NEAR(d.measured.distant_bytes, distant, distant * 1e-9);
  ASSERT_EQ(d.measured.imbalance.size(), c.g.bands);
}

TEST(partition_random_graphs, all_divisions_are_valid) {
  rng seeds(seed_of_graphs());
  const std::vector<std::string> names = partitioner_names();
  for (std::size_t i = 0; i < number_of_graphs() && !testing::Test::HasFatalFailure(); i++) {
    const std::uint64_t seed = seeds.next();
    const random_case c(seed);
    const auto p = make_partitioner(names[i % names.size()]);
    SCOPED_TRACE("graph " + std::to_string(i) + ", " + std::string(p->name()));
    const division d = p->partition(c.g, c.o);
    expect_valid(c, d);
    if (i % 16 < names.size()) {
      ASSERT_EQ(p->partition(c.g, c.o).part, d.part) << "not the same again";
    }
  }
}

}  // namespace
}  // namespace weir::partition
