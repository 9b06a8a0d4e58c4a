// What a narrow cpuset, a quota and forbidden memory leave of a machine; the limits come from fake /proc and /sys trees.
#include <gtest/gtest.h>

#include "machine/detail.hpp"
#include "machine/temporary_folder.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

os::limits limits_of(const std::string& cpus, const std::string& memory_nodes, const temporary_folder& tree) {
  tree.put("proc/self/status", "Cpus_allowed_list:\t" + cpus + "\nMems_allowed_list:\t" + memory_nodes + "\n");
  return os::read_limits(tree.path());
}

std::string all_notes(const description& m) {
  std::string text;
  for (const std::string& note : m.notes) text += note + '\n';
  return text;
}

TEST(restrict_to, nothing_restricted_changes_nothing) {
  temporary_folder tree;
  description m = synthetic(2, 4);
  detail::restrict_to(m, limits_of("0-7", "0-1", tree));
  EXPECT_EQ(m.cpus.size(), 8u);
  EXPECT_EQ(m.node_count(), 2);
  EXPECT_EQ(all_notes(m), "");
}

TEST(restrict_to, narrow_cpuset) {
  temporary_folder tree;
  description m = synthetic(4, 4);
  detail::restrict_to(m, limits_of("1,6-7", "0-3", tree));
  ASSERT_EQ(m.cpus.size(), 3u);
  EXPECT_EQ(m.cpus[2].os_index, 7);
  EXPECT_EQ(m.nodes[0].cpus, std::vector<int>{0});
  EXPECT_EQ(m.nodes[1].cpus, (std::vector<int>{1, 2}));
  EXPECT_TRUE(m.nodes[3].cpus.empty()) << "its memory still counts";
  EXPECT_EQ(m.node_count(), 4);
  EXPECT_NE(all_notes(m).find("Only 3 of 16 CPUs may be used (CPUs 1,6-7"), std::string::npos);
  EXPECT_NE(all_notes(m).find("Nodes 2-3 have no CPU that may be used"), std::string::npos);
}

TEST(restrict_to, forbidden_memory_node_goes_and_its_cpus_move_to_the_nearest) {
  temporary_folder tree;
  description m = load(WEIR_SOURCE_FOLDER "/machines/opteron-64.toml");
  detail::restrict_to(m, limits_of("0-63", "0,2-7", tree));
  ASSERT_EQ(m.node_count(), 7);
  EXPECT_EQ(m.nodes[1].os_index, 2);
  EXPECT_EQ(m.nodes[0].cpus.size(), 16u) << "node 1's CPUs are now those of node 0, on the same package";
  EXPECT_EQ(m.read_ns.size(), 49u);
  EXPECT_DOUBLE_EQ(m.read_cost(1, 2), 138.8) << "old nodes 2 and 3 share a package";
  EXPECT_EQ(m.class_between(0, 1), 2);
  EXPECT_NE(all_notes(m).find("Node 1 may not be used for memory (cpuset): 8 GiB is out of reach"), std::string::npos);
}

TEST(restrict_to, node_without_memory_stays_for_its_cpus) {
  temporary_folder tree;
  description m = synthetic(2, 2);
  m.nodes[1].memory_bytes = 0;
  detail::restrict_to(m, limits_of("0-3", "0", tree));
  EXPECT_EQ(m.node_count(), 2);
  EXPECT_NE(all_notes(m).find("Node 1 has CPUs but no memory"), std::string::npos);
}

TEST(restrict_to, node_without_memory_and_without_cpus_goes) {
  temporary_folder tree;
  description m = synthetic(3, 2);
  m.nodes[1].memory_bytes = 0;
  detail::restrict_to(m, limits_of("0-1,4-5", "0-2", tree));
  EXPECT_EQ(m.node_count(), 2);
  EXPECT_EQ(m.cpus[2].node, 1);
}

TEST(restrict_to, no_cpu_or_no_memory_left_is_an_error) {
  temporary_folder tree;
  description m = synthetic(2, 2);
  EXPECT_THROW(detail::restrict_to(m, limits_of("8-9", "0-1", tree)), machine_error);
  m = synthetic(2, 2);
  EXPECT_THROW(detail::restrict_to(m, limits_of("0-3", "5", tree)), machine_error);
}

TEST(restrict_to, unknown_limits_restrict_nothing_but_are_noted) {
  temporary_folder tree;
  description m = synthetic(2, 2);
  detail::restrict_to(m, os::read_limits(tree.path()));
  EXPECT_EQ(m.cpus.size(), 4u);
  EXPECT_EQ(m.notes.size(), 2u);
}

TEST(restrict_to, quota_of_both_cgroup_versions) {
  for (bool unified : {true, false}) {
    temporary_folder tree;
    if (unified) {
      tree.put("proc/self/cgroup", "0::/job\n");
      tree.put("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
      tree.put("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    } else {
      tree.put("proc/self/cgroup", "3:cpu,cpuacct:/job\n");
      tree.put("proc/self/mountinfo", "31 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
      tree.put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "250000\n");
      tree.put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    }
    description m = synthetic(2, 4);
    detail::restrict_to(m, limits_of("0-7", "0-1", tree));
    EXPECT_DOUBLE_EQ(m.cpu_quota, 2.5);
    EXPECT_NE(all_notes(m).find("the time of 2.5 CPUs"), std::string::npos);
  }
}

TEST(restrict_to, memory_limit_is_noted_only_if_it_is_less_than_the_machine_has) {
  os::limits limits;
  limits.cpus = {0, 1};
  limits.memory_nodes = {0};
  limits.memory_bytes = std::uint64_t{2} << 30;
  description m = synthetic(1, 2);
  detail::restrict_to(m, limits);
  EXPECT_EQ(m.memory_limit_bytes, limits.memory_bytes);
  EXPECT_NE(all_notes(m).find("grants 2 GiB of 16 GiB"), std::string::npos);
  limits.memory_bytes = std::uint64_t{64} << 30;
  m = synthetic(1, 2);
  detail::restrict_to(m, limits);
  EXPECT_EQ(m.memory_limit_bytes, 0u);
}

TEST(assign_nodes_from_sysfs, corrects_what_hwloc_had_to_guess) {
  temporary_folder tree;
  tree.put("sys/devices/system/node/node0/cpulist", "\n");
  tree.put("sys/devices/system/node/node1/cpulist", "0-1\n");
  tree.put("sys/devices/system/node/node2/cpulist", "not a list\n");
  description m = load(WEIR_SOURCE_FOLDER "/tests/topo/input/memory-only.xml");
  detail::assign_nodes_from_sysfs(m, tree.path().string());
  EXPECT_EQ(m.nodes[0].cpus, (std::vector<int>{2, 3}));
  EXPECT_EQ(m.nodes[1].cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(m.nodes[2].cpus.size(), 4u);
}

}  // namespace
}  // namespace weir::machine
