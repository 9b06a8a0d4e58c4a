// Affinities, and that pushing policies bring tasks to their data.
#include "tests/support/support.hpp"

#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace weir::test {
namespace {

TEST(placement, a_required_node_is_where_the_task_runs) {
  watchdog dog(60);
  for (const std::string& policy : policy_names()) {
    runtime rt({.workers = 4, .policy = policy, .machine = "nodes:2 cpus:2"});
    std::atomic<int> wrong{0}, ran{0};
    const auto d = rt.make_data<int>(1000);
    for (int i = 0; i < 200; i++) {
      const int node = i % 2;
      rt.spawn({.affinity = require(node)}, out(d), [&, node](auto) { ran++, wrong += this_task::node() != node; });
      rt.spawn({.affinity = require(1 - node)}, in(d), [&, node](auto) { ran++, wrong += this_task::node() != 1 - node; });
      if (i % 50 == 0) rt.wait();  // from sleep, too
    }
    rt.spawn([&] {
      scope s(rt);
      for (int i = 0; i < 50; i++) s.spawn({.affinity = require(i % 2)}, [&, i] { ran++, wrong += this_task::node() != i % 2; });
      s.wait();
    });
    rt.wait();
    EXPECT_EQ(ran, 450) << policy;
    EXPECT_EQ(wrong, 0) << policy;
  }
}

// Who writes new data, and gets memory for it, waits until those are done that use what is there.
// Nobody else may run it, and others can take the rest. The other worker is held up, and takes nothing.
TEST(placement, a_required_node_comes_before_a_chain_and_before_the_own_queue) {
  watchdog dog(60);
  for (const char* policy : {"steal", "deferred", "local", "fifo", "node-queues"}) {
    SCOPED_TRACE(policy);
    runtime rt({.workers = 2, .policy = policy, .machine = "nodes:2 cpus:1"});
    gate created, other;
    std::atomic<int> ran{0}, ran_before{-1}, ran_then{0};
    const auto requires_node_0 = [&] { rt.spawn({.affinity = require(0)}, [&] { ran_before = ran.load(); }); };
    rt.spawn({.affinity = require(1)}, [&] { other.pass(); });
    other.await_arrivals(1);

    const auto d = rt.make_data(std::vector<int>{0}, "link");
    rt.spawn(inout(d), [&](auto) {
      created.pass();
      requires_node_0();
      ran++;
    });
    for (int i = 0; i < 100; i++) rt.spawn(inout(d), [&](auto) { ran++; });
    created.open();
    while (ran < 101 || ran_before < 0) std::this_thread::yield();
    EXPECT_LE(ran_before, 3) << "tasks of a chain";

    ran = 0;
    ran_before = -1;
    rt.spawn({.affinity = require(0)}, [&] {
      for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });  // and runs some of them
      requires_node_0();
      ran_then = ran.load();
    });
    while (ran < 100 || ran_before < 0) std::this_thread::yield();
    other.open();
    rt.wait();
    EXPECT_LE(ran_before, ran_then + 3) << "tasks of the own queue";
  }
}

// By turns with what became ready by such a task, or all data would be there at once.
TEST(placement, tasks_that_require_a_node_do_not_put_off_what_uses_their_data) {
  watchdog dog(60);
  for (const char* policy : {"steal", "deferred", "local"}) {
    SCOPED_TRACE(policy);
    runtime rt({.workers = 2, .policy = policy, .machine = "nodes:2 cpus:1"});
    gate other, created;
    rt.spawn({.affinity = require(1)}, [&] { other.pass(); });
    rt.spawn({.affinity = require(0)}, [&] { created.pass(); });
    other.await_arrivals(1);
    created.await_arrivals(1);
    std::atomic<int> live{0}, most{0}, used{0};
    for (int i = 0; i < 100; i++) {
      const auto d = rt.make_data<int>(1);
      rt.spawn({.affinity = require(0)}, out(d), [&](auto) { most = std::max(most.load(), ++live); });
      rt.spawn(in(d), [&](auto) { live--, used++; });
    }
    created.open();
    while (used < 100) std::this_thread::yield();
    other.open();
    rt.wait();
    EXPECT_LE(most, 3);
  }
}

