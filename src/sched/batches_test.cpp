// Tasks of a thread of the program: workers take several short ones at once, and the thread itself takes its newest.
#include "sched/scheduler.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace weir::sched {
namespace {

struct batches : testing::Test {
  batches() : machine(machine::synthetic(1, 2)), s(machine, {0, 0}, place::parse("local"), 0), frames(300) {
    for (int w = 0; w < 2; w++) s.make_worker_slot(w);
    guest = s.add_guest(0);
  }
  void create(std::size_t n) {
    for (std::size_t i = 0; i < n; i++) s.push_own(creator(), &frames[i]);
  }
  void has_run(slot_queues& worker, std::uint64_t ns) {
    for (std::int64_t i = 0; i < tuning{}.small_group; i++) worker.hunts.sizes().note(ns);
  }
  slot_queues& creator() { return s.slot(guest); }
  frame* steals(int worker) { return s.steal(s.slot(worker), thief::reach::near, 1'000'000); }

  const machine::description machine;
  scheduler s;
  std::vector<frame> frames;
  int guest;
};

TEST_F(batches, are_taken_of_short_tasks_the_oldest_first) {
  create(300);
  slot_queues& self = s.slot(0);
  has_run(self, 1000);
  EXPECT_EQ(steals(0), &frames[0]);
  EXPECT_EQ(self.normal.size(), std::size_t{most_stolen_from_guests - 1});
  EXPECT_EQ(steals(1), &frames[most_stolen_from_guests - 1]) << "the last of them, which its neighbour can take";
  for (std::size_t i = 1; i + 1 < most_stolen_from_guests; i++) EXPECT_EQ(s.take_own(self), &frames[i]);
  EXPECT_EQ(s.take_own(self), nullptr);
  EXPECT_EQ(creator().normal.size(), frames.size() - most_stolen_from_guests);
}

TEST_F(batches, are_a_share_of_what_there_is) {
  create(40);
  has_run(s.slot(0), 1000);
  EXPECT_EQ(steals(0), &frames[0]);
  EXPECT_EQ(s.slot(0).normal.size(), 9u);  // a quarter, for there are two workers
  EXPECT_EQ(creator().normal.size(), 30u);
}

TEST_F(batches, are_not_taken_of_long_tasks_nor_of_unknown_ones) {
  create(300);
  EXPECT_EQ(steals(0), &frames[0]);
  EXPECT_TRUE(s.slot(0).normal.empty());
  has_run(s.slot(0), 100'000);
  EXPECT_EQ(steals(0), &frames[1]);
  EXPECT_TRUE(s.slot(0).normal.empty());
}

// Else a task of such a batch that creates tasks would run these on top of itself, for others to have the outer level.
TEST_F(batches, are_no_outer_level_of_a_recursion) {
  create(300);
  slot_queues& self = s.slot(0);
  has_run(self, 1000);
  EXPECT_EQ(steals(0), &frames[0]);
  EXPECT_LE(self.normal.left_before(self.end_of_older()), 0);
  EXPECT_EQ(s.take_own(self), &frames[1]);
  EXPECT_LE(self.normal.left_before(self.end_of_older()), 0);
  while (s.take_own(self) != nullptr) static_cast<void>(self.end_of_older());
  for (std::size_t i = 0; i < 3; i++) s.push_own(self, &frames[i]);
  EXPECT_EQ(self.normal.left_before(self.end_of_older()), 3) << "its own";
}

TEST_F(batches, of_its_own_tasks_a_thread_takes_the_newest_first) {
  create(100);
  frame urgent;
  urgent.priority = 1;
  s.push_own(creator(), &urgent);
  slot_queues& place = s.slot(1);
  EXPECT_EQ(s.take_own_of_guest(creator(), place), &urgent);
  for (std::size_t i = 100; i-- > most_stolen_from_guests;)
    EXPECT_EQ(s.take_own_of_guest(creator(), place), &frames[i]);
  EXPECT_TRUE(place.normal.empty());
  EXPECT_EQ(s.take_own_of_guest(creator(), place), &frames[most_stolen_from_guests - 1]);
  EXPECT_EQ(s.take_own_of_guest(creator(), place), nullptr);
  for (std::size_t i = most_stolen_from_guests - 1; i-- > 0;) EXPECT_EQ(s.take_own(place), &frames[i]);
  EXPECT_EQ(s.take_own(place), nullptr);
}

}  // namespace
}  // namespace weir::sched
