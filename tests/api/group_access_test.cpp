// commutative() and concurrent(): what of a group runs together, what does not, and what comes before and after it.
#include "tests/support/support.hpp"

#include <algorithm>
#include <numeric>

namespace weir::test {
namespace {

using values = std::span<int>;

class group_access : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(token.use_count(), 1) << "closures are left"; }

  // So many tasks of a group are inside their bodies at the same time.
  template <class Access>
  void expect_together(const Access& what, int tasks) {
    std::atomic<int> inside{0};
    for (int i = 0; i < tasks; i++)
      rt.spawn(what, [&, tasks](auto) {
        inside++;
        while (inside < tasks) std::this_thread::yield();
      });
    rt.wait();
    EXPECT_EQ(inside, tasks);
  }
  // No two of them are, and each sees what those before it wrote.
  template <class Access>
  void expect_one_by_one(const Access& what, int tasks) {
    std::atomic<int> inside{0}, met{0};
    int plain = 0;  // not atomic: tasks that overlap are a data race
    for (int i = 0; i < tasks; i++)
      rt.spawn(what, [&](auto) {
        met += inside++ != 0;
        plain++;
        std::this_thread::yield();
        inside--;
      });
    rt.wait();
    EXPECT_EQ(met, 0);
    EXPECT_EQ(plain, tasks);
  }

  watchdog dog{60, "commutative or concurrent tasks"};
  runtime rt{{.workers = 3}};
  std::shared_ptr<int> token = std::make_shared<int>(0);
};

TEST_F(group_access, concurrent_tasks_on_a_datum_run_together) {
  expect_together(concurrent(rt.make_data(std::vector<int>(4))), 3);
}
TEST_F(group_access, concurrent_tasks_on_own_memory_run_together) {
  std::vector<int> memory(4);
  expect_together(concurrent(ref(memory)), 3);
}
TEST_F(group_access, concurrent_tasks_on_parts_and_groups_run_together) {
  const auto x = rt.make_data(std::vector<int>(4)), y = rt.make_data(std::vector<int>(4));
  expect_together(concurrent(x.slice(1, 2)), 3);
  expect_together(concurrent(std::vector{x, y}), 3);
  std::vector<int> memory(8);
  const std::vector ranges{ref(std::span(memory).first(4)), ref(std::span(memory).last(4))};
  expect_together(concurrent(ranges), 3);
}
TEST_F(group_access, commutative_tasks_run_one_by_one) {
  const auto x = rt.make_data(std::vector<int>(4)), y = rt.make_data(std::vector<int>(4));
  std::vector<int> memory(8);
  expect_one_by_one(commutative(x), 300);
  expect_one_by_one(commutative(x.first(1)), 300);
  expect_one_by_one(commutative(std::vector{x, y}), 300);
  expect_one_by_one(commutative(ref(memory)), 300);
  const std::vector ranges{ref(std::span(memory).first(4)), ref(std::span(memory).last(4))};
  expect_one_by_one(commutative(ranges), 300);
}

TEST_F(group_access, bodies_get_what_they_named) {
  const auto x = rt.make_data(std::vector{1, 2, 3, 4}), y = rt.make_data(std::vector{5, 6});
  std::vector<int> memory{7, 8, 9};
  rt.spawn(concurrent(x.slice(1, 2)), [](values part) {
    EXPECT_EQ(part.size(), 2u);
    part[0] += 18, part[1] += 27;
  });
  rt.spawn(commutative(std::vector{x, y}), commutative(ref(memory)), [&](views<int> both, values own) {
    EXPECT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0][1] + both[0][2], 50);
    both[0][0] = both[1][1];
    both[1][0] = own[2];
    EXPECT_EQ(own.data(), memory.data());
  });
  const auto left = x.read(), right = y.read();
  EXPECT_EQ((std::vector<int>(left.begin(), left.end())), (std::vector{6, 20, 30, 4}));
  EXPECT_EQ((std::vector<int>(right.begin(), right.end())), (std::vector{9, 6}));
  rt.wait();
}