TEST(placement, data_are_used_before_others_are_made) {
  watchdog dog(60);
  constexpr std::size_t doubles = 8192, users = 6;
  for (const char* policy : {"local", "follow"}) {
    runtime rt({.workers = 1, .policy = policy, .machine = "nodes:2 cpus:1"});
    rt.run([&] {
      for (int i = 0; i < 200; i++) {
        const auto d = rt.make_data<double>(doubles);
        rt.spawn(out(d), [](auto x) { std::ranges::fill(x, 1.0); });
        for (std::size_t k = 0; k < users; k++) rt.spawn(in(d), [](auto x) { EXPECT_EQ(x[0], 1.0); });
      }
    });
    rt.wait();
    EXPECT_LE(rt.stats().peak_buffer_bytes, 4 * doubles * sizeof(double)) << policy;
  }
}

TEST(placement, a_preferred_node_is_offered_the_task) {
  watchdog dog(60);
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  std::atomic<int> ran{0};
  rt.spawn({.affinity = require(0)}, [&] {
    for (int i = 0; i < 100; i++) rt.spawn({.affinity = prefer(1)}, [&] { ran++; });
  });
  rt.wait();
  EXPECT_EQ(ran, 100);
  EXPECT_GE(rt.stats().pushes, 50u);  // the inbox has room for all of them; the rest may have been kept
}

TEST(placement, nobody_is_idle_while_a_preferred_node_is_busy) {
  watchdog dog(60, "tasks behind a busy worker");
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  gate g;
  rt.spawn({.affinity = require(1)}, [&] { g.pass(); });
  g.await_arrivals(1);
  std::atomic<int> elsewhere{0};
  scope s(rt);
  for (int i = 0; i < 20; i++) s.spawn({.affinity = prefer(1)}, [&] { elsewhere += this_task::node() == 0; });
  s.wait();  // although node 1's only worker stands behind the gate
  EXPECT_EQ(elsewhere, 20);
  g.open();
  rt.wait();
}

// main has made all data, so they lie on one node.
TEST(placement, chains_over_data_of_one_node_do_not_stay_with_one_worker) {
  watchdog dog(60);
  runtime rt({.workers = 4, .machine = "nodes:4 cpus:1"});
  std::vector<data<int>> heads;
  for (int i = 0; i < 4; i++) heads.push_back(rt.make_data(std::vector<int>(1024, 0)));
  std::mutex lock;
  std::set<int> workers;
  for (int step = 0; step < 10; step++)
    for (auto& d : heads)
      rt.spawn(inout(d), [&](auto x) {
        x[0]++;
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        const std::lock_guard guard(lock);
        workers.insert(this_task::worker());
      });
  rt.wait();
  for (auto& d : heads) EXPECT_EQ(d.read()[0], 10);
  EXPECT_GE(workers.size(), 2u);  // all four, but for what else the machine does
}

// A block that a task of node 0 creates a writer for, which must wait, and a task of node 1 a reader, before the writer
// begins or after it is done. How many of the block's bytes were written from afar, by a writer on node 0.
std::uint64_t written_from_afar(const std::string& policy, bool reader_in_time) {
  constexpr std::size_t bytes = 1 << 20;
  runtime rt({.workers = 4, .policy = policy, .machine = "nodes:2 cpus:2"});
  gate g;
  const auto go = rt.make_data<char>(1), block = rt.make_data<char>(bytes);
  rt.spawn({.affinity = require(1)}, out(go), [&](auto) { g.pass(); });
  std::atomic<int> created{0};
  std::atomic<bool> written{false};
  rt.spawn({.affinity = require(0)}, [&] {
    rt.spawn({.affinity = require(0)}, in(go), out(block), [&](auto, auto) { written = true; });
    created++;
  });
  while (created != 1) std::this_thread::yield();
  if (!reader_in_time) g.open();
  while (!reader_in_time && !written) std::this_thread::yield();
  rt.spawn({.affinity = require(1)}, [&] {
    rt.spawn(in(block), [](auto) {});
    created++;
  });
  while (created != 2) std::this_thread::yield();
  g.open();
  rt.wait();
  return rt.stats().write_remote() & ~std::uint64_t{1};  // without `go`
}

TEST(placement, outputs_lie_with_the_creator_of_their_task_or_of_its_reader) {
  watchdog dog(60);
  for (const std::string policy : {"steal", "push-inputs", "push-outputs", "push-weighted"}) {
    EXPECT_EQ(written_from_afar(policy, true), 0u) << policy;
    EXPECT_EQ(written_from_afar(policy + ":allocate=consumer", true), 1u << 20) << policy;
    EXPECT_EQ(written_from_afar(policy + ":allocate=consumer", false), 0u) << policy;
  }
}

