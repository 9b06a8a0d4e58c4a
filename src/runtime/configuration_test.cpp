// What options and environment ask for, and what statistics say.
#include "runtime/runtime.hpp"

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

TEST(chosen_tuning, takes_numbers_by_name_and_refuses_others) {
  unsetenv("WEIR_TUNING");
  EXPECT_EQ(chosen_tuning().watch_ns, sched::tuning{}.watch_ns);
  setenv("WEIR_TUNING", "watch_ns=7,inbox_capacity=32", 1);
  EXPECT_EQ(chosen_tuning().watch_ns, 7);
  EXPECT_EQ(chosen_tuning().inbox_capacity, 32);
  for (const char* bad :
       {"watch_ns", "watch_ns=", "watch_ns=0", "watch_ns=7x", "no_such=1", "=1", "small_group=99999"}) {
    setenv("WEIR_TUNING", bad, 1);
    EXPECT_THROW(chosen_tuning(), configuration_error) << bad;
  }
  unsetenv("WEIR_TUNING");
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
  for (const auto& [name, meant] : {std::pair{"WEIR_WORKER", "WEIR_WORKERS"},
                                    {"WEIR_STAST", "WEIR_STATS"},
                                    {"WEIR_POLCY", "WEIR_POLICY"},
                                    {"WEIR_MACHINES", "WEIR_MACHINE"}}) {
    const std::string said = misspelt_variable(std::string(name) + "=4");
    EXPECT_NE(said.find(name), std::string::npos) << said;
    EXPECT_NE(said.find(std::string("did you mean ") + meant + "?"), std::string::npos) << said;
  }
  for (const char* other : {"WEIR_WORKERS=4", "WEIR_MACHINE=", "WEIR_TEST_SEED=1", "WEIR_MODEL_RUNS=2",
                            "WEIR_STRESS_SECONDS=2", "WEIR_GUEST_NODES=2", "WEIR_=1", "weir_workers=1", "HOME=/", ""})
    EXPECT_EQ(misspelt_variable(other), "") << other;
}

TEST(chosen_workers, a_quota_bounds_the_default_and_not_a_number_asked_for) {
  unsetenv("WEIR_WORKERS");
  machine::description m = machine::synthetic(2, 4);
  EXPECT_EQ(chosen_workers({}, m), 8);
  m.cpu_quota = 2.5;
  EXPECT_EQ(chosen_workers({}, m), 3);
  m.cpu_quota = 0.1;
  EXPECT_EQ(chosen_workers({}, m), 1);
  m.cpu_quota = 100;
  EXPECT_EQ(chosen_workers({}, m), 8);
  m.cpu_quota = 2;
  EXPECT_EQ(chosen_workers({.workers = 6}, m), 6);
}

TEST(chosen_stack, where_nobody_asks_and_where_somebody_does) {
  unsetenv("WEIR_STACK_BYTES");
  const os::stack_size usual = chosen_stack({});
  EXPECT_GE(usual.wanted_bytes, usual.least_bytes);
  EXPECT_EQ(chosen_stack({.stack_bytes = 1 << 20}).wanted_bytes, std::size_t{1} << 20);
  EXPECT_EQ(chosen_stack({.stack_bytes = 1 << 20}).least_bytes, std::size_t{1} << 20);
  EXPECT_THROW(chosen_stack({.stack_bytes = 1000}), configuration_error);
  setenv("WEIR_STACK_BYTES", "3000000", 1);
  EXPECT_EQ(chosen_stack({}).wanted_bytes, 3'000'000u);
  EXPECT_EQ(chosen_stack({.stack_bytes = 1 << 20}).wanted_bytes, std::size_t{1} << 20);
  setenv("WEIR_STACK_BYTES", "0", 1);
  EXPECT_EQ(chosen_stack({}).wanted_bytes, usual.wanted_bytes);
  for (const char* bad : {"-1", "8M", "1000", "2000000000000", "x"}) {
    setenv("WEIR_STACK_BYTES", bad, 1);
    EXPECT_THROW(chosen_stack({}), configuration_error) << bad;
  }
  unsetenv("WEIR_STACK_BYTES");
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
  EXPECT_NEAR(s.locality().value(), 0.75, 0.001);
  const std::string text = s.to_string();
  for (const char* part : {"1 worker on 1 node", "1.250 s", "75.0 %", "at distance 22", "read 1.0 MiB, written 512 B, steals 4", "1.5 KiB"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

}  // namespace
}  // namespace weir::detail