// What comes before a group is over when its tasks run, and they are over when what comes after it runs.
template <class Named, class Group>
void expect_ordered_as_a_whole(runtime& rt, const Named& named, Group&& group) {
  std::atomic<int> before{0}, inside{0}, after{0}, wrong{0};
  for (int round = 0; round < 20; round++) {
    before = inside = after = 0;
    for (int i = 0; i < 3; i++) rt.spawn(in(named), [&](auto) { std::this_thread::yield(), before++; });
    for (int i = 0; i < 4; i++)
      rt.spawn(group(named), [&](auto) {
        wrong += before != 3 || after != 0;
        inside++;
      });
    if (round % 2 == 0) rt.spawn(in(named), [&](auto) { wrong += inside != 4, after++; });
    else rt.spawn(inout(named), [&](auto) { wrong += inside != 4, after++; });
    for (int i = 0; i < 2; i++) rt.spawn(group(named), [&](auto) { wrong += after != 1; });
    rt.wait();
  }
  EXPECT_EQ(wrong, 0);
}
TEST_F(group_access, groups_are_ordered_as_a_whole) {
  const auto as_commutative = [](const auto& d) { return commutative(d); };
  const auto as_concurrent = [](const auto& d) { return concurrent(d); };
  const auto x = rt.make_data(std::vector<int>(4));
  std::vector<int> memory(4);
  expect_ordered_as_a_whole(rt, x, as_commutative);
  expect_ordered_as_a_whole(rt, x, as_concurrent);
  expect_ordered_as_a_whole(rt, ref(memory), as_commutative);
  expect_ordered_as_a_whole(rt, ref(memory), as_concurrent);
}

TEST_F(group_access, commutative_and_concurrent_are_two_groups) {
  const auto x = rt.make_data(std::vector<int>(1));
  gate door;
  std::atomic<int> done{0}, wrong{0};
  for (int i = 0; i < 2; i++) rt.spawn(concurrent(x), [&](auto) { door.pass(), done++; });
  for (int i = 0; i < 2; i++) rt.spawn(commutative(x), [&](auto) { wrong += done++ < 2; });
  for (int i = 0; i < 2; i++) rt.spawn(concurrent(x), [&](auto) { wrong += done < 4; });
  door.open();
  rt.wait();
  EXPECT_EQ(wrong, 0);
}

TEST_F(group_access, a_new_value_does_not_wait_for_a_group_and_the_group_keeps_its_own) {
  const auto x = rt.make_data(std::vector{1});
  gate door;
  std::atomic<int> seen{0};
  rt.spawn(concurrent(x), [&](values v) { door.pass(), seen = ++v[0]; });
  rt.spawn(out(x), [](values v) { v[0] = 50; });
  EXPECT_EQ(x.read()[0], 50);
  door.open();
  rt.wait();
  EXPECT_EQ(seen, 2);
}

TEST_F(group_access, what_is_viewed_does_not_change) {
  const auto x = rt.make_data(std::vector{1, 2});
  {
    const auto before = x.read();
    for (int i = 0; i < 10; i++) rt.spawn(commutative(x), [](values v) { v[0]++; });
    for (int i = 0; i < 10; i++) rt.spawn(concurrent(x), [](values v) { std::atomic_ref(v[1])++; });
    const auto after = x.read();
    EXPECT_EQ(before[0], 1);
    EXPECT_EQ(before[1], 2);
    EXPECT_EQ(after[0], 11);
    EXPECT_EQ(after[1], 12);
  }
  rt.wait();
}

TEST_F(group_access, of_no_elements) {
  const auto x = rt.make_data<int>(0);
  rt.spawn(out(x), [](auto) {});
  int word = 0;
  const std::span<int> none(&word, 0);
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; i++) rt.spawn(commutative(x), concurrent(ref(none)), [&](values v, values n) {
    EXPECT_TRUE(v.empty() && n.empty());
    ran++;
  });
  const std::vector<data<int>> nothing;
  rt.spawn(concurrent(nothing), [&](views<int> all) { ran += all.empty() ? 1 : 0; });
  rt.spawn(commutative(nothing), [&](views<int> all) { ran += all.empty() ? 1 : 0; });
  rt.wait();
  EXPECT_EQ(ran, 5);
}

TEST_F(group_access, a_handle_may_go_while_its_group_is_open) {
  for (int round = 0; round < 50; round++) {
    auto x = rt.make_data(std::vector{round});
    std::atomic<int> sum{0};
    for (int i = 0; i < 3; i++) rt.spawn(commutative(x), [&, token = token](values v) { sum += v[0]; });
    x = {};
    rt.wait();
    EXPECT_EQ(sum, 3 * round);
  }
}

// ------------------------------------------------------------------------------------------------ several tokens

