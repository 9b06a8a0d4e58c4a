// The policy node-queues (Rossignon et al., PDSEC 2013, section VI): strict and flexible affinities, the nodes in turn
// without one.
#include "tests/support/support.hpp"

#include <array>

namespace weir::test {
namespace {

runtime_options two_nodes(int workers) { return {.workers = workers, .policy = "node-queues", .machine = "nodes:2 cpus:" + std::to_string((workers + 1) / 2)}; }

// One worker of each node is held up behind a door of its own.
struct held_workers {
  explicit held_workers(runtime& rt) {
    for (int node = 0; node < 2; node++) rt.spawn({.affinity = require(node)}, [this, node] { door[static_cast<std::size_t>(node)].pass(); });
    for (gate& d : door) d.await_arrivals(1);
  }
  std::array<gate, 2> door;
};

TEST(node_queues, a_flexible_affinity_is_no_order) {
  watchdog dog(60);
  runtime rt(two_nodes(2));
  held_workers held(rt);
  std::atomic<int> ran{0}, wrong{0};
  for (int i = 0; i < 10; i++)
    for (int node : {0, 1})
      rt.spawn({.affinity = prefer(node)}, [&] {
        ran++;
        wrong += this_task::node() != 1;
      });
  held.door[1].open();
  while (ran < 20) std::this_thread::yield();
  EXPECT_EQ(wrong, 0);
  held.door[0].open();
  rt.wait();
}

TEST(node_queues, a_strict_affinity_is_an_order) {
  watchdog dog(60);
  runtime rt(two_nodes(2));
  held_workers held(rt);
  std::atomic<int> far{0}, near{0}, wrong{0};
  for (int i = 0; i < 10; i++) {
    rt.spawn({.affinity = require(0)}, [&] { far++, wrong += this_task::node() != 0; });
    rt.spawn({.affinity = require(1)}, [&] { near++, wrong += this_task::node() != 1; });
  }
  held.door[1].open();
  while (near < 10) std::this_thread::yield();
  EXPECT_EQ(far, 0);
  held.door[0].open();
  rt.wait();
  EXPECT_EQ(far, 10);
  EXPECT_EQ(wrong, 0);
}

// What nobody asked for is in both containers, so each worker finds half of it in its own: the rest it has to steal.
TEST(node_queues, tasks_without_affinity_go_to_the_nodes_in_turn) {
  watchdog dog(60);
  runtime rt(two_nodes(2));
  held_workers held(rt);
  rt.reset_statistics();
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });
  held.door[1].open();
  while (ran < 100) std::this_thread::yield();
  held.door[0].open();
  rt.wait();
  EXPECT_EQ(rt.stats().steals(), 50u);
}

TEST(node_queues, one_creator_s_tasks_run_in_their_order_on_one_worker) {
  runtime rt({.workers = 1, .policy = "node-queues"});
  std::vector<int> order;
  rt.run([&](scope& s) {
    for (int i = 0; i < 100; i++) s.spawn({.priority = i % 10 == 9 ? priority::high : priority::normal}, [&order, i] { order.push_back(i); });
  });
  std::vector<int> expected;
  for (int i = 9; i < 100; i += 10) expected.push_back(i);
  for (int i = 0; i < 100; i++)
    if (i % 10 != 9) expected.push_back(i);
  EXPECT_EQ(order, expected);
}

TEST(node_queues, more_tasks_than_a_container_s_ring_holds) {
  std::atomic<int> ran{0};
  runtime rt(two_nodes(4));
  rt.run([&](scope& s) {
    for (int i = 0; i < 50000; i++) s.spawn({.affinity = prefer(1)}, [&] { ran++; });
  });
  EXPECT_EQ(ran, 50000);
}

}  // namespace
}  // namespace weir::test
