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
  const host_facts facts = read_host(file);
  EXPECT_EQ(facts.balancing_not_on, "");
  EXPECT_EQ(facts.balancing_not_off, "");
  EXPECT_EQ(now(), "1");
  EXPECT_GE(facts.nodes, 1);
  EXPECT_FALSE(facts.node_cpus.empty());
}

TEST_F(balancing, is_off_where_the_kernel_has_none) {
  const host_facts facts = read_host(file);
  EXPECT_EQ(facts.balancing_not_on, "this kernel has no numa_balancing");
  EXPECT_EQ(facts.balancing_not_off, "");
  EXPECT_FALSE(fs::exists(file));
}

// Root may write to any file but one of the kernel's own; this one begins with a word, which is no number and so off.
TEST_F(balancing, that_cannot_be_switched_says_who_may) {
  const host_facts facts = read_host("/proc/version");
  EXPECT_EQ(facts.balancing_not_on,
            "numa_balancing is off and only root may switch it on (sysctl kernel.numa_balancing=1)");
  EXPECT_EQ(facts.balancing_not_off, "");
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

}  // namespace
}  // namespace weir::tools