// Creators on all nodes name what others are about to write; values must be right wherever they lie.
TEST(placement, readers_and_writers_meet_over_where_a_block_lies) {
  watchdog dog(60);
  for (int round = 0; round < 20; round++) {
    runtime rt({.workers = 4, .policy = "push-outputs:allocate=consumer", .machine = "nodes:4 cpus:1"});
    std::vector<data<int>> blocks;
    for (int i = 0; i < 64; i++) blocks.push_back(rt.make_data<int>(512));
    std::atomic<int> wrong{0};
    scope s(rt);
    for (int i = 0; i < 64; i++)
      s.spawn(out(blocks[static_cast<std::size_t>(i)]), [i](auto b) { std::ranges::fill(b, i); });
    for (int c = 0; c < 4; c++)
      s.spawn({.affinity = prefer(c)}, [&, c] {
        for (int i = 0; i < 64; i++)
          s.spawn(in(blocks[static_cast<std::size_t>((i + 16 * c) % 64)]),
                  [&wrong, is = (i + 16 * c) % 64](auto b) { wrong += b[0] != is || b[511] != is; });
      });
    s.wait();
    for (int i = 0; i < 64; i++) s.spawn(inout(blocks[static_cast<std::size_t>(i)]), [](auto b) { b[0]++; });
    s.wait();
    for (int i = 0; i < 64; i++) wrong += blocks[static_cast<std::size_t>(i)].read()[0] != i + 1;
    EXPECT_EQ(wrong, 0);
  }
}

// Its data lie on node 1, where nothing is created: the tasks that update them there are sent there.
TEST(placement, updates_are_pushed_to_where_they_write) {
  watchdog dog(60);
  for (const char* policy : {"push-outputs", "push-weighted"}) {
    runtime rt({.workers = 2, .policy = policy, .machine = "nodes:2 cpus:1"});
    std::vector<data<int>> blocks;
    for (int i = 0; i < 32; i++) blocks.push_back(rt.make_data<int>(4096));
    rt.spawn({.affinity = require(1)}, [&] {
      for (const auto& b : blocks) rt.spawn({.affinity = require(1)}, out(b), [](auto) {});
    });
    rt.wait();
    rt.reset_statistics();
    rt.spawn({.affinity = require(0)}, [&] {
      for (const auto& b : blocks) rt.spawn(inout(b), [](auto x) { x[0]++; });
    });
    rt.wait();
    EXPECT_GE(rt.stats().pushes + rt.stats().pushes_refused, 32u) << policy;
  }
}

