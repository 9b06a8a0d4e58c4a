// When an idle worker takes a task from another node: what it has been idle for beside that node, in all.
#include "sched/thief.hpp"

#include "place/place.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weir::sched {
namespace {

// Two workers on a node each. What the thief, worker 1, sees: tasks of one kind that wait at worker 0, or none.
class one_victim final : public surroundings {
 public:
  std::size_t waiting = 0;
  std::size_t before = 1;  // the first of them
  task_hint hint;
  std::uint64_t has_finished = 0;
  std::array<std::int64_t, 2> data = {1, 0};  // bytes, by node

  frame* take_own() override { return nullptr; }
  frame* take_shared() override { return nullptr; }
  frame* take_from(int) override { return nullptr; }
  frame* take_from(int slot, const judgement& j) override {
    if (!has_tasks(slot) || !j.takes(hint, before)) return nullptr;
    waiting--;
    return &task_;
  }
  frame* take_from_container(int, const judgement*) override { return nullptr; }
  frame* take_initial(int, const judgement&) override { return nullptr; }

  int slots() const override { return 2; }
  bool anything_shared() const override { return false; }
  bool anything_required_here() const override { return false; }
  bool anything_sent() const override { return false; }
  bool has_tasks(int slot) const override { return slot == 0 && waiting != 0; }
  bool node_holds_tasks(int) const override { return false; }
  bool offers(int worker) const override { return has_tasks(worker); }
  bool rests(int) const override { return false; }
  first_tasks first_of(int slot) const override {
    first_tasks all;
    if (has_tasks(slot)) all.add(hint, before);
    return all;
  }
  first_tasks first_of_node(int) const override { return {}; }
  std::uint64_t finished(int) const override { return has_finished; }
  pace pace_of(int) const override { return {has_finished}; }
  bool holds_as_much(int node, int as_node) const override {
    return data[static_cast<std::size_t>(node)] >= data[static_cast<std::size_t>(as_node)];
  }
  int place_of(int) const override { return -1; }

 private:
  frame task_;
};

struct thieves : testing::Test {
  static constexpr std::uint64_t us = 1000;

  thieves()
      : machine(machine::synthetic(2, 1)),
        near(machine, {0, 1}),
        costs(place::seen_by_policies(machine, {0, 1})),
        ground{near, costs, true, false, 0, {}},
        t(ground, 1) {
    // Rough numbers that are exact.
    around.hint = task_hint(1 << 14, 64 << 10);
    cost_ns = static_cast<std::uint64_t>(costs.of(around.hint, 0, 1));
  }
  // A search from one time to another; how long until it took a task, or never.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  std::uint64_t searches(std::uint64_t ns) {
    t.starts_to_search();
    std::uint64_t took = never;
    for (const std::uint64_t begin = now; now <= begin + ns; now += step_ns)
      if (t.steal(around, thief::reach::all, {now, 1}) != nullptr) {
        took = now - begin;
        break;
      }
    t.stops_searching();
    return took;
  }
  void is_busy(std::uint64_t ns) { now += ns; }

  static constexpr std::uint64_t step_ns = 10;
  machine::description machine;
  neighbourhood near;
  move_costs costs;
  hunting_ground ground;
  one_victim around;
  std::uint64_t cost_ns = 0, now = 1000 * us;
  thief t;
};

TEST_F(thieves, take_a_task_when_idle_time_times_wait_is_the_square_of_its_cost) {
  around.waiting = 1;
  const std::uint64_t wait_ns = around.hint.ns();
  ASSERT_GT(cost_ns, 0u);
  ASSERT_LE(cost_ns * cost_ns / wait_ns, wait_ns) << "else nothing has been finished for longer than that";
  const std::uint64_t due = cost_ns * cost_ns / wait_ns, took = searches(10 * cost_ns);
  EXPECT_GE(took, due);
  EXPECT_LE(took, due + 2 * step_ns);
}

TEST_F(thieves, pay_for_both_ways_where_their_own_node_has_no_less_data) {
  const auto waits_until = [&](std::int64_t there, std::int64_t here) {
    around.data = {there, here};
    around.waiting = 1;
    around.before = 0;
    t = thief(ground, 1);
    return searches(10 * cost_ns);
  };
  const auto expect_costs = [&](std::uint64_t took, std::uint64_t times) {
    EXPECT_GE(took, times * cost_ns);
    EXPECT_LE(took, times * cost_ns + 2 * step_ns);
  };
  expect_costs(waits_until(1 << 20, 1 << 19), 1);
  expect_costs(waits_until(1 << 20, 1 << 20), 2);
  expect_costs(waits_until(1 << 19, 1 << 20), 2);
}

