// Aggregated graphs as programs use them: runs in both directions, operators, places, failures, files.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <latch>
#include <mutex>

namespace weir::test {
namespace {

using ids = std::span<const graph::task_id>;

// The lower triangle of a five-point grid: (x, y) depends on (x - 1, y) and (x, y - 1).
struct grid {
  explicit grid(graph::task_id side) {
    for (graph::task_id y = 0; y < side; y++)
      for (graph::task_id x = 0; x < side; x++) {
        if (y > 0) before.push_back((y - 1) * side + x);
        if (x > 0) before.push_back(y * side + x - 1);
        offsets.push_back(before.size());
      }
  }
  std::size_t tasks() const { return offsets.size() - 1; }
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> before;
};

// Sums of paths: each task adds up those before it. The same in every order that keeps dependences.
class path_counter {
 public:
  explicit path_counter(const grid& g) : grid_(g), paths_(g.tasks()) {}
  void clear() { std::fill(paths_.begin(), paths_.end(), 0); }
  void forward(graph::task_id t) {
    std::uint32_t sum = 1;
    for (std::size_t e = grid_.offsets[t]; e < grid_.offsets[t + 1]; e++) sum += paths_[grid_.before[e]];
    paths_[t] = sum;
  }
  const std::vector<std::uint32_t>& paths() const { return paths_; }

 private:
  const grid& grid_;
  std::vector<std::uint32_t> paths_;
};

TEST(coarse_graph, gives_the_same_results_under_every_configuration) {
  const grid cells(20);
  const graph g(cells.offsets, cells.before);
  path_counter expected(cells), found(cells);
  for (graph::task_id t = 0; t < cells.tasks(); t++) expected.forward(t);
  for (const char* coarse_string : {"S", "F(4)", "D(7)", "C", "CD(4)", "C(5)F(3)", "SD(30)F(2)"}) {
    coarse_graph c = aggregate(g, coarse_string);
    EXPECT_EQ(c.algorithms(), coarse_string);
    for (const runtime_options& o : configurations()) {
      runtime rt(o);
      for (bool as_list : {false, true}) {
        found.clear();
        if (as_list)
          c.run(rt, [&](ids tasks) {
            for (graph::task_id t : tasks) found.forward(t);
          });
        else c.run(rt, [&](graph::task_id t) { found.forward(t); });
        ASSERT_EQ(found.paths(), expected.paths()) << coarse_string << ", " << text(o);
      }
    }
  }
}

TEST(coarse_graph, runs_against_the_edges) {
  const grid cells(15);
  graph g(cells.offsets, cells.before);
  for (const char* coarse_string : {"F(4)", "CD(4)", "D(9)"}) {
    coarse_graph c = aggregate(g, coarse_string);
    runtime rt({.workers = 3});
    for (bool as_list : {false, true})
      for (int i = 0; i < 3; i++) {
        std::vector<std::atomic<int>> done(cells.tasks());
        const auto one = [&](graph::task_id t) {
          for (graph::task_id a : {t + 1, t + 15})
            if (a < cells.tasks() && (a == t + 15 || a % 15 != 0)) { EXPECT_EQ(done[a], 1) << "task " << t << " before " << a; }
          done[t]++;
        };
        if (as_list)
          c.run_transposed(rt, [&](ids tasks) {
            for (graph::task_id t : tasks) one(t);
          });
        else c.run_transposed(rt, one);
        for (const auto& d : done) EXPECT_EQ(d, 1);
      }
  }
}

TEST(coarse_graph, the_operator_gets_the_members_of_an_aggregate) {
  const grid cells(8);
  graph g(cells.offsets, cells.before);
  coarse_graph c = aggregate(g, "C");
  ASSERT_EQ(c.aggregates(), 8u);
  EXPECT_EQ(c.edges(), 7u);
  EXPECT_EQ(c.predecessors(3).size(), 1u);
  runtime rt({.workers = 2});
  std::atomic<int> calls{0};
  c.run(rt, [&](ids tasks) {
    calls++;
    ASSERT_EQ(tasks.size(), 8u);
    EXPECT_TRUE(std::ranges::equal(tasks, c.members(tasks[0] / 8)));
  });
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(rt.stats().tasks, 8u);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { static_cast<void>(c.members(8)); }), "there is no aggregate 8, it has 8");
}