// A block of memory on each node, whether versions get their memory when the task is created or when it runs.
std::vector<data<int>> blocks_of_nodes(runtime& rt) {
  std::vector<data<int>> blocks;
  for (int node = 0; node < rt.nodes(); node++) {
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

// All workers stand behind gates while a reader of each block is created, that of `node` last. Then the only worker of
// that node goes on: what was sent to it comes first, what lies elsewhere it could at most steal. Returns whose reader
// it ran.
int first_reader_run_on(runtime& rt, const std::vector<data<int>>& blocks, int node) {
  const int nodes = rt.nodes();
  std::vector<gate> gates(static_cast<std::size_t>(nodes));
  for (int n = 0; n < nodes; n++)
    rt.spawn({.affinity = require(n)}, [&g = gates[static_cast<std::size_t>(n)]] { g.pass(); });
  for (gate& g : gates) g.await_arrivals(1);
  std::atomic<int> first{-1};
  for (int i = 1; i <= nodes; i++) {
    const int of = (node + i) % nodes;
    rt.spawn(in(blocks[static_cast<std::size_t>(of)]), [&first, of](auto) {
      int none = -1;
      first.compare_exchange_strong(none, of);
    });
  }
  gates[static_cast<std::size_t>(node)].open();
  while (first < 0) std::this_thread::yield();
  for (gate& g : gates) g.open();
  rt.wait();
  return first;
}

TEST(placement, tasks_go_where_their_inputs_are) {
  watchdog dog(60);
  for (const char* policy : {"local", "push-inputs", "push-weighted"}) {
    runtime rt({.workers = 4, .policy = policy, .machine = "nodes:4 cpus:1"});
    const std::vector<data<int>> blocks = blocks_of_nodes(rt);
    rt.reset_statistics();
    for (int node = 0; node < 4; node++) EXPECT_EQ(first_reader_run_on(rt, blocks, node), node) << policy;
    const statistics s = rt.stats();
    EXPECT_EQ(s.read_local() + s.read_remote(), 16u * 4096 * sizeof(int)) << policy;
    EXPECT_EQ(s.pushes, 16u) << policy;  // from a thread that executes nothing, each is sent
  }
}

// The program's threads execute nothing, so what belongs to their own node has to be sent there as well: from their
// queues any worker would take it. On a pretended machine they are on node 0.
TEST(placement, tasks_created_outside_go_where_their_inputs_are_too) {
  watchdog dog(60);
  runtime rt({.workers = 4, .policy = "local", .machine = "nodes:4 cpus:1"});
  for (int node = 0; node < 4; node++) {
    const auto d = rt.make_data<int>(2000);
    rt.spawn({.affinity = require(node)}, out(d), [](auto) {});
    rt.wait();
    rt.reset_statistics();
    std::atomic<unsigned> elsewhere{0};
    for (int i = 0; i < 3; i++) rt.spawn(in(d), [&](auto) { elsewhere += this_task::node() != node ? 1 : 0; });
    rt.wait();
    EXPECT_LE(elsewhere, rt.stats().pushes) << "node " << node << ": nobody has taken it from there";
  }
}

TEST(placement, deferred_allocation_makes_every_new_version_local) {
  for (const char* policy : {"local", "deferred"}) {
    runtime rt({.workers = 4, .policy = policy, .machine = "nodes:4 cpus:1"});
    std::vector<data<int>> blocks;
    for (int i = 0; i < 16; i++) blocks.push_back(rt.make_data<int>(2000));
    for (int t = 0; t < 20; t++)
      for (std::size_t i = 0; i < 16; i++) {
        if (t == 0) rt.spawn(out(blocks[i]), [](auto) {});
        else rt.spawn(in(blocks[i]), in(blocks[(i + 1) % 16]), out(blocks[i]), [](auto, auto, auto) {});
      }
    rt.wait();
    const statistics s = rt.stats();
    EXPECT_EQ(s.write_remote(), 0u);
    EXPECT_EQ(s.write_local(), 20u * 16 * 2000 * sizeof(int));
  }
}

// Initial tasks are dealt out to the nodes. The one for a node whose only worker is in a long task is taken by another in
// the end; here the long task even waits for it.
TEST(placement, an_initial_task_behind_a_long_one_is_taken_by_another_node) {
  watchdog dog(60);
  for (const std::int64_t spin : {0, 2000}) {
    runtime rt({.workers = 2, .policy = "local", .machine = "nodes:2 cpus:1", .spin = spin});
    std::atomic<bool> occupied{false};
    std::atomic<int> ran{0};
    rt.spawn({.affinity = require(0)}, [&] {
      occupied = true;
      while (ran < 4) std::this_thread::yield();
    });
    while (!occupied) std::this_thread::yield();
    std::vector<data<char>> d;
    for (int i = 0; i < 4; i++) {
      d.push_back(rt.make_data<char>(4096));
      rt.spawn(out(d.back()), [&](auto) { ran++; });
    }
    rt.wait();
    for (const auto& x : d) EXPECT_EQ(x.read().node(), 1);
  }
}

// First touch on pretended nodes: a version is where it was first written, on its writer's node. Blocks that are used
// again stay where they are, so both data live to the end.
// A worker that gets on, with two tasks waiting at most, is relieved by one that has been idle for long.
TEST(placement, few_tasks_of_a_busy_node_are_shared_in_the_end) {
  for (const int spin : {0, 2000}) {
    watchdog dog(120);
    runtime rt({.workers = 2, .policy = "local", .machine = "nodes:2 cpus:1", .spin = spin});
    std::atomic<bool> shared{false};
    rt.run([&] {
      const int here = this_task::node();
      while (!shared) {
        scope s(rt);
        for (int i = 0; i < 3; i++)
          s.spawn([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            if (this_task::node() != here) shared = true;
          });
        s.wait();
      }
    });
    EXPECT_GT(rt.stats().steals(), 0u);
  }
}

TEST(placement, first_touch_is_where_the_writer_was) {
  runtime rt({.workers = 2, .policy = "fifo", .machine = "nodes:2 cpus:1"});
  const auto first = rt.make_data<int>(10'000), second = rt.make_data<int>(10'000);
  for (int node : {0, 1}) {
    const auto& d = node == 0 ? first : second;
    rt.spawn({.affinity = require(node)}, out(d), [](auto s) { s[0] = 1; });
    EXPECT_EQ(d.read().node(), node);
    rt.wait();
    rt.reset_statistics();
    rt.spawn({.affinity = require(1 - node)}, in(d), [](auto) {});
    rt.wait();
    EXPECT_EQ(rt.stats().read_remote(), 40'000u);
  }
}

}  // namespace
}  // namespace weir::test
