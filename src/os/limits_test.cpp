// Limits on fake /proc and /sys trees, and of this process.
#include "os/limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

namespace weir::os {
namespace {

namespace fs = std::filesystem;

class fake_tree : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-limits-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  void TearDown() override { fs::remove_all(root); }

  void put(const std::string& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void put_cgroup2(const std::string& own, const std::string& mount_root = "/") {
    put("proc/self/cgroup", "0::" + own + "\n");
    put("proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n30 23 0:26 " + mount_root + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void put_cgroup1(const std::string& own, const std::string& mount_root = "/") {
    put("proc/self/cgroup", "9:name=systemd:/x\n4:memory:" + own + "\n3:cpu,cpuacct:" + own + "\n");
    put("proc/self/mountinfo", "31 30 0:28 " + mount_root + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
                                   "32 30 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" + "33 30 0:30 " + mount_root +
                                   " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }

  fs::path root;
};

TEST(index_list, reads_what_the_kernel_writes) {
  EXPECT_EQ(parse_index_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_index_list(""), std::vector<int>{});
  EXPECT_EQ(parse_index_list("5"), std::vector<int>{5});
  EXPECT_EQ(parse_index_list("3,1-2,2"), (std::vector<int>{1, 2, 3}));
}

TEST(index_list, refuses_what_it_does_not) {
  for (const char* bad : {"x", "1-", "-1", "3-1", "1,,2", "1-2-3", "0-99999999999", "65536", "1 2", ",", "0x3"}) EXPECT_FALSE(parse_index_list(bad)) << bad;
}

TEST(index_list, format_reverses_parse) {
  for (const char* text : {"", "0", "0-3", "0,2,4", "0-1,5,7-9"}) EXPECT_EQ(format_index_list(*parse_index_list(text)), text);
}

TEST_F(fake_tree, narrow_cpuset_and_memory_nodes) {
  put("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t2-3,6\nMems_allowed_list:\t1\n");
  limits l = read_limits(root);
  EXPECT_EQ(l.cpus, (std::vector<int>{2, 3, 6}));
  EXPECT_EQ(l.memory_nodes, std::vector<int>{1});
  EXPECT_EQ(l.cpu_quota, 0);
}

TEST_F(fake_tree, nothing_readable_is_unknown_and_unlimited) {
  limits l = read_limits(root / "missing");
  EXPECT_FALSE(l.cpus);
  EXPECT_FALSE(l.memory_nodes);
  EXPECT_EQ(l.cpu_quota, 0);
  EXPECT_EQ(l.memory_bytes, 0u);
}

TEST_F(fake_tree, version_2_quota_is_the_smallest_on_the_way_up) {
  put_cgroup2("/user/job");
  put("sys/fs/cgroup/user/job/cpu.max", "400000 100000\n");
  put("sys/fs/cgroup/user/cpu.max", "150000 100000\n");
  put("sys/fs/cgroup/user/job/memory.max", "max\n");
  put("sys/fs/cgroup/user/memory.max", "1073741824\n");
  limits l = read_limits(root);
  EXPECT_DOUBLE_EQ(l.cpu_quota, 1.5);
  EXPECT_EQ(l.cpu_quota_file, "/sys/fs/cgroup/user/cpu.max");
  EXPECT_EQ(l.memory_bytes, 1u << 30);
  EXPECT_EQ(l.memory_file, "/sys/fs/cgroup/user/memory.max");
}

TEST_F(fake_tree, version_2_max_is_unlimited) {
  put_cgroup2("/job");
  put("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(read_limits(root).cpu_quota, 0);
}

TEST_F(fake_tree, version_2_container_sees_its_cgroup_at_the_mount_point) {
  put_cgroup2("/docker/abc", "/docker/abc");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  limits l = read_limits(root);
  EXPECT_DOUBLE_EQ(l.cpu_quota, 0.5);
  EXPECT_EQ(l.cpu_quota_file, "/sys/fs/cgroup/cpu.max");
}

TEST_F(fake_tree, cgroup_outside_of_the_mount_uses_the_mount_point) {
  for (const char* own : {"/elsewhere", "/../../above", "/docker/abcdef"}) {
    put_cgroup2(own, "/docker/abc");
    put("sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_DOUBLE_EQ(read_limits(root).cpu_quota, 0.5) << own;
  }
}

TEST_F(fake_tree, version_1_quota_over_period) {
  put_cgroup1("/a/b");
  put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n");
  put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "536870912\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  limits l = read_limits(root);
  EXPECT_DOUBLE_EQ(l.cpu_quota, 2.5);
  EXPECT_EQ(l.cpu_quota_file, "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us");
  EXPECT_EQ(l.memory_bytes, 512u << 20);
}

TEST_F(fake_tree, mount_point_with_a_space) {
  put("proc/self/cgroup", "0::/\n");
  put("proc/self/mountinfo", "30 23 0:26 / /sys/fs/c\\040group rw - cgroup2 cgroup2 rw\n");
  put("sys/fs/c group/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(read_limits(root).cpu_quota, 3);
}

TEST_F(fake_tree, malformed_files_are_no_limit) {
  for (const char* quota : {"", "max", "x 100000", "100000 0", "-5 100000", "100000", "1e999 1"}) {
    put_cgroup2("/");
    put("sys/fs/cgroup/cpu.max", quota);
    put("sys/fs/cgroup/memory.max", "lots\n");
    put("proc/self/status", "Cpus_allowed_list:\nMems_allowed_list:\t9-1\n");
    limits l = read_limits(root);
    EXPECT_EQ(l.cpu_quota, 0) << quota;
    EXPECT_EQ(l.memory_bytes, 0u);
    EXPECT_FALSE(l.cpus);
    EXPECT_FALSE(l.memory_nodes);
  }
  put("proc/self/mountinfo", "garbage\n\n1 2\n- - - -\n");
  put("proc/self/cgroup", ":::\nx\n");
  EXPECT_EQ(read_limits(root).cpu_quota, 0);
}

TEST(this_process, may_use_the_cpu_it_runs_on) {
  limits l = read_limits();
  ASSERT_TRUE(l.cpus);
  int here = sched_getcpu();
  ASSERT_GE(here, 0);
  EXPECT_NE(std::find(l.cpus->begin(), l.cpus->end(), here), l.cpus->end());
}

}  // namespace
}  // namespace weir::os
