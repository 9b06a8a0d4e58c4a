// What thieves are told of tasks that say on which node they should run, and name memory of the program's own.
#include "sched/scheduler.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>

namespace weir::sched {
namespace {

constexpr std::uintptr_t first_byte = std::uintptr_t{1} << 40;  // no memory is looked at: addresses will do
constexpr std::uint64_t mib = std::uint64_t{1} << 20;           // exact as a rough_number

// Two workers on a node each; the first makes tasks ready that name a MiB of memory whose place is pretended.
struct annotated_tasks : testing::Test {
  explicit annotated_tasks(const char* policy = "local")
      : machine(machine::synthetic(2, 1)), s(machine, {0, 1}, place::parse(policy), 0) {
    s.set_user_memory(known);
    for (int w = 0; w < s.worker_count(); w++) s.make_worker_slot(w);
  }
  frame* task_for(int node, flow::waiter_kind kind) {
    frame* const f = new (room) frame();
    f->ops = &ops;
    f->affinity = static_cast<std::int16_t>(node);
    f->accesses = 1;
    f->unusual = frame::has_ranges;
    auto& a = *new (f->access_at(0)) flow::access();
    a.target = reinterpret_cast<std::uintptr_t>(f) | static_cast<std::uintptr_t>(kind);
    a.bytes = mib;
    a.set_place(first_byte, flow::access::reads_range);
    return f;
  }
  // Where it was sent to.
  std::uint64_t bytes_of_one_for(int node, flow::waiter_kind kind) {
    frame* const f = task_for(node, kind);
    const bool sent = s.route(s.slot(0), f) != routing::stays;
    EXPECT_EQ(sent, node != 0);
    if (!sent) return s.hint_of(f).bytes();
    const ready_task t = s.slot(node).pushed.try_pop();
    EXPECT_EQ(t.task(), f);
    return t.hint().bytes();
  }

  const machine::description machine;
  memory::regions known{os::pretended_memory(), {0, 1}};
  scheduler s;
  const detail::task_ops ops{nullptr, nullptr};
  alignas(64) std::byte room[sizeof(frame) + sizeof(flow::access)];
};

TEST_F(annotated_tasks, cost_more_elsewhere_where_their_memory_is_with_them) {
  known.placed(first_byte, mib, 1);
  EXPECT_EQ(bytes_of_one_for(1, flow::waiter_kind::read), mib);
  EXPECT_EQ(bytes_of_one_for(1, flow::waiter_kind::covered_overwrite), mib);
  EXPECT_EQ(bytes_of_one_for(1, flow::waiter_kind::covered_update), 2 * mib) << "read and written";
  EXPECT_EQ(bytes_of_one_for(0, flow::waiter_kind::read), 0u) << "it is not with them";
}

TEST_F(annotated_tasks, find_out_where_it_is) {
  // Read by a task before one has written it: by the program's own threads, on the first node.
  EXPECT_EQ(bytes_of_one_for(0, flow::waiter_kind::read), mib);
  EXPECT_EQ(known.node_of(first_byte), 0);
}

TEST_F(annotated_tasks, that_write_it_first_cost_the_same_everywhere) {
  EXPECT_EQ(bytes_of_one_for(1, flow::waiter_kind::covered_overwrite), 0u);
  EXPECT_EQ(known.node_of(first_byte), memory::place_unknown);
}

struct annotated_tasks_under_steal : annotated_tasks {
  annotated_tasks_under_steal() : annotated_tasks("steal") {}
};

TEST_F(annotated_tasks_under_steal, are_sent_and_nothing_is_looked_up) {
  EXPECT_EQ(bytes_of_one_for(1, flow::waiter_kind::read), 0u);
  EXPECT_EQ(known.node_of(first_byte), memory::place_unknown);
}

}  // namespace
}  // namespace weir::sched
