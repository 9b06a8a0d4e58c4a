// When a worker leaves small tasks to others, and when not.
#include "sched/small_tasks.hpp"

#include <gtest/gtest.h>

namespace weir::sched {
namespace {

constexpr tuning usual;
constexpr auto group = static_cast<std::uint32_t>(usual.small_group);
constexpr auto watch_ns = static_cast<std::uint64_t>(usual.watch_ns);
constexpr auto probe_ns = static_cast<std::uint64_t>(usual.probe_ns);

void note_group(small_tasks& t, std::uint64_t ns) {
  for (std::uint32_t i = 0; i < group; i++) t.note(ns);
}

TEST(small_tasks, nothing_is_known_at_first) {
  small_tasks t(2, usual);
  EXPECT_TRUE(t.probing());
  for (std::uint32_t i = 0; i < group; i++) {
    EXPECT_FALSE(t.all_small());
    EXPECT_TRUE(t.probing());
    t.note(20);
  }
  EXPECT_TRUE(t.all_small());
  EXPECT_FALSE(t.probing());
}

TEST(small_tasks, one_large_task_of_a_group_does_not_count) {
  small_tasks t(2, usual);
  for (std::uint32_t n = 0; n < 10; n++)
    for (std::uint32_t i = 0; i < group; i++) t.note(i == n % group ? 50'000 : 20);
  EXPECT_TRUE(t.all_small());
}

TEST(small_tasks, two_large_tasks_count_for_some_dozen_groups) {
  small_tasks t(2, usual);
  for (int i = 0; i < 10; i++) note_group(t, 20);
  EXPECT_TRUE(t.all_small());
  t.note(1'000'000), t.note(20), t.note(2'000), t.note(20);
  EXPECT_FALSE(t.all_small());
  int more = 0;
  for (; !t.all_small(); more++) note_group(t, 20);
  EXPECT_GT(more, 12);
  EXPECT_LT(more, 50);
}

TEST(small_tasks, who_waits_for_its_children_runs_none_that_are_small) {
  small_tasks t(2, usual);
  note_group(t, 20);
  t.note_wait();
  EXPECT_FALSE(t.all_small());
}

// In lines: what they take from another worker's cache, as the clock sees it.
TEST(small_tasks, what_is_small_is_measured) {
  constexpr auto small_lines = static_cast<double>(usual.small_line_percent) / 100;
  std::uint64_t progress = 1;
  const auto time_lines = [&](small_tasks& t, std::uint64_t ns) {
    for (int i = 0; i < 100; i++) t.note_line(1, {progress++, ns}, 0);
  };
  small_tasks t(2, usual);
  note_group(t, 100);
  EXPECT_TRUE(t.all_small()) << "nobody knows yet";
  t.note_line(1, {progress++}, 0);
  EXPECT_TRUE(t.all_small()) << "nor by this";
  time_lines(t, 40);
  EXPECT_FALSE(t.all_small());
  small_tasks smaller(2, usual);
  time_lines(smaller, 40);
  note_group(smaller, static_cast<std::uint64_t>(40 * small_lines) - 10);
  EXPECT_TRUE(smaller.all_small());
  smaller.note_line(1, {progress++, 1'000'000}, 0);
  EXPECT_TRUE(smaller.all_small()) << "an interrupt";
  time_lines(smaller, 10);
  EXPECT_FALSE(smaller.all_small());
  time_lines(smaller, 1'000'000);
  note_group(smaller, static_cast<std::uint64_t>(usual.most_small_ns));
  EXPECT_FALSE(smaller.all_small()) << "however slow lines are";
}

TEST(small_tasks, a_line_is_timed_now_and_then_by_who_runs_short_tasks) {
  small_tasks t(2, usual);
  note_group(t, 100);
  EXPECT_TRUE(t.times_line(watch_ns + 1));
  t.note_line(1, {1, 40}, watch_ns + 1);
  EXPECT_FALSE(t.times_line(2 * watch_ns + 1));
  EXPECT_TRUE(t.times_line(2 * watch_ns + 2));
  note_group(t, 10'000);
  EXPECT_FALSE(t.times_line(10 * watch_ns)) << "long tasks";
}

// What has not changed since was in this worker's cache.
TEST(small_tasks, only_what_is_new_comes_from_another_cache) {
  small_tasks t(2, usual);
  note_group(t, 100);
  std::uint64_t now = 50'000'000, did = 1000;
  for (int i = 0; i < 1000; i++) {
    static_cast<void>(t.leave(1, {did, 10}, now += watch_ns));
    if (t.probing()) note_group(t, 100);
  }
  EXPECT_TRUE(t.all_small());
  for (int i = 0; i < 1000; i++) {
    static_cast<void>(t.leave(1, {did += 1000, 10}, now += watch_ns));
    if (t.probing()) note_group(t, 100);
  }
  EXPECT_FALSE(t.all_small());
}

TEST(small_tasks, a_worker_is_watched_before_it_is_robbed) {
  small_tasks t(2, usual);
  note_group(t, 20);
  std::uint64_t now = 50'000'000;
  EXPECT_FALSE(t.leave(1, {1000, 0}, now)) << "nobody has tried for long";
  EXPECT_TRUE(t.probing());
  EXPECT_FALSE(t.leave(1, {1001, 0}, now + 1)) << "a group is taken";
  note_group(t, 20);
  EXPECT_FALSE(t.probing());
  EXPECT_TRUE(t.leave(1, {1000, 0}, now + watch_ns - 1)) << "too early to tell";
  EXPECT_TRUE(t.leave_unseen(1, now + watch_ns - 1));
  now += watch_ns;
  EXPECT_FALSE(t.leave_unseen(1, now));
  EXPECT_FALSE(t.leave(1, {1000, 0}, now)) << "it has done nothing";
  EXPECT_FALSE(t.fast());
  EXPECT_TRUE(t.probing()) << "so that its tasks are known soon";
  note_group(t, 20);
  EXPECT_FALSE(t.leave(1, {1000, 0}, now + watch_ns - 1)) << "until it is looked at again";
  EXPECT_FALSE(t.leave_unseen(1, now + watch_ns - 1));
  now += watch_ns;
  EXPECT_FALSE(t.leave(1, {1005, 0}, now)) << "4 us a task";
  note_group(t, 20);
  now += watch_ns;
  EXPECT_TRUE(t.leave(1, {1205, 0}, now)) << "100 ns a task";
  now += probe_ns;
  EXPECT_FALSE(t.leave(1, {101'205, 0}, now)) << "50 ns a task, but this has been so for long";
  EXPECT_TRUE(t.fast());
}

}  // namespace
}  // namespace weir::sched
