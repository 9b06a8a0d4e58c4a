// Bytes that a failed task should have written are lost: who reads one of them is skipped, who overwrites them runs.
// Each case with the failed task over before the others are created, and still to run.
#include "tests/oracle/spawn_ranges.hpp"

#include <stdexcept>
#include <string>

namespace weir::test {
namespace {

class range_failures : public ::testing::TestWithParam<bool> {
 protected:
  // A task that fails, or others that must run or be skipped, on bytes [first, end).
  void fail(mode how, std::size_t first, std::size_t end) {
    // Who overwrites what the failed one has read waits until it is over, and runs.
    spawn_ranges(rt, nullptr, {part(how, first, end), {mode::in, signal}}, nullptr, [this](const data_views*) {
      door.pass();
      throw std::runtime_error("on purpose");
    });
    if (!over_before()) return;
    door.open();
    std::atomic<bool> is_over{false};
    rt.spawn(out(ref(signal)), [&](auto) { is_over = true; });
    while (!is_over) std::this_thread::yield();
  }
  void runs(mode how, std::size_t first, std::size_t end) { spawn(how, first, end, ran, expected_runs); }
  void is_skipped(mode how, std::size_t first, std::size_t end) {
    std::size_t none = 0;
    spawn(how, first, end, ran_though_lost, none);
  }
  void expect_failure() {
    door.open();
    EXPECT_THROW(rt.wait(), task_failed);
    check();
  }
  void check() {
    EXPECT_EQ(ran, expected_runs);
    EXPECT_EQ(ran_though_lost, 0u);
  }
  bool over_before() const { return GetParam(); }
  named_bytes part(mode how, std::size_t first, std::size_t end) {
    return {how, std::span(bytes).subspan(first, end - first)};
  }

  watchdog dog{60, "failures and ranges"};
  std::vector<byte> bytes = std::vector<byte>(64), signal = std::vector<byte>(1);
  gate door;
  std::atomic<std::size_t> ran{0}, ran_though_lost{0};
  std::size_t expected_runs = 0;
  runtime rt{{.workers = 2}};

 private:
  void spawn(mode how, std::size_t first, std::size_t end, std::atomic<std::size_t>& counter, std::size_t& expected) {
    expected++;
    spawn_ranges(rt, nullptr, {part(how, first, end)}, nullptr, [&counter](const data_views*) { counter++; });
  }
};

TEST_P(range_failures, readers_of_any_lost_byte_are_skipped) {
  fail(mode::out, 10, 20);
  is_skipped(mode::in, 10, 20);
  is_skipped(mode::in, 0, 64);
  is_skipped(mode::in, 19, 21);
  runs(mode::in, 0, 10);
  runs(mode::inout, 20, 64);
  is_skipped(mode::in, 5, 11);
  expect_failure();
}

TEST_P(range_failures, what_is_overwritten_is_no_longer_lost) {
  fail(mode::out, 0, 64);
  runs(mode::out, 20, 40);
  runs(mode::in, 20, 40);
  runs(mode::inout, 25, 30);
  is_skipped(mode::in, 19, 40);
  is_skipped(mode::in, 20, 41);
  runs(mode::out, 10, 20);
  runs(mode::in, 10, 40);
  is_skipped(mode::in, 0, 10);
  is_skipped(mode::in, 63, 64);
  runs(mode::out, 0, 64);
  runs(mode::in, 0, 64);
  expect_failure();
}

TEST_P(range_failures, what_a_skipped_task_should_have_written_is_lost_too) {
  fail(mode::inout, 0, 10);
  spawn_ranges(rt, nullptr, {part(mode::in, 9, 10), part(mode::out, 20, 30)}, nullptr,
               [this](const data_views*) { ran_though_lost++; });
  is_skipped(mode::in, 29, 35);
  is_skipped(mode::inout, 25, 45);
  is_skipped(mode::in, 44, 45);
  runs(mode::in, 45, 64);
  runs(mode::in, 10, 20);
  runs(mode::out, 25, 45);
  runs(mode::in, 25, 45);
  is_skipped(mode::in, 20, 25);
  expect_failure();
}

TEST_P(range_failures, a_reader_that_fails_loses_nothing) {
  fail(mode::in, 0, 64);
  runs(mode::in, 0, 64);
  runs(mode::inout, 0, 30);
  runs(mode::out, 30, 64);
  runs(mode::in, 0, 64);
  expect_failure();
}

TEST_P(range_failures, writers_of_parts_that_are_lost_one_after_the_other) {
  fail(mode::out, 0, 32);
  fail(mode::out, 32, 64);
  runs(mode::out, 31, 33);
  is_skipped(mode::in, 0, 32);
  is_skipped(mode::in, 32, 64);
  runs(mode::in, 31, 33);
  expect_failure();
}

// What a scope that ends early leaves out is lost to others, too.
TEST_P(range_failures, what_a_cancelled_scope_should_have_written_is_lost) {
  scope s(rt);
  spawn_ranges(rt, &s, {part(mode::out, 0, 32)}, nullptr, [this](const data_views*) { door.pass(); });
  spawn_ranges(rt, &s, {part(mode::in, 0, 1), part(mode::out, 20, 40)}, nullptr,
               [this](const data_views*) { ran_though_lost++; });
  door.await_arrivals(1);
  s.cancel();
  if (over_before()) {
    door.open();
    s.wait();
  }
  runs(mode::in, 0, 20);
  is_skipped(mode::in, 20, 21);
  is_skipped(mode::inout, 39, 50);
  runs(mode::out, 30, 40);
  runs(mode::in, 30, 39);
  is_skipped(mode::in, 25, 35);
  is_skipped(mode::in, 49, 50);
  door.open();
  s.wait();
  EXPECT_THROW(rt.wait(), task_cancelled);
  check();
}

// Once nothing is left that could fail, memory may be used for something else.
TEST_P(range_failures, a_wait_that_throws_nothing_forgets_what_is_lost) {
  fail(mode::out, 0, 64);
  is_skipped(mode::in, 0, 64);
  expect_failure();
  rt.wait();
  runs(mode::in, 0, 64);
  runs(mode::inout, 10, 20);
  rt.wait();
  check();
}

// So may it after a wait() that has said what failed: the program knows it then.
TEST_P(range_failures, a_wait_that_throws_forgets_what_is_lost) {
  fail(mode::out, 0, 64);
  is_skipped(mode::in, 0, 64);
  expect_failure();
  runs(mode::in, 0, 64);
  runs(mode::inout, 10, 20);
  EXPECT_NO_THROW(rt.wait());
  check();
}

// Accesses of one task have no order among each other.
TEST_P(range_failures, a_task_that_also_overwrites_what_it_reads_is_skipped_in_any_order) {
  for (const bool read_first : {true, false}) {
    std::vector<named_bytes> both{part(mode::in, 5, 10), part(mode::out, 0, 20)};
    if (!read_first) std::swap(both[0], both[1]);
    fail(mode::out, 0, 64);
    spawn_ranges(rt, nullptr, both, nullptr, [this](const data_views*) { ran_though_lost++; });
    expect_failure();
    rt.wait();
  }
}

INSTANTIATE_TEST_SUITE_P(, range_failures, ::testing::Bool(),
                         [](const auto& i) { return std::string(i.param ? "over_before" : "still_to_run"); });

}  // namespace
}  // namespace weir::test