TEST_F(group_access, tasks_that_name_several_data_exclude_those_that_share_one) {
  std::vector<data<int>> all;
  for (int i = 0; i < 5; i++) all.push_back(rt.make_data(std::vector{0}));
  std::vector<std::atomic<int>> inside(5);
  std::atomic<int> met{0};
  constexpr int tasks = 2000;
  for (int i = 0; i < tasks; i++) {
    std::vector<data<int>> some;
    std::vector<std::size_t> which;
    for (std::size_t k = 0; k < 1 + static_cast<std::size_t>(i % 3); k++) {
      which.push_back((static_cast<std::size_t>(i) * 7 + (i % 2 == 0 ? k : 4 * k)) % 5);
      some.push_back(all[which.back()]);
    }
    rt.spawn(commutative(some), [&inside, &met, which](views<int> each) {
      for (const std::size_t w : which) met += inside[w]++ != 0;
      for (std::span<int> v : each) v[0]++;
      for (const std::size_t w : which) inside[w]--;
    });
  }
  int sum = 0;
  for (const auto& d : all) sum += d.read()[0];
  rt.wait();
  EXPECT_EQ(met, 0);
  EXPECT_EQ(sum, tasks / 3 * 6 + (tasks % 3 == 0 ? 0 : tasks % 3 == 1 ? 1 : 3));
}

// A task that waits for one of two holds the other from nobody.
TEST_F(group_access, who_waits_for_one_of_two_holds_none) {
  const auto x = rt.make_data(std::vector{0}), y = rt.make_data(std::vector{0});
  gate door;
  std::atomic<bool> other_ran{false}, both_ran{false};
  rt.spawn(commutative(y), [&](auto) { door.pass(); });
  door.await_arrivals(1);
  rt.spawn(commutative(std::vector{x, y}), [&](auto) { both_ran = true; });
  rt.spawn(commutative(x), [&](auto) { other_ran = true; });
  while (!other_ran) std::this_thread::yield();
  EXPECT_FALSE(both_ran);
  door.open();
  rt.wait();
  EXPECT_TRUE(both_ran);
}

// ------------------------------------------------------------------------------------------------------- ranges

TEST_F(group_access, ranges_that_cut_each_other) {
  std::vector<int> memory(64);
  for (int i = 0; i < 1000; i++) {
    const std::size_t first = static_cast<std::size_t>(i) * 5 % 48, count = 1 + static_cast<std::size_t>(i) % 16;
    rt.spawn(commutative(ref(std::span(memory).subspan(first, count))), [](values v) {
      for (int& one : v) one++;
    });
  }
  rt.wait();
  std::vector<int> expected(64);
  for (int i = 0; i < 1000; i++)
    for (std::size_t k = 0; k < 1 + static_cast<std::size_t>(i) % 16; k++)
      expected[static_cast<std::size_t>(i) * 5 % 48 + k]++;
  EXPECT_EQ(memory, expected);
}

// Bytes that a task names in two ways are as those that it updates: nobody else has them meanwhile.
TEST_F(group_access, ranges_named_in_two_ways_are_updated) {
  std::vector<int> memory(8);
  std::atomic<int> done{0}, wrong{0};
  const auto whole = ref(memory);
  const auto part = ref(std::span(memory).subspan(2, 3));
  for (int i = 0; i < 100; i++) {
    rt.spawn(concurrent(whole), [&, i](auto) { wrong += done++ < 5 * i; });
    rt.spawn(in(whole), concurrent(part), [&, i](auto, auto) { wrong += done++ != 5 * i + 1; });
    rt.spawn(commutative(whole), concurrent(part), [&, i](auto, auto) { wrong += done++ != 5 * i + 2; });
    rt.spawn(out(part), commutative(whole), [&, i](auto, auto) { wrong += done++ != 5 * i + 3; });
    rt.spawn(inout(part), concurrent(part), [&, i](auto, auto) { wrong += done++ != 5 * i + 4; });
  }
  rt.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(done, 500);
}

TEST_F(group_access, tiles) {
  std::vector<int> memory(64);
  const auto left = ref(tile(memory.data(), 8, 0, 8, 0, 4)), right = ref(tile(memory.data(), 8, 0, 8, 4, 4));
  expect_together(concurrent(left), 3);
  expect_together(concurrent(std::vector{left, right}), 3);
  expect_one_by_one(commutative(left), 300);
  expect_one_by_one(commutative(std::vector{left, right}), 300);
}