TEST(coarse_graph, tasks_recorded_one_by_one_keep_their_callables) {
  graph g;
  std::vector<int> order;
  graph::task_id last = 0;
  for (int i = 0; i < 10; i++) {
    const auto t = g.add([&order, i] { order.push_back(i); });
    if (i > 0) g.precede(last, t);
    last = t;
  }
  coarse_graph c = aggregate(g, "S");
  EXPECT_EQ(c.aggregates(), 1u);
  runtime rt({.workers = 2});
  c.run(rt);
  c.run(rt);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  g.run(rt);
  g.add([] {});
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { c.run(rt); }), "has been changed; aggregate it again");
  const grid cells(3);
  graph bulk(cells.offsets, cells.before);
  coarse_graph of_bulk = aggregate(bulk, "S");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { of_bulk.run(rt); }), "without a body");
}

TEST(coarse_graph, a_failure_names_the_aggregate_and_stops_what_depends_on_it) {
  const grid cells(10);
  graph g(cells.offsets, cells.before);
  coarse_graph c = aggregate(g, "C");
  runtime rt({.workers = 3});
  std::vector<std::atomic<int>> ran(cells.tasks());
  for (int i = 0; i < 2; i++) {
    const std::string message = message_of<task_failed>([&] {
      c.run(rt, [&](graph::task_id t) {
        if (t == 55) throw std::runtime_error("row 55 is singular");
        ran[t]++;
      });
    });
    WEIR_EXPECT_CONTAINS(message, "task 5 (an aggregate of 10 tasks) failed: row 55 is singular");
  }
  for (graph::task_id t = 0; t < cells.tasks(); t++) EXPECT_EQ(ran[t], t < 55 ? 2 : 0) << t;
  c.run(rt, [&](graph::task_id t) { ran[t]++; });
  EXPECT_EQ(ran[99], 1);
}

TEST(coarse_graph, aggregates_run_where_they_are_placed) {
  const grid cells(12);
  graph g(cells.offsets, cells.before);
  coarse_graph c = aggregate(g, "C");
  runtime rt({.workers = 4, .machine = "nodes:2 cpus:2"});
  std::vector<int> nodes(c.aggregates());
  for (std::size_t a = 0; a < nodes.size(); a++) nodes[a] = a % 3 == 2 ? -1 : static_cast<int>(a % 3);
  c.place(nodes, true);
  EXPECT_EQ(c.node(1), 1);
  EXPECT_EQ(c.node(2), -1);
  for (int i = 0; i < 5; i++) {
    std::array<std::atomic<int>, 12> where{};
    c.run(rt, [&](ids tasks) { where[tasks[0] / 12] = this_task::node(); });
    for (std::size_t a = 0; a < nodes.size(); a++)
      if (nodes[a] >= 0) { EXPECT_EQ(where[a], nodes[a]) << "aggregate " << a; }
  }
  c.place(nodes);
  std::atomic<int> ran{0};
  c.run(rt, [&](graph::task_id) { ran++; });
  EXPECT_EQ(ran, 144);
  c.place({});
  c.run(rt, [&](graph::task_id) { ran++; });
  EXPECT_EQ(ran, 288);
  nodes[3] = 7;
  c.place(nodes);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { c.run(rt, [](graph::task_id) {}); }), "affinity names node 7, the machine has 2 nodes");
  nodes[3] = -2;
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { c.place(nodes); }), "aggregate 3: there can be no node -2");
  nodes.pop_back();
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { c.place(nodes); }), "11 nodes for 12 aggregates");
}

TEST(coarse_graph, is_saved_loaded_and_drawn) {
  const grid cells(4);
  graph g(cells.offsets, cells.before);
  const coarse_graph c = aggregate(g, "C");
  const std::string file = std::filesystem::temp_directory_path() / ("weir-coarse-" + std::to_string(std::random_device{}()));
  c.save(file);
  coarse_graph back = coarse_graph::load(file, g);
  std::filesystem::remove(file);
  EXPECT_EQ(back.algorithms(), "C");
  EXPECT_EQ(back.to_json(), c.to_json());
  EXPECT_EQ(c.to_dot(), "digraph weir {\n  0 [label=\"0 (4)\"];\n  1 [label=\"1 (4)\"];\n  2 [label=\"2 (4)\"];\n  3 [label=\"3 (4)\"];\n  0 -> 1;\n  1 -> 2;\n  2 -> 3;\n}\n");
  EXPECT_TRUE(c.to_json().starts_with("{\"algorithms\": \"C\", \"aggregates\": [{\"id\": 0, \"members\": [0, 1, 2, 3]}, {\"id\": 1, ")) << c.to_json();
  runtime rt({.workers = 2});
  std::atomic<int> ran{0};
  back.run(rt, [&](graph::task_id) { ran++; });
  EXPECT_EQ(ran, 16);
}

