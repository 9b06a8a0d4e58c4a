// near(): tasks run near the memory of a datum that they do not access.
#include "tests/support/support.hpp"

#include <thread>

namespace weir::test {
namespace {

constexpr int nodes = 4;

// A block of memory on each node, under policies that place memory anywhere.
std::vector<data<int>> blocks_on_nodes(runtime& rt) {
  std::vector<data<int>> blocks;
  for (int node = 0; node < nodes; node++) {
    blocks.push_back(rt.make_data<int>(4096));
    rt.spawn({.affinity = require(node)}, [&rt, node, block = blocks.back()] {
      scope s(rt);
      s.spawn({.affinity = require(node)}, out(block), [](auto) {});
      s.wait();
    });
  }
  rt.wait();
  return blocks;
}

// All workers stand behind gates while a task is created for each node. Then one goes on: which of these runs first?
class standstill {
 public:
  explicit standstill(runtime& rt) : rt_(rt) {
    for (int n = 0; n < nodes; n++)
      rt.spawn({.affinity = require(n)}, [&g = gates_[static_cast<std::size_t>(n)]] { g.pass(); });
    for (gate& g : gates_) g.await_arrivals(1);
  }
  void create(int number, placement where) {
    rt_.spawn({.affinity = where}, [this, number] {
      int none = -1;
      first_.compare_exchange_strong(none, number);
    });
  }
  int first_on(int node) {
    gates_[static_cast<std::size_t>(node)].open();
    while (first_ < 0) std::this_thread::yield();
    for (gate& g : gates_) g.open();
    rt_.wait();
    return first_;
  }

 private:
  runtime& rt_;
  std::vector<gate> gates_{nodes};
  std::atomic<int> first_{-1};
};

template <class Where>
int first_of_all(runtime& rt, int node, const Where& where) {
  standstill all(rt);
  for (int i = 1; i <= nodes; i++) all.create((node + i) % nodes, where((node + i) % nodes));
  return all.first_on(node);
}

TEST(near, is_the_node_where_the_memory_is) {
  for (const std::string& policy : policy_names()) {
    watchdog dog(60);
    runtime rt({.workers = nodes, .policy = policy, .machine = "nodes:4 cpus:1"});
    const std::vector<data<int>> blocks = blocks_on_nodes(rt);
    if (blocks[0].read().node() < 0) continue;  // interleaved
    for (int node = 0; node < nodes; node++) {
      const int near_block =
          first_of_all(rt, node, [&](int of) { return near(blocks[static_cast<std::size_t>(of)]); });
      EXPECT_EQ(near_block, first_of_all(rt, node, prefer)) << policy;
      if (policy != "fifo") { EXPECT_EQ(near_block, node) << policy; }  // one queue for all
    }
  }
}

TEST(near, is_a_wish) {
  watchdog dog(60, "tasks behind a busy worker");
  runtime rt({.workers = nodes, .machine = "nodes:4 cpus:1"});
  const std::vector<data<int>> blocks = blocks_on_nodes(rt);
  gate g;
  rt.spawn({.affinity = require(1)}, [&] { g.pass(); });
  g.await_arrivals(1);
  scope s(rt);
  for (int i = 0; i < 20; i++) s.spawn({.affinity = near(blocks[1])}, [] {});
  s.wait();  // although node 1's only worker stands behind the gate
  g.open();
  rt.wait();
}

// A task that was sent to a node by a thread that executes nothing counts as a push.
bool is_placed(runtime& rt, const data<int>& d) {
  const auto before = rt.stats().pushes;
  scope s(rt);
  s.spawn({.affinity = near(d)}, [] {});
  s.wait();
  return rt.stats().pushes > before;
}

TEST(near, of_nothing_that_is_known_is_no_wish) {
  runtime rt({.workers = nodes, .policy = "deferred", .machine = "nodes:4 cpus:1"});
  EXPECT_FALSE(is_placed(rt, rt.make_data<int>(4096)));
  const auto empty = rt.make_data<int>(0);
  rt.spawn(out(empty), [](auto) {});
  rt.wait();
  EXPECT_FALSE(is_placed(rt, empty));
  runtime spread({.workers = nodes, .policy = "interleave", .machine = "nodes:4 cpus:1"});
  EXPECT_FALSE(is_placed(spread, blocks_on_nodes(spread)[2]));
  runtime one({.workers = 2, .machine = "nodes:1 cpus:2"});
  EXPECT_FALSE(is_placed(one, one.make_data(std::vector<int>{1})));
}

TEST(near, of_a_version_without_memory_is_where_its_writer_should_run) {
  watchdog dog(60);
  runtime rt({.workers = nodes, .policy = "deferred", .machine = "nodes:4 cpus:1"});
  const auto d = rt.make_data<int>(4096);
  standstill all(rt);
  rt.spawn({.affinity = require(1)}, out(d), [](auto) {});
  for (int i = 0; i < nodes; i++) all.create(i, i == 2 ? near(d) : prefer(0));
  EXPECT_EQ(all.first_on(1), 2);
}

TEST(near, of_a_version_without_memory_is_where_the_datum_was_last_seen) {
  watchdog dog(60);
  for (const bool update : {false, true}) {
    // Made anew: any worker may run the task below, and its version then lies there.
    runtime rt({.workers = nodes, .policy = "deferred", .machine = "nodes:4 cpus:1"});
    const std::vector<data<int>> blocks = blocks_on_nodes(rt);
    EXPECT_TRUE(is_placed(rt, blocks[3]));
    standstill all(rt);
    if (update) rt.spawn(inout(blocks[3]), [](auto) {});
    else rt.spawn(out(blocks[3]), [](auto) {});
    for (int i = 0; i < nodes; i++) all.create(i, i == 2 ? near(blocks[3]) : prefer(0));
    EXPECT_EQ(all.first_on(3), 2) << (update ? "updated" : "overwritten");
  }
}

TEST(near, of_a_version_with_memory_does_not_wait_for_its_writer) {
  watchdog dog(60);
  for (const bool at_creation : {true, false}) {
    runtime rt({.workers = nodes, .policy = at_creation ? "steal" : "deferred", .machine = "nodes:4 cpus:1"});
    const auto d = rt.make_data<int>(4096);
    gate g;
    rt.spawn(out(d), [&](auto) { g.pass(); });
    g.await_arrivals(1);
    EXPECT_EQ(is_placed(rt, d), at_creation);
    g.open();
    rt.wait();
  }
}

// While the data are written by many, with and without locks on data.
TEST(near, is_asked_while_versions_come_and_go) {
  watchdog dog(120);
  for (const std::string& policy : policy_names()) {
    runtime rt({.workers = nodes, .policy = policy, .machine = "nodes:4 cpus:1"});
    const auto d = rt.make_data(std::vector<int>(1024, 0));
    std::atomic<int> ran{0};
    for (int creator = 0; creator < nodes; creator++)
      rt.spawn([&] {
        for (int i = 0; i < 500; i++) {
          if (i % 2 == 0) rt.spawn(inout(d), [](auto x) { x[0]++; });
          else rt.spawn(in(d), out(d), [](auto old, auto next) { next[0] = old[0] + 1; });
          rt.spawn({.affinity = near(d)}, [&] { ran++; });
        }
      });
    rt.wait();
    EXPECT_EQ(ran, nodes * 500) << policy;
    EXPECT_EQ(d.read()[0], nodes * 500) << policy;
  }
}

}  // namespace
}  // namespace weir::test
