// Tasks that a thread of the program creates, and that belong on another node: who finds that out, and who is told.
#include "sched/scheduler.hpp"

#include "flow/flow.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace weir::sched {
namespace {

constexpr std::uint64_t some = 65'536;
constexpr detail::task_ops no_ops{nullptr, nullptr};

// A task that reads a datum which lies on a node, or, if that is unknown, writes one.
class task_for {
 public:
  explicit task_for(int node) {
    task_->ops = &no_ops;
    if (node == detail::node_unknown) {
      task_->versions = 1;
      (new (task_->version_at(0)) flow::version())->bytes = some;
      return;
    }
    task_->accesses = 1;
    datum_.node = static_cast<std::int16_t>(node);
    datum_.bytes = some;
    datum_.waiters.store(flow::version::published_mark(), std::memory_order_relaxed);
    auto& read = *new (task_->access_at(0)) flow::access();
    read.target = reinterpret_cast<std::uintptr_t>(task_) | static_cast<std::uintptr_t>(flow::waiter_kind::read);
    read.bytes = some;
    read.source = &datum_;
  }
  task_for(const task_for&) = delete;
  task_for& operator=(const task_for&) = delete;
  frame* get() { return task_; }

 private:
  alignas(64) std::byte room_[sizeof(frame) + sizeof(flow::version) + sizeof(flow::access)];
  frame* const task_ = new (room_) frame();
  flow::version datum_;
};

// Two workers on a node each, and a thread of the program beside the first.
struct sending : testing::Test {
  explicit sending(const char* policy = "local", std::int64_t inbox_capacity = tuning{}.inbox_capacity,
                   const std::vector<int>& nodes = {0, 1})
      : machine(machine::synthetic(2, 2)),
        s(machine, nodes, place::parse(policy), 0, {.inbox_capacity = inbox_capacity}) {
    for (int w = 0; w < s.worker_count(); w++) s.make_worker_slot(w);
    guest = s.add_guest(0);
  }
  ~sending() override {
    for (int w = 0; w < s.worker_count(); w++)
      while (s.take_own(s.slot(w)) != nullptr) continue;
    while (creator().normal.steal()) continue;
  }
  slot_queues& creator() { return s.slot(guest); }
  routing create(task_for& t) { return s.route(creator(), t.get()); }
  frame* steals(int worker) { return s.steal(s.slot(worker), thief::reach::near, 1'000'000); }
  frame* inbox_of(int worker) { return s.slot(worker).pushed.try_pop().task(); }

