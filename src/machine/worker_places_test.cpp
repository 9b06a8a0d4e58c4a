// Which CPUs the workers get, on machines of every shape and beside other runtimes of the process.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "machine/machine.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

std::vector<int> nodes_of(const description& m, const std::vector<int>& cpus) {
  std::vector<int> nodes;
  for (int cpu : cpus) nodes.push_back(m.cpus[static_cast<std::size_t>(cpu)].node);
  return nodes;
}
std::vector<int> nodes_of_workers(int workers, const description& m, const cpu_load& others = {}) {
  return nodes_of(m, spread_workers(m, workers, others));
}

// Two nodes with 4 CPUs and 1, and one that is memory only.
description uneven() {
  description m = synthetic(2, 4);
  m.nodes[1].cpus.resize(1);
  m.cpus.resize(5);
  m.nodes.push_back({.os_index = 2, .memory_bytes = 1 << 30, .cpus = {}});
  return m;
}

TEST(spread_workers, one_worker_a_cpu) {
  const description m = synthetic(3, 4);
  const std::vector<int> cpus = spread_workers(m, 12);
  EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), 12u);
}

TEST(spread_workers, few_workers_are_spread_over_the_nodes) {
  const description m = synthetic(4, 4);
  EXPECT_EQ(nodes_of_workers(1, m), (std::vector{0}));
  EXPECT_EQ(nodes_of_workers(4, m), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(nodes_of_workers(6, m), (std::vector{0, 0, 1, 1, 2, 3}));
}

TEST(spread_workers, more_workers_than_cpus_share_them_evenly) {
  const description m = synthetic(2, 2);
  EXPECT_EQ(nodes_of_workers(10, m), (std::vector{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  const std::vector<int> cpus = spread_workers(m, 10);
  for (int c = 0; c < 4; c++) EXPECT_GE(std::count(cpus.begin(), cpus.end(), c), 2);
}

TEST(spread_workers, uneven_nodes_and_nodes_without_cpus) {
  const description m = uneven();
  EXPECT_EQ(nodes_of_workers(5, m), (std::vector{0, 0, 0, 0, 1}));
  EXPECT_EQ(nodes_of_workers(3, m), (std::vector{0, 0, 1}));
}

TEST(spread_workers, no_cpu_is_an_error) {
  description m = synthetic(1, 1);
  m.cpus.clear();
  m.nodes[0].cpus.clear();
  EXPECT_THROW(spread_workers(m, 1), machine_error);
}

TEST(spread_workers, other_runtimes_are_avoided) {
  const description m = synthetic(2, 2);  // CPUs 0 and 1, 2 and 3
  EXPECT_EQ(spread_workers(m, 1, {{0, 1}}), (std::vector{2}));
  EXPECT_EQ(spread_workers(m, 1, {{0, 1}, {2, 1}}), (std::vector{1}));
  EXPECT_EQ(spread_workers(m, 1, {{0, 2}, {1, 1}, {2, 2}, {3, 2}}), (std::vector{1}));
  EXPECT_EQ(spread_workers(m, 2, {{0, 1}}), (std::vector{1, 2}));
  EXPECT_EQ(spread_workers(m, 2, {{0, 1}, {1, 1}}), (std::vector{2, 3}))
      << "a CPU of one's own before a node of one's own";
}

TEST(spread_workers, a_worker_for_every_cpu_whoever_is_there) {
  const description m = synthetic(2, 2);
  const std::vector<int> cpus = spread_workers(m, 4, {{0, 7}, {3, 1}});
  EXPECT_EQ(std::set<int>(cpus.begin(), cpus.end()).size(), 4u);
}

TEST(bindings, to_the_node_where_it_has_cpus_to_spare) {
  const description m = synthetic(2, 2);
  using all = std::vector<std::vector<int>>;
  EXPECT_EQ(bindings(m, spread_workers(m, 1)), (all{{0, 1}}));
  EXPECT_EQ(bindings(m, spread_workers(m, 2)), (all{{0, 1}, {2, 3}}));
  EXPECT_EQ(bindings(m, spread_workers(m, 3)), (all{{0}, {1}, {2, 3}}));
  EXPECT_EQ(bindings(m, spread_workers(m, 4)), (all{{0}, {1}, {2}, {3}}));
  for (const auto& cpus : bindings(m, spread_workers(m, 9))) EXPECT_EQ(cpus.size(), 1u);
  EXPECT_EQ(bindings(uneven(), spread_workers(uneven(), 2)), (all{{0, 1, 2, 3}, {4}}));
}

TEST(cpu_claim, is_counted_as_long_as_it_lives) {
  const description m = synthetic(2, 2);
  {
    std::optional<cpu_claim> first(std::in_place, m, 1, true);
    EXPECT_EQ(workers_of_this_process(), (cpu_load{{0, 1}}));
    cpu_claim second(m, 1, true);
    EXPECT_EQ(second.worker_cpus(), (std::vector{2}));
    const cpu_claim uncounted(m, 4, false);
    first.reset();
    EXPECT_EQ(workers_of_this_process(), (cpu_load{{2, 1}}));
    cpu_claim moved(std::move(second));
    const cpu_claim third(m, 1, true);
    EXPECT_EQ(third.worker_cpus(), (std::vector{0}));
    moved.give_back();
    moved.give_back();
    EXPECT_EQ(workers_of_this_process(), (cpu_load{{0, 1}}));
  }
  EXPECT_TRUE(workers_of_this_process().empty());
}

TEST(cpu_claim, a_forked_child_counts_anew) {
  const description m = synthetic(2, 2);
  std::optional<cpu_claim> parents(std::in_place, m, 3, true);
  const pid_t child = fork();
  if (child == 0) {
    bool right = workers_of_this_process().empty();
    const cpu_claim own(m, 1, true);
    right = right && own.worker_cpus() == std::vector{0};
    parents.reset();
    _exit(right && workers_of_this_process() == cpu_load{{0, 1}} ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(workers_of_this_process().size(), 3u);
}

}  // namespace
}  // namespace weir::machine