// Of one matrix, and of the same memory in rows of another length: each is added to by one task at a time.
TEST_F(group_access, tiles_that_cut_each_other) {
  std::vector<int> memory(64), expected(64);
  const auto spawn_addition = [&](std::size_t stride, std::size_t row, std::size_t column, std::size_t size) {
    const tile<int> block(memory.data(), stride, row, size, column, size);
    rt.spawn(commutative(ref(block)), [](tile<int> t) {
      for (std::size_t r = 0; r < t.rows(); r++)
        for (int& one : t.row(r)) one++;
    });
    for (std::size_t r = row; r < row + size; r++)
      for (std::size_t c = column; c < column + size; c++) expected[r * stride + c]++;
  };
  for (std::size_t i = 0; i < 1000; i++) {
    const std::size_t size = 1 + i % 3;
    if (i % 10 < 7) spawn_addition(8, i * 5 % 6, i * 3 % 6, size);
    else spawn_addition(16, i % 2, i * 3 % 14, std::min<std::size_t>(size, 2));
  }
  rt.wait();
  EXPECT_EQ(memory, expected);
}

// ------------------------------------------------------------------------------------------------------- errors

TEST_F(group_access, a_datum_is_named_once) {
  const auto x = rt.make_data(std::vector{0}, "sum");
  const auto refusal = [&](const auto&... accesses) {
    return message_of<usage_error>([&] { rt.spawn({.name = "add"}, accesses..., [token = token](auto&&...) {}); });
  };
  for (const std::string& said :
       {refusal(commutative(x), in(x)), refusal(in(x), concurrent(x)), refusal(concurrent(x), out(x)),
        refusal(commutative(x), inout(x)), refusal(commutative(x), concurrent(x)),
        refusal(concurrent(x), concurrent(x)), refusal(commutative(std::vector{x, x}))}) {
    WEIR_EXPECT_CONTAINS(said, "task add: datum sum of 1 elements");
    WEIR_EXPECT_CONTAINS(said, "is named by commutative() or concurrent() and once more");
  }
  rt.spawn(commutative(x), [](values v) { v[0] = 1; });
  EXPECT_EQ(x.read()[0], 1);
}

TEST_F(group_access, a_datum_nobody_has_written) {
  const auto x = rt.make_data<int>(1);
  const auto nothing = [](auto) {};
  for (int i = 0; i < 2; i++) {
    const std::string first = message_of<usage_error>([&] { rt.spawn(commutative(x), nothing); });
    const std::string second = message_of<usage_error>([&] { rt.spawn(concurrent(x), nothing); });
    WEIR_EXPECT_CONTAINS(first, "no task writes it before");
    WEIR_EXPECT_CONTAINS(second, "no task writes it before");
  }
  runtime other({.workers = 1});
  const auto theirs = other.make_data(std::vector{1});
  other.spawn(concurrent(theirs), [](auto) {});
  const std::string joining = message_of<usage_error>([&] { rt.spawn(commutative(theirs), nothing); });
  const std::string reading = message_of<usage_error>([&] { rt.spawn(in(theirs), nothing); });
  WEIR_EXPECT_CONTAINS(joining, "another weir::runtime");
  WEIR_EXPECT_CONTAINS(reading, "another weir::runtime");
  other.wait();
}

// The others of the group run; what comes after it is skipped.
template <class Named, class Group>
void expect_failures_end_with_the_group(runtime& rt, const Named& named, Group&& group) {
  std::atomic<int> ran{0}, after{0};
  rt.spawn(group(named), [&](auto) { ran++; });
  rt.spawn({.name = "bad"}, group(named), [](auto) { throw std::runtime_error("no"); });
  for (int i = 0; i < 5; i++) rt.spawn(group(named), [&](auto) { ran++; });
  rt.spawn(in(named), [&](auto) { after++; });
  rt.spawn(group(named), [&](auto) { after++; });
  rt.spawn(inout(named), [&](auto) { after++; });
  const std::string said = message_of<task_failed>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(said, "bad");
  EXPECT_EQ(ran, 6);
  EXPECT_EQ(after, 0);
  rt.spawn(out(named), [&](values v) { v[0] = 0, after++; });
  rt.spawn(group(named), [&](auto) { after++; });
  rt.spawn(in(named), [&](auto) { after++; });
  rt.wait();
  EXPECT_EQ(after, 3);
}
TEST_F(group_access, a_task_that_fails) {
  const auto as_commutative = [](const auto& d) { return commutative(d); };
  const auto as_concurrent = [](const auto& d) { return concurrent(d); };
  const auto x = rt.make_data(std::vector<int>(4));
  std::vector<int> memory(4);
  expect_failures_end_with_the_group(rt, x, as_commutative);
  expect_failures_end_with_the_group(rt, x, as_concurrent);
  expect_failures_end_with_the_group(rt, ref(memory), as_commutative);
  expect_failures_end_with_the_group(rt, ref(memory), as_concurrent);
}