TEST_F(thieves, take_one_of_a_worker_that_is_stuck_when_idle_for_its_cost) {
  around.waiting = 1;
  around.before = 0;
  const std::uint64_t took = searches(10 * cost_ns);
  EXPECT_GE(took, cost_ns);
  EXPECT_LE(took, cost_ns + 2 * step_ns);
}

TEST_F(thieves, have_been_idle_in_earlier_searches_too) {
  around.waiting = 1;
  const std::uint64_t due = cost_ns * cost_ns / around.hint.ns();
  EXPECT_EQ(searches(due / 2), never);
  is_busy(500 * us);
  const std::uint64_t took = searches(10 * cost_ns);
  EXPECT_GE(took, due / 2 - 4 * step_ns);
  EXPECT_LE(took, due / 2 + 4 * step_ns);
}

TEST_F(thieves, begin_anew_once_there_was_nothing) {
  around.waiting = 1;
  const std::uint64_t due = cost_ns * cost_ns / around.hint.ns();
  EXPECT_EQ(searches(due / 2), never);
  is_busy(500 * us);
  around.waiting = 0;
  EXPECT_EQ(searches(2 * step_ns), never);
  around.waiting = 1;
  EXPECT_GE(searches(10 * cost_ns), due);
}

TEST_F(thieves, have_paid_for_what_they_took) {
  around.waiting = 2;
  const std::uint64_t due = cost_ns * cost_ns / around.hint.ns();
  EXPECT_GE(searches(10 * cost_ns), due);
  is_busy(500 * us);
  // Less time than the task cost was enough, as many wait: so nothing is left of it.
  EXPECT_GE(searches(10 * cost_ns), due);
}

TEST_F(thieves, take_several_for_what_they_have_been_idle_for) {
  around.waiting = 1;
  around.before = 0;
  // It gets on, so that its task waits for less than moving it costs.
  t.starts_to_search();
  for (std::uint64_t idle = 0; idle < 8 * cost_ns; idle += step_ns, now += step_ns) {
    around.has_finished++;
    ASSERT_EQ(t.steal(around, thief::reach::all, {now, 1}), nullptr);
  }
  t.stops_searching();
  around.waiting = 3;
  around.before = 1;
  ASSERT_GE(around.hint.ns() * cost_ns, cost_ns * cost_ns);
  for (int i = 0; i < 3; i++) {
    is_busy(500 * us);
    EXPECT_EQ(searches(10 * cost_ns), 0u) << i;
  }
}

TEST_F(thieves, look_again_when_it_will_be_worth_it) {
  around.waiting = 1;
  around.before = 0;
  for (const std::uint64_t idle_before : {std::uint64_t{0}, cost_ns / 4, cost_ns / 2}) {
    if (idle_before != 0) {
      EXPECT_EQ(searches(idle_before), never);
    }
    is_busy(500 * us);
    t.starts_to_search();
    ASSERT_EQ(t.steal(around, thief::reach::all, {now, 1}), nullptr);
    const std::uint64_t begin = now;
    std::uint64_t looks = 0;
    // As a worker that rests: it looks when it said that it would, and after so many looks at the latest it takes it.
    while (t.steal(around, thief::reach::all, {now, 1}) == nullptr) {
      const std::uint64_t next = t.next_theft_ns(around, {now, 1});
      ASSERT_NE(next, thief::never);
      now = std::max(next, now + 1);
      ASSERT_LT(looks++, 64u);
    }
    t.stops_searching();
    EXPECT_LE(now - begin, cost_ns + step_ns);
    EXPECT_GE(now - begin, cost_ns / 2);
    around.waiting = 0;  // so that nothing is left of its idle time
    EXPECT_EQ(searches(step_ns), never);
    around.waiting = 1;
  }
}

TEST_F(thieves, that_are_busy_find_nothing_worth_it) {
  around.waiting = 1;
  EXPECT_EQ(searches(cost_ns * cost_ns / around.hint.ns() / 2), never);
  EXPECT_FALSE(t.any_work(around, thief::counting::worth_it, true, {now + 100 * cost_ns, 1}));
  EXPECT_TRUE(t.any_work(around, thief::counting::all, true, {now, 1}));
  around.hint = task_hint(0, 64 << 10);
  EXPECT_TRUE(t.any_work(around, thief::counting::worth_it, true, {now, 1}));
}

}  // namespace
}  // namespace weir::sched
