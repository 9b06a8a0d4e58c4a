// Whether tokens are shared is decided by what was measured, here on a clock of the test's own.
#include <weir/detail/pipeline_pace.hpp>

#include <gtest/gtest.h>

namespace weir::detail {
namespace {

constexpr std::size_t stages = 8;

// A pipeline whose tokens take so long if they are shared, and if they are not.
struct line {
  pipeline_pace pace{stages};
  std::uint64_t now_ns = 1'000'000, clock_reads = 0;

  // How many of so many tokens were alone.
  int pass(int tokens, std::uint64_t shared_ns, std::uint64_t alone_ns) {
    int alone = 0;
    for (int i = 0; i < tokens; i++) {
      pace.before_token([this] { return clock_reads++, now_ns; });
      alone += pace.is_alone() ? 1 : 0;
      now_ns += pace.is_alone() ? alone_ns : shared_ns;
    }
    return alone;
  }
};

TEST(pipeline_pace, keeps_the_faster_way) {
  line short_stages;
  EXPECT_GE(short_stages.pass(100'000, 1500, 300), 99'000);
  line long_stages;
  EXPECT_LE(long_stages.pass(100'000, 2400, 4500), 1000);
}

TEST(pipeline_pace, never_tries_alone_what_is_long) {
  line l;
  EXPECT_EQ(l.pass(10'000, stages * 2001, 1), 0);
}

// From the first few thousand tokens on.
TEST(pipeline_pace, loses_little_by_trying) {
  constexpr int tokens = 4000;
  for (const std::uint64_t workers : {2, 8, 64}) {
    line l;
    const std::uint64_t shared_ns = 3000, begin = l.now_ns;
    l.pass(tokens, shared_ns, workers * shared_ns);
    EXPECT_LE(l.now_ns - begin, tokens * shared_ns * 105 / 100 + workers * shared_ns);
  }
  line l;
  const std::uint64_t begin = l.now_ns;
  l.pass(tokens, 1500, 500);
  EXPECT_LE(l.now_ns - begin, tokens * 500 * 111 / 100);
}

// However long it was to be alone: fifty tokens or so are lost.
TEST(pipeline_pace, notices_that_tokens_have_changed) {
  for (const int before : {1000, 500'000}) {
    line l;
    l.pass(before, 1500, 300);
    ASSERT_TRUE(l.pace.is_alone());
    EXPECT_LE(l.pass(2000, 3000, 100'000), 60);
  }
}

TEST(pipeline_pace, looks_at_the_clock_seldom) {
  line l;
  l.pass(100'000, 2400, 4500);
  EXPECT_LE(l.clock_reads, 400);
}

}  // namespace
}  // namespace weir::detail
