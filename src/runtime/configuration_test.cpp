// Which CPUs the workers get, on machines of every shape.
#include "runtime/runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace weir::detail {
namespace {

std::vector<int> nodes_of_workers(int workers, const machine::description& m) {
  runtime_options o;
  o.workers = workers;
  std::vector<int> nodes;
  for (int cpu : chosen_cpus(o, m)) nodes.push_back(m.cpus[static_cast<std::size_t>(cpu)].node);
  return nodes;
}

TEST(chosen_cpus, one_worker_a_cpu) {
  const machine::description m = machine::synthetic(3, 4);
  const std::vector<int> cpus = chosen_cpus({.workers = 12}, m);
  EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), 12u);
}

TEST(chosen_cpus, few_workers_are_spread_over_the_nodes) {
  const machine::description m = machine::synthetic(4, 4);
  EXPECT_EQ(nodes_of_workers(1, m), (std::vector{0}));
  EXPECT_EQ(nodes_of_workers(4, m), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(nodes_of_workers(6, m), (std::vector{0, 0, 1, 1, 2, 3}));
}

TEST(chosen_cpus, more_workers_than_cpus_share_them_evenly) {
  const machine::description m = machine::synthetic(2, 2);
  EXPECT_EQ(nodes_of_workers(10, m), (std::vector{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  const std::vector<int> cpus = chosen_cpus({.workers = 10}, m);
  for (int c = 0; c < 4; c++) EXPECT_GE(std::count(cpus.begin(), cpus.end(), c), 2);
}

TEST(chosen_cpus, uneven_nodes_and_nodes_without_cpus) {
  machine::description m = machine::synthetic(2, 4);
  // The second node keeps one CPU; a third one is memory only.
  m.nodes[1].cpus.resize(1);
  m.cpus.resize(5);
  m.nodes.push_back({.os_index = 2, .memory_bytes = 1 << 30, .cpus = {}});
  EXPECT_EQ(nodes_of_workers(5, m), (std::vector{0, 0, 0, 0, 1}));
  EXPECT_EQ(nodes_of_workers(3, m), (std::vector{0, 0, 1}));
}

TEST(chosen_spin, where_nobody_asks_and_where_somebody_does) {
  unsetenv("WEIR_SPIN");
  machine::description m = machine::synthetic(2, 2);
  m.is_host = true;
  EXPECT_EQ(chosen_spin_ns({}, m, 4), 2'000'000u);
  EXPECT_EQ(chosen_spin_ns({}, m, 5), 0u);  // somebody shares a CPU
  EXPECT_EQ(chosen_spin_ns({.spin = 7}, m, 5), 7000u);
  m.cpu_quota = 1.5;
  EXPECT_EQ(chosen_spin_ns({}, m, 4), 0u);
  setenv("WEIR_SPIN", "30", 1);
  EXPECT_EQ(chosen_spin_ns({}, m, 4), 30'000u);
  EXPECT_EQ(chosen_spin_ns({.spin = 0}, m, 4), 0u);
  for (const char* bad : {"-1", "2ms", "1.5", "x"}) {
    setenv("WEIR_SPIN", bad, 1);
    EXPECT_THROW(chosen_spin_ns({}, m, 4), configuration_error) << bad;
  }
  unsetenv("WEIR_SPIN");
}

TEST(chosen_cpus, a_quota_bounds_the_default_and_not_a_number_asked_for) {
  unsetenv("WEIR_WORKERS");
  machine::description m = machine::synthetic(2, 4);
  EXPECT_EQ(chosen_cpus({}, m).size(), 8u);
  m.cpu_quota = 2.5;
  EXPECT_EQ(chosen_cpus({}, m).size(), 3u);
  m.cpu_quota = 0.1;
  EXPECT_EQ(chosen_cpus({}, m).size(), 1u);
  m.cpu_quota = 100;
  EXPECT_EQ(chosen_cpus({}, m).size(), 8u);
  m.cpu_quota = 2;
  EXPECT_EQ(chosen_cpus({.workers = 6}, m).size(), 6u);
}

TEST(chosen_cpus, no_cpu_is_an_error) {
  machine::description m = machine::synthetic(1, 1);
  m.cpus.clear();
  m.nodes[0].cpus.clear();
  EXPECT_THROW(chosen_cpus({}, m), machine_error);
}

TEST(statistics_text, says_what_was_counted) {
  statistics s;
  s.policy = "local";
  s.workers = s.nodes = 1;
  s.tasks = 7;
  s.seconds = 1.25;
  s.distance_classes = {10, 22};
  s.steals_by_distance = {3, 4};
  s.read_bytes_by_distance = {3 << 20, 1 << 20};
  s.write_bytes_by_distance = {0, 512};
  s.peak_buffer_bytes = 1536;
  EXPECT_EQ(s.steals(), 7u);
  EXPECT_EQ(s.read_local(), 3u << 20);
  EXPECT_EQ(s.read_remote(), 1u << 20);
  EXPECT_EQ(s.write_local(), 0u);
  EXPECT_EQ(s.write_remote(), 512u);
  EXPECT_NEAR(s.locality(), 0.75, 0.001);
  const std::string text = s.to_string();
  for (const char* part : {"1 worker on 1 node", "1.250 s", "75.0 %", "at distance 22", "read 1.0 MiB, written 512 B, steals 4", "1.5 KiB"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace
}  // namespace weir::detail
