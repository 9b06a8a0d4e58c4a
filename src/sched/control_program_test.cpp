// Where a task begins that a thread of the program waits for and does not execute.
#include "sched/scheduler.hpp"

#include <gtest/gtest.h>

namespace weir::sched {
namespace {

constexpr std::uint64_t at_first_ns = 1'000'000'000, second_ns = 1'000'000'000;

// Two nodes with two workers each, and a thread of the program on the second.
struct control_program : testing::Test {
  explicit control_program(const char* policy = "local")
      : machine(machine::synthetic(2, 2)), s(machine, {0, 0, 1, 1}, place::parse(policy), 0) {
    for (int w = 0; w < s.worker_count(); w++) s.make_worker_slot(w);
    guest = s.add_guest(1);
    program.ops = &ops;
  }
  bool begins_near(int node, int worker) {
    return s.push_near(s.slot(guest), &program, node, worker) != routing::stays;
  }
  frame* searches(int worker, std::uint64_t now_ns) {
    return s.steal(s.slot(worker), thief::reach::all, now_ns);
  }

  const machine::description machine;
  scheduler s;
  frame program;
  const detail::task_ops ops{nullptr, nullptr};
  int guest;
};

TEST_F(control_program, begins_with_the_worker_of_its_creators_cpu) {
  EXPECT_TRUE(begins_near(1, 3));
  EXPECT_EQ(s.take_own(s.slot(2)), nullptr);
  EXPECT_EQ(s.take_own(s.slot(3)), &program);
}

TEST_F(control_program, begins_on_its_creators_node_if_that_cpu_has_no_worker) {
  EXPECT_TRUE(begins_near(1, -1));
  EXPECT_EQ(s.take_own(s.slot(2)), &program);
  EXPECT_TRUE(begins_near(1, 0)) << "who has moved between two looks";
  EXPECT_EQ(s.take_own(s.slot(2)), &program);
}

TEST_F(control_program, is_taken_by_a_neighbour_at_once) {
  EXPECT_TRUE(begins_near(1, 3));
  EXPECT_EQ(searches(2, at_first_ns), &program);
}

// Or a worker that happens to be awake would have it before the one it is for has woken up.
TEST_F(control_program, is_taken_from_another_node_by_who_has_been_idle_beside_it) {
  s.slot(0).hunts.starts_to_search();
  EXPECT_TRUE(begins_near(1, 3));
  EXPECT_EQ(searches(0, at_first_ns), nullptr);
  EXPECT_EQ(searches(0, at_first_ns + second_ns), &program);
}

struct control_program_in_one_queue : control_program {
  control_program_in_one_queue() : control_program("fifo") {}
};

TEST_F(control_program_in_one_queue, begins_anywhere) { EXPECT_FALSE(begins_near(1, 3)); }

struct control_program_in_containers : control_program {
  control_program_in_containers() : control_program("node-queues") {}
};

TEST_F(control_program_in_containers, begins_where_the_policy_wants_it) { EXPECT_FALSE(begins_near(1, 3)); }

struct control_program_under_steal : control_program {
  control_program_under_steal() : control_program("steal") {}
};

TEST_F(control_program_under_steal, is_taken_by_who_comes_first) {
  EXPECT_TRUE(begins_near(1, 3));
  EXPECT_EQ(searches(0, at_first_ns), &program);
}

}  // namespace
}  // namespace weir::sched
