// What a worker sees of idle ones: whether they are, for how long, and why.
#include "sched/scheduler.hpp"

#include <gtest/gtest.h>

namespace weir::sched {
namespace {

constexpr std::uint64_t look = beside_idle::interval_ns;
constexpr std::int64_t small_group = tuning{}.small_group;

TEST(beside_idle, adds_the_time_since_the_last_look) {
  beside_idle b;
  EXPECT_EQ(b.due(1000, 1000 + look - 1), 0u) << "too early";
  EXPECT_EQ(b.due(1000 + look, 1000 + 2 * look), 2 * look) << "and the time counts for the next one";
  EXPECT_EQ(b.due(1000 + 2 * look, 1000 + 3 * look), look);
  b.ends();
  EXPECT_EQ(b.due(50 * look, 52 * look), 2 * look) << "nothing while it had no tasks";
  EXPECT_EQ(b.due(51 * look, 51 * look), 0u) << "another thread's clock";
  EXPECT_EQ(b.watched_ns(), 5 * look);
}

// A worker that runs a task, and others that are looking for some.
struct beside_idle_workers : testing::Test {
  explicit beside_idle_workers(std::vector<int> nodes = {0, 1}, const char* policy = "local")
      : machine(machine::synthetic(2, 2)), s(machine, nodes, place::parse(policy), 0) {
    for (int w = 0; w < s.worker_count(); w++) {
      s.make_worker_slot(w);
      s.slot(w).searching.store(w > 0, std::memory_order_relaxed);
    }
    for (int w = 1; w < s.worker_count(); w++) s.sleep.start_searching();
    self().spawned.add(1);
  }
  slot_queues& self() { return s.slot(0); }
  void take_a_look() { s.look_at_idle(self(), 1, false, at, at + look), at += look; }
  std::uint64_t seen(idle_reason why) { return self().beside.ns(static_cast<std::size_t>(why)); }
  std::uint64_t seen() {
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < idle_reasons; r++) sum += self().beside.ns(r);
    return sum;
  }

  const machine::description machine;
  scheduler s;
  frame task;
  std::uint64_t at = 1'000'000;
};

struct beside_idle_mates : beside_idle_workers {
  beside_idle_mates() : beside_idle_workers({0, 0, 1, 1}) {}
};

TEST_F(beside_idle_workers, no_other_task) {
  take_a_look();
  EXPECT_EQ(seen(idle_reason::uncreated), look);
  EXPECT_EQ(self().beside.alone_ns(), look);
  self().spawned.add(1);
  take_a_look();
  EXPECT_EQ(seen(idle_reason::dependent), look) << "one that is not ready";
  self().finished.add(1);
  s.look_at_idle(self(), 1, true, at, at + look);
  EXPECT_EQ(seen(idle_reason::dependent), 2 * look) << "one that only the worker knows of";
  EXPECT_EQ(seen(), 3 * look);
}

TEST_F(beside_idle_workers, tasks_that_require_the_node) {
  task.affinity = 0;
  task.required = true;
  EXPECT_NE(s.route(self(), &task), routing::stays);
  take_a_look();
  EXPECT_EQ(seen(idle_reason::required), look);
}

TEST_F(beside_idle_workers, tasks_for_which_nobody_has_come) {
  self().normal.push(ready_task(&task));
  take_a_look();
  EXPECT_EQ(seen(idle_reason::brief), look);
}

TEST_F(beside_idle_workers, tasks_that_are_small) {
  self().normal.push(ready_task(&task));
  for (std::int64_t i = 0; i < small_group; i++) self().hunts.sizes().note(20);
  take_a_look();
  EXPECT_EQ(seen(idle_reason::small), look);
}

TEST_F(beside_idle_workers, tasks_whose_data_are_far_from_others) {
  EXPECT_TRUE(self().pushed.try_push(ready_task(&task, task_hint(1 << 20, 1000))));
  take_a_look();
  EXPECT_EQ(seen(idle_reason::distant), look);
}

TEST_F(beside_idle_workers, of_a_thread_of_the_program) {
  const int guest = s.add_guest(0);
  s.slot(guest).normal.push(ready_task(&task));
  take_a_look();
  EXPECT_EQ(seen(idle_reason::brief), look);
}

TEST_F(beside_idle_workers, not_if_another_is_busy) {
  EXPECT_FALSE(s.sleep.stop_searching());
  take_a_look();
  EXPECT_EQ(seen(), 0u);
  EXPECT_EQ(self().beside.watched_ns(), look);
}

TEST_F(beside_idle_mates, may_be_busy) {
  EXPECT_FALSE(s.sleep.stop_searching());
  take_a_look();
  EXPECT_EQ(seen(), look) << "the other node's are idle";
  EXPECT_EQ(self().beside.alone_ns(), 0u);
  EXPECT_FALSE(s.sleep.stop_searching());
  take_a_look();
  EXPECT_EQ(seen(), look);
}

}  // namespace
}  // namespace weir::sched