  const machine::description machine;
  scheduler s;
  int guest;
  task_for there{1};
};

struct sending_beside_idle : sending {
  explicit sending_beside_idle(std::int64_t inbox_capacity = tuning{}.inbox_capacity)
      : sending("local", inbox_capacity) {
    s.sleep.start_searching();
  }
};

TEST_F(sending, is_its_creators_work_while_all_are_busy) {
  EXPECT_EQ(create(there), routing::sent);
  EXPECT_TRUE(creator().normal.empty());
  EXPECT_EQ(inbox_of(1), there.get());
}

TEST_F(sending_beside_idle, is_done_by_who_takes_what_belongs_elsewhere) {
  EXPECT_EQ(create(there), routing::sent) << "somebody has to come for it";
  EXPECT_EQ(inbox_of(1), nullptr);
  EXPECT_EQ(creator().normal.size(), 1u);
  EXPECT_EQ(steals(0), nullptr);
  EXPECT_TRUE(creator().normal.empty());
  EXPECT_EQ(inbox_of(1), there.get());
}

TEST_F(sending_beside_idle, is_not_needed_where_the_task_belongs) {
  create(there);
  EXPECT_EQ(steals(1), there.get());
}

TEST_F(sending_beside_idle, goes_on_until_a_task_is_for_who_sends) {
  task_for second(1), here(0), last(1);
  for (task_for* t : {&there, &second, &here, &last}) create(*t);
  EXPECT_EQ(steals(0), here.get());
  EXPECT_EQ(creator().normal.size(), 1u);
  EXPECT_EQ(inbox_of(1), there.get());
  EXPECT_EQ(inbox_of(1), second.get());
}

TEST_F(sending_beside_idle, ends_when_something_is_sent_to_who_sends) {
  frame sent;
  task_for second(1);
  create(there), create(second);
  s.slot(0).pushed.try_push(ready_task(&sent));
  EXPECT_EQ(steals(0), nullptr);
  EXPECT_EQ(creator().normal.size(), 1u);
}

TEST_F(sending_beside_idle, is_done_by_its_creator_when_that_waits) {
  task_for second(1);
  create(there), create(second);
  EXPECT_EQ(s.take_own_of_guest(creator(), s.slot(0)), nullptr);
  EXPECT_TRUE(creator().normal.empty());
  EXPECT_NE(inbox_of(1), nullptr);
  EXPECT_NE(inbox_of(1), nullptr);
}

TEST_F(sending_beside_idle, is_done_of_many_short_tasks_at_once) {
  for (std::int64_t i = 0; i < tuning{}.small_group; i++) s.slot(0).hunts.sizes().note(1000);
  std::vector<std::unique_ptr<task_for>> tasks;
  for (int i = 0; i < 32; i++) {
    tasks.push_back(std::make_unique<task_for>(i % 2));
    create(*tasks.back());
  }
  EXPECT_EQ(steals(0), tasks[0]->get());
  const std::size_t taken = 32 - creator().normal.size();
  EXPECT_GT(taken, 2u);
  EXPECT_EQ(s.slot(0).normal.size(), (taken - 1) / 2);
  EXPECT_EQ(s.slot(1).pushed.size(), taken / 2);
}

// Tasks that only write are dealt out in the order in which they are created.
TEST_F(sending_beside_idle, is_its_creators_work_for_what_only_writes_and_what_is_urgent) {
  task_for writes(detail::node_unknown), urgent(1);
  urgent.get()->priority = 1;
  EXPECT_NE(create(writes), routing::stays);
  EXPECT_NE(create(urgent), routing::stays);
  EXPECT_TRUE(creator().normal.empty() && creator().urgent.empty());
  EXPECT_EQ(s.take_own(s.slot(1)), urgent.get());
}

struct sending_to_small_inboxes : sending_beside_idle {
  sending_to_small_inboxes() : sending_beside_idle(2) {}
};

TEST_F(sending_to_small_inboxes, is_not_possible_while_they_are_full) {
  frame others[2];
  for (frame& f : others) s.slot(1).pushed.try_push(ready_task(&f));
  create(there);
  EXPECT_EQ(steals(0), there.get()) << "better here than not at all";
}

TEST_F(sending_to_small_inboxes, is_its_creators_work_while_others_do_not_keep_up) {
  task_for second(1), third(1);
  create(there), create(second), create(third);
  EXPECT_EQ(creator().normal.size(), 2u);
  EXPECT_EQ(inbox_of(1), third.get());
}

struct sending_under_steal : sending {
  sending_under_steal() : sending("steal") { s.sleep.start_searching(); }
};

TEST_F(sending_under_steal, is_nobodys_work) {
  EXPECT_EQ(create(there), routing::stays);
  EXPECT_TRUE(creator().normal.empty());
}

struct sending_from_mates : sending {
  sending_from_mates() : sending("local", tuning{}.inbox_capacity, {0, 0, 1}) {}
};

// It was in nobody's queue for a while, so who searched may have fallen asleep.
TEST_F(sending_from_mates, to_who_is_busy_wakes_another) {
  s.sleep.start_searching();
  create(there);
  EXPECT_FALSE(s.sleep.begin_rest(1, true));
  EXPECT_EQ(s.slot(0).sees->take_from(guest), nullptr);
  EXPECT_TRUE(s.sleep.is_awake(1));
  EXPECT_FALSE(s.sleep.stop_searching());
  EXPECT_EQ(inbox_of(2), there.get());
}

// Who has nothing to do takes it, so others need not be told.
TEST_F(sending, to_who_spins_is_nobody_elses_affair) {
  s.sleep.start_searching();
  s.sleep.start_spinning(1);
  EXPECT_EQ(s.push_near(creator(), there.get(), 1, 1), routing::awaited);
  EXPECT_FALSE(s.slot(0).sees->offers(1));
  s.sleep.stop_spinning(1, [] { return false; });
  EXPECT_FALSE(s.sleep.stop_searching());
}

TEST_F(sending, to_who_sleeps_wakes_it) {
  s.sleep.start_searching();
  EXPECT_FALSE(s.sleep.begin_rest(1, true));
  EXPECT_EQ(s.push_near(creator(), there.get(), 1, 1), routing::awaited);
  EXPECT_TRUE(s.sleep.is_awake(1));
  EXPECT_FALSE(s.sleep.stop_searching());
}

TEST_F(sending, to_who_is_busy_is_told_to_others) {
  EXPECT_EQ(s.push_near(creator(), there.get(), 1, 1), routing::sent);
  EXPECT_TRUE(s.slot(0).sees->offers(1));
}

}  // namespace
}  // namespace weir::sched