// A chain, and as many tasks that nothing waits for and that are the first of the graph. One worker: the other one is held up.
TEST(coarse_graph, what_has_most_behind_it_is_run_first_where_workers_share_a_queue) {
  constexpr graph::task_id alone = 60, chain = 60;
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> before;
  for (graph::task_id t = 0; t < alone + chain; t++) {
    if (t > alone) before.push_back(t - 1);
    offsets.push_back(before.size());
  }
  const graph g(offsets, before);
  coarse_graph c = aggregate(g, "F(1000)");
  ASSERT_EQ(c.aggregates(), alone + chain);
  c.place(std::vector<int>(c.aggregates(), 0));
  const watchdog dog(60);
  runtime rt({.workers = 2, .policy = "node-queues", .machine = "nodes:1 cpus:2"});
  gate door;
  rt.spawn([&] { door.pass(); });
  door.await_arrivals(1);
  for (const bool transposed : {false, true}) {
    std::vector<graph::task_id> order;
    std::mutex m;
    const auto body = [&](graph::task_id t) {
      const std::lock_guard guard(m);
      order.push_back(t);
    };
    if (transposed) c.run_transposed(rt, body);
    else c.run(rt, body);
    ASSERT_EQ(order.size(), alone + chain);
    for (std::size_t i = 0; i < chain / 2; i++)
      EXPECT_EQ(order[i], transposed ? alone + chain - 1 - i : alone + i) << (transposed ? "against the edges" : "");
  }
  door.open();
  rt.wait();
}

// Two parts and what separates them. Against the edges the parts become ready together, from a worker that has seen nothing
// but short aggregates until then.
TEST(coarse_graph, a_large_aggregate_does_not_wait_behind_another_one) {
  constexpr graph::task_id part = 1000, separating = 200;
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> before;
  for (graph::task_id t = 0; t < 2 * part + separating; t++) {
    if (t % part != 0 || t == 2 * part) before.push_back(t - 1);
    if (t == 2 * part) before.push_back(part - 1);
    offsets.push_back(before.size());
  }
  const graph g(offsets, before);
  coarse_graph c = aggregate(g, "T(" + std::to_string(part) + ")");
  ASSERT_EQ(c.aggregates(), 2 + separating);
  const watchdog dog(60, "an aggregate that waits until another worker has begun the other one");
  runtime rt({.workers = 2});
  std::latch begun(2);
  c.run_transposed(rt, [&](ids tasks) {
    if (tasks.size() == part) begun.arrive_and_wait();
  });
}

TEST(coarse_graph, mistakes_are_refused) {
  const grid cells(4);
  graph g(cells.offsets, cells.before);
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([&] { aggregate(g, "CD"); }), "D needs a parameter");
  graph ring;
  const auto a = ring.add([] {}), b = ring.add([] {});
  ring.precede(a, b);
  ring.precede(b, a);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { aggregate(ring, "S"); }), "a cycle of 2 tasks");
  runtime rt({.workers = 1});
  coarse_graph c = aggregate(g, "F(1)");
  gate door;
  std::thread first([&] { c.run(rt, [&](graph::task_id) { door.pass(); }); });
  door.await_arrivals(1);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { c.run(rt, [](graph::task_id) {}); }), "while the graph runs");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { c.place({}); }), "while the graph runs");
  door.open();
  first.join();
}

TEST(coarse_graph, of_nothing_is_nothing) {
  const std::vector<std::size_t> offsets{0};
  graph g(offsets, {});
  runtime rt({.workers = 1});
  for (const char* coarse_string : {"S", "F(4)", "D(7)", "C", "CD(4)"}) {
    coarse_graph c = aggregate(g, coarse_string);
    EXPECT_EQ(c.aggregates(), 0u);
    c.run(rt, [](graph::task_id) { FAIL(); });
  }
}

}  // namespace
}  // namespace weir::test
