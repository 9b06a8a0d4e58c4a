// What a measurement writes for pairs that cannot be measured.
#include <gtest/gtest.h>

#include "machine/machine.hpp"
#include "tools/weir/topo_measure.hpp"
#include "weir/error.hpp"

namespace weir::tools {
namespace {

TEST(fill_unmeasured, node_without_cpus_takes_the_way_back_and_the_best_way) {
  machine::description m = machine::load("machines/cxl.toml");
  m.read_ns = {110, 200, 250, 200, 115, 390, 0, 0, 0};
  m.read_gb_s = {100, 50, 30, 50, 100, 20, 0, 0, 0};
  m.write_ns = {}, m.write_gb_s = {};
  EXPECT_TRUE(fill_unmeasured(m));
  EXPECT_EQ(m.read_ns, (std::vector<double>{110, 200, 250, 200, 115, 390, 250, 390, 250}));
  EXPECT_EQ(m.read_gb_s, (std::vector<double>{100, 50, 30, 50, 100, 20, 30, 20, 30}));
  EXPECT_TRUE(m.write_ns.empty());
}

TEST(fill_unmeasured, node_without_memory_takes_the_worst) {
  machine::description m = machine::synthetic(2, 1);
  m.nodes[1].memory_bytes = 0;
  m.write_ns = {80, 0, 130, 0};
  m.write_gb_s = {90, 0, 40, 0};
  EXPECT_TRUE(fill_unmeasured(m));
  EXPECT_EQ(m.write_ns, (std::vector<double>{80, 130, 130, 130}));
  EXPECT_EQ(m.write_gb_s, (std::vector<double>{90, 40, 40, 40}));
}

TEST(fill_unmeasured, complete_figures_stay) {
  machine::description m = machine::load("machines/quad-opteron-8347.toml");
  std::vector<double> before = m.read_ns;
  EXPECT_FALSE(fill_unmeasured(m));
  EXPECT_EQ(m.read_ns, before);
}

TEST(fill_unmeasured, nothing_measured_is_an_error) {
  machine::description m = machine::synthetic(1, 1);
  m.read_ns = {0};
  EXPECT_THROW(fill_unmeasured(m), machine_error);
}

TEST(measure, refuses_a_described_machine) {
  machine::description m = machine::synthetic(2, 2);
  EXPECT_THROW(measure(m, {}), machine_error);
}

}  // namespace
}  // namespace weir::tools
