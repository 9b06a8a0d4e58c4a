// Machines that change, as fake /sys trees; and this one.
#include "os/hardware.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace weir::os {
namespace {

namespace fs = std::filesystem;

class fake_machine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-hardware-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
    put("cpu", "0-7\n");
    put("node", "0-1\n");
  }
  void TearDown() override { fs::remove_all(root); }

  void put(const std::string& kind, const std::string& online) {
    const fs::path folder = root / "sys/devices/system" / kind;
    fs::create_directories(folder);
    std::ofstream(folder / "online") << online;
  }

  fs::path root;
};

TEST_F(fake_machine, changes_with_its_cpus_and_nodes) {
  const auto before = read_hardware_state(root);
  ASSERT_TRUE(before);
  EXPECT_EQ(read_hardware_state(root), before);
  put("cpu", "0-3,5-7\n");
  EXPECT_NE(read_hardware_state(root), before);
  put("cpu", "0-7\n");
  EXPECT_EQ(read_hardware_state(root), before);
  put("node", "0-2\n");
  EXPECT_NE(read_hardware_state(root), before);
}

TEST_F(fake_machine, may_know_no_nodes_but_must_know_its_cpus) {
  fs::remove_all(root / "sys/devices/system/node");
  ASSERT_TRUE(read_hardware_state(root));
  EXPECT_EQ(read_hardware_state(root)->nodes_online, "");
  fs::remove_all(root / "sys/devices/system/cpu");
  EXPECT_FALSE(read_hardware_state(root));
}

TEST(hardware_state, of_this_machine_stays_the_same) {
  const auto state = read_hardware_state();
  if (!state) GTEST_SKIP() << "this system has no /sys/devices/system/cpu/online";
  EXPECT_GT(state->memory_units, 0u);
  EXPECT_EQ(read_hardware_state(), state);
}

}  // namespace
}  // namespace weir::os