TEST_F(group_access, what_a_failed_group_leaves_cannot_be_read) {
  const auto x = rt.make_data(std::vector{0}, "x");
  rt.spawn({.name = "bad"}, concurrent(x), [](auto) { throw std::runtime_error("no"); });
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { x.read(); }), "task bad failed before it was written");
  EXPECT_THROW(rt.wait(), task_failed);
}

// ----------------------------------------------------------------------------------------------------- deadlocks

TEST_F(group_access, a_task_that_waits_for_one_that_needs_its_token) {
  const auto x = rt.make_data(std::vector{0}, "x");
  std::atomic<int> ran{0};
  rt.spawn({.name = "outer"}, commutative(x), [&](auto) {
    scope inside(rt);
    inside.spawn({.name = "inner"}, commutative(x), [&](auto) { ran++; });
    inside.wait();
  });
  const std::string said = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(said, "inner");
  WEIR_EXPECT_CONTAINS(said, "needs what task outer keeps until it ends");
  EXPECT_EQ(ran, 0);
  EXPECT_THROW(x.read(), task_failed);
}
TEST_F(group_access, a_task_that_waits_for_one_of_its_own_concurrent_group) {
  const auto x = rt.make_data(std::vector{0});
  std::atomic<int> ran{0};
  rt.spawn(concurrent(x), [&](auto) {
    scope inside(rt);
    inside.spawn(concurrent(x), [&](auto) { ran++; });
    inside.wait();
    ran++;
  });
  rt.wait();
  EXPECT_EQ(ran, 2);
}
TEST_F(group_access, a_task_that_waits_for_what_comes_after_its_group) {
  const auto x = rt.make_data(std::vector{0}, "x");
  rt.spawn({.name = "outer"}, concurrent(x), [&](auto) {
    scope inside(rt);
    inside.spawn({.name = "inner"}, in(x), [&](auto) {});
    inside.wait();
  });
  const std::string said = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(said, "inner");
  WEIR_EXPECT_CONTAINS(said, "needs what task outer keeps until it ends");
}
TEST_F(group_access, a_circle_through_a_group_and_a_stream) {
  for (const bool exclusive : {false, true}) {
    const auto x = rt.make_data(std::vector{0});
    const auto s = rt.make_stream<int>("s");
    std::atomic<int> ran{0};
    const auto body = [&, token = token](auto, auto) { ran++; };
    if (exclusive) rt.spawn({.name = "member"}, commutative(x), s.pop(1), body);
    else rt.spawn({.name = "member"}, concurrent(x), s.pop(1), body);
    for (int i = 0; i < 3; i++) rt.spawn(commutative(x), [&](auto) { ran += 10; });
    rt.spawn({.name = "feeder"}, in(x), s.push(1), body);
    const std::string said = message_of<deadlock_error>([&] { rt.wait(); });
    WEIR_EXPECT_CONTAINS(said, "member");
    WEIR_EXPECT_CONTAINS(said, "feeder");
    EXPECT_EQ(ran, exclusive ? 30 : 0);
  }
}
TEST_F(group_access, a_task_that_reads_what_it_updates_with_others) {
  const auto x = rt.make_data(std::vector{0}, "x");
  std::atomic<int> refused{0};
  rt.spawn({.name = "self"}, concurrent(x), [&](auto) {
    const std::string said = message_of<usage_error>([&] { x.read(); });
    WEIR_EXPECT_CONTAINS(said, "task self waits for datum x, which it writes itself");
    refused++;
  });
  rt.wait();
  EXPECT_EQ(refused, 1);
}

// ---------------------------------------------------------------------------------------------------- statistics

TEST_F(group_access, bytes_count_as_read_and_as_written) {
  runtime fresh({.workers = 1});
  const auto x = fresh.make_data(std::vector<int>(100));
  std::vector<int> memory(25);
  fresh.spawn(concurrent(x), [](auto) {});
  fresh.spawn(commutative(x.first(50)), commutative(ref(memory)), [](auto, auto) {});
  fresh.wait();
  const statistics s = fresh.stats();
  EXPECT_EQ(s.read_local() + s.read_remote(), 400u + 200u + 100u);  // where main's memory lies is the system's choice
  EXPECT_EQ(s.write_local() + s.write_remote(), 400u + 200u + 100u);
}

}  // namespace
}  // namespace weir::test
