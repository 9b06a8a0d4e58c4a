// What streams promise beyond their order (tests/oracle): sizes of zero, arrays, what is left over.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

TEST(stream, zero_elements_match_nothing) {
  watchdog dog(30);
  runtime rt({.workers = 2});
  const auto s = rt.make_stream<int>();
  std::atomic<int> ran{0};
  rt.spawn(s.pop(0), s.peek(0), s.push(0), s.tick(0), [&](auto a, auto b, auto c) {
    EXPECT_TRUE(a.empty() && b.empty() && c.empty());
    ran++;
  });
  rt.spawn(s.push(1), [](auto v) { v[0] = 4; });
  rt.spawn(s.pop(0), [&](auto) { ran++; });
  rt.spawn(s.push(0), [&](auto) { ran++; });
  rt.spawn(s.pop(1), [&](auto v) { ran += v[0]; });
  rt.wait();
  EXPECT_EQ(ran, 7);
}

TEST(stream, arrays_take_the_same_count_from_each) {
  runtime rt({.workers = 2});
  std::vector<stream<int>> all;
  for (int i = 0; i < 5; i++) all.push_back(rt.make_stream<int>());
  std::atomic<int> sum{0};
  rt.spawn(pop_each(all, 2), peek_each(std::vector<stream<int>>{}, 3), [&](auto v, auto none) {
    EXPECT_EQ(v.size(), 5u);
    EXPECT_EQ(none.size(), 0u);
    for (std::size_t i = 0; i < v.size(); i++) sum += v[i][0] * 100 + v[i][1];
  });
  rt.spawn(push_each(all, 2), [](auto v) {
    for (std::size_t i = 0; i < v.size(); i++) {
      v[i][0] = 1;
      v[i][1] = static_cast<int>(i);
    }
  });
  rt.wait();
  EXPECT_EQ(sum, 510);
}

TEST(stream, what_nobody_consumed_is_dropped_with_a_warning) {
  for (const char* policy : {"local", "steal"}) {
    runtime rt({.workers = 2, .policy = policy});
    ::testing::internal::CaptureStderr();
    {
      const auto s = rt.make_stream<int>("left over");
      const auto copy = s;
      rt.spawn(s.push(10), [](auto v) { v[0] = 1; });
      rt.spawn(s.pop(3), [](auto) {});
      rt.wait();
    }
    const std::string warning = ::testing::internal::GetCapturedStderr();
    WEIR_EXPECT_CONTAINS(warning, "left over");
    WEIR_EXPECT_CONTAINS(warning, "7 elements");
    rt.wait();
    rt.reset_statistics();
    EXPECT_LE(rt.stats().live_buffer_bytes, 40u) << "what was dropped is still there";
  }
}

TEST(stream, what_was_consumed_is_not_warned_of) {
  ::testing::internal::CaptureStderr();
  {
    runtime rt({.workers = 2});
    const auto s = rt.make_stream<int>("used up");
    rt.spawn(s.push(3), [](auto v) { v[0] = 1; });
    rt.spawn(s.pop(2), [](auto) {});
    rt.spawn(s.tick(1), [] {});
    rt.wait();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(stream, handles_may_die_before_their_tasks) {
  runtime rt({.workers = 1});
  gate g;
  std::atomic<int> sum{0};
  rt.spawn([&] { g.pass(); });
  {
    const auto s = rt.make_stream<int>("short-lived");
    rt.spawn(s.pop(3), [&](auto v) { sum += v[0] + v[1] + v[2]; });
    for (int i = 1; i <= 3; i++) rt.spawn(s.push(1), [i](auto v) { v[0] = i; });
  }
  g.open();
  rt.wait();
  EXPECT_EQ(sum, 6);
}

TEST(stream, elements_are_released_once_they_are_passed) {
  runtime rt({.workers = 1, .policy = "deferred"});
  const auto s = rt.make_stream<char>();
  constexpr std::size_t burst = 256 * 1024;
  for (int i = 0; i < 200; i++) {
    rt.spawn(s.push(burst), [](auto v) { v[0] = 1; });
    rt.spawn(s.pop(burst), [](auto) {});
    rt.wait();
  }
  EXPECT_LE(rt.stats().peak_buffer_bytes, 3 * burst);
}

// Sliding windows over a long stream; windows overlap and pushes lie across them.
TEST(stream, sliding_windows) {
  runtime rt({.workers = 2});
  const auto s = rt.make_stream<int>();
  constexpr int windows = 500, width = 7;
  std::atomic<int> wrong{0};
  for (int i = 0; i < windows; i++) {
    rt.spawn(s.peek(width), [i, &wrong](auto v) {
      for (int k = 0; k < width; k++) wrong += v[static_cast<std::size_t>(k)] != i + k;
    });
    rt.spawn(s.tick(1), [] {});
  }
  for (int next = 0; next < windows + width - 1;) {
    const int n = std::min(3, windows + width - 1 - next);
    rt.spawn(s.push(static_cast<std::size_t>(n)), [next](auto v) {
      for (std::size_t k = 0; k < v.size(); k++) v[k] = next + static_cast<int>(k);
    });
    next += n;
  }
  rt.spawn(s.tick(width - 1), [] {});
  rt.wait();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace weir::test
