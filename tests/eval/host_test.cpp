// What an evaluation asks of the machine, with files in place of the kernel's.
#include <tools/eval/host.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace weir::tools {
namespace {

namespace fs = std::filesystem;

class balancing : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-balancing-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    file = folder / "numa_balancing";
  }
  void TearDown() override { fs::remove_all(folder); }

  void put(const std::string& text) { std::ofstream(file) << text << '\n'; }
  std::string now() {
    std::string text;
    std::ifstream(file) >> text;
    return text;
  }

  fs::path folder, file;
};

TEST_F(balancing, can_be_switched_where_the_file_can_be_written) {
  put("1");
  EXPECT_EQ(why_no_numa_balancing(true, file), "");
  EXPECT_EQ(why_no_numa_balancing(false, file), "");
  EXPECT_EQ(now(), "1");
}

TEST_F(balancing, is_off_where_the_kernel_has_none) {
  EXPECT_EQ(why_no_numa_balancing(true, file), "this kernel has no numa_balancing");
  EXPECT_EQ(why_no_numa_balancing(false, file), "");
  EXPECT_FALSE(fs::exists(file));
}

// Root may write to any file but one of the kernel's own; this one begins with a word, which is no number and so off.
TEST_F(balancing, that_cannot_be_switched_says_who_may) {
  EXPECT_EQ(why_no_numa_balancing(true, "/proc/version"),
            "numa_balancing is off and only root may switch it on (sysctl kernel.numa_balancing=1)");
  EXPECT_EQ(why_no_numa_balancing(false, "/proc/version"), "");
  EXPECT_FALSE(numa_balancing_setting(true, "/proc/version").done());
}

TEST_F(balancing, is_as_it_was_afterwards) {
  for (const char* const before : {"0", "1", "2", "3"}) {
    put(before);
    for (const bool wanted : {false, true}) {
      {
        const numa_balancing_setting setting(wanted, file);
        EXPECT_TRUE(setting.done());
        EXPECT_EQ((std::atoi(now().c_str()) & 1) == 1, wanted);
      }
      EXPECT_EQ(now(), before);
    }
    const numa_balancing_setting nothing(std::nullopt, file);
    EXPECT_EQ(now(), before);
  }
}

TEST(host, has_nodes_with_cpus) {
  const host_facts facts = read_host();
  EXPECT_GE(facts.nodes, 1);
  ASSERT_FALSE(facts.node_cpus.empty());
  for (const auto& cpus : facts.node_cpus) EXPECT_FALSE(cpus.empty());
}

}  // namespace
}  // namespace weir::tools
