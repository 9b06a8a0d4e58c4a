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

TEST(chosen_statistics, zero_one_and_nothing_else) {
  for (const auto& [text, chosen] : {std::pair{"", false}, {"0", false}, {"1", true}}) {
    setenv("WEIR_STATS", text, 1);
    EXPECT_EQ(chosen_statistics(), chosen) << text;
  }
  for (const char* bad : {"yes", "2", "true", " 1"}) {
    setenv("WEIR_STATS", bad, 1);
    EXPECT_THROW(chosen_statistics(), configuration_error) << bad;
  }
  unsetenv("WEIR_STATS");
}

TEST(chosen_machine, the_variable_where_the_option_is_open) {
  setenv("WEIR_MACHINE", "nodes:3 cpus:2", 1);
  EXPECT_EQ(chosen_machine({}).node_count(), 3);
  EXPECT_EQ(chosen_machine({.machine = "nodes:2 cpus:1"}).node_count(), 2);
  EXPECT_TRUE(chosen_machine({.machine = "host"}).is_host);
  setenv("WEIR_MACHINE", "opteron-64", 1);
  EXPECT_EQ(chosen_machine({}).node_count(), 8);
  setenv("WEIR_MACHINE", "nodes:0 cpus:1", 1);
  try {
    chosen_machine({});
    ADD_FAILURE() << "a machine without nodes";
  } catch (const machine_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("WEIR_MACHINE: ")) << e.what();
  }
  unsetenv("WEIR_MACHINE");
}

TEST(misspelt_variable, near_names_and_no_others) {
  for (const auto& [name, meant] : {std::pair{"WEIR_WORKER", "WEIR_WORKERS"}, {"WEIR_STAST", "WEIR_STATS"}, {"WEIR_POLCY", "WEIR_POLICY"}, {"WEIR_MACHINES", "WEIR_MACHINE"}}) {
    const std::string said = misspelt_variable(std::string(name) + "=4");
    EXPECT_NE(said.find(name), std::string::npos) << said;
    EXPECT_NE(said.find(std::string("did you mean ") + meant + "?"), std::string::npos) << said;
  }
  for (const char* other : {"WEIR_WORKERS=4", "WEIR_MACHINE=", "WEIR_TEST_SEED=1", "WEIR_MODEL_RUNS=2", "WEIR_STRESS_SECONDS=2", "WEIR_GUEST_NODES=2", "WEIR_=1", "weir_workers=1", "HOME=/", ""})
    EXPECT_EQ(misspelt_variable(other), "") << other;
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
