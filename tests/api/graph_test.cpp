// Recorded graphs: order, repeated runs, failures, refusals.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace weir::test {
namespace {

// A random graph whose tasks check that all their predecessors have run, as often as they themselves.
class checked_graph {
 public:
  checked_graph(std::size_t tasks, std::size_t edges, std::mt19937_64& random) : runs_(tasks) {
    before_.resize(tasks);
    for (std::size_t e = 0; tasks > 1 && e < edges; e++) {
      std::size_t a = between(random, 0, tasks - 1), b = between(random, 0, tasks - 1);
      if (a != b) before_[std::max(a, b)].push_back(std::min(a, b));
    }
    for (std::size_t t = 0; t < tasks; t++) graph_.add([this, t] { run_one(t); });
    for (std::size_t t = 0; t < tasks; t++)
      for (std::size_t b : before_[t]) graph_.precede(static_cast<graph::task_id>(b), static_cast<graph::task_id>(t));
  }
  void run(runtime& rt) {
    graph_.run(rt);
    times_++;
    for (const auto& r : runs_) EXPECT_EQ(r.load(), times_);
  }
  graph& inner() { return graph_; }

 private:
  void run_one(std::size_t t) {
    const int mine = runs_[t].load() + 1;
    for (std::size_t b : before_[t]) EXPECT_EQ(runs_[b].load(), mine) << "task " << t << " ran before task " << b;
    runs_[t].store(mine);
  }

  graph graph_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::atomic<int>> runs_;
  int times_ = 0;
};

TEST(graph, tasks_come_after_their_predecessors_in_every_run) {
  std::mt19937_64 random(new_seed());
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    for (std::size_t tasks : {1u, 2u, 10u, 300u}) {
      checked_graph g(tasks, between(random, 0, 4 * tasks), random);
      for (int i = 0; i < 5; i++) g.run(rt);
      if (HasFailure()) FAIL() << text(o);
    }
  }
}

TEST(graph, runs_inside_a_task_and_beside_other_tasks) {
  std::mt19937_64 random(new_seed());
  runtime rt({.workers = 4});
  checked_graph a(100, 300, random), b(100, 300, random);
  std::atomic<int> others{0};
  for (int i = 0; i < 100; i++) rt.spawn([&] { others++; });
  rt.run([&] {
    for (int i = 0; i < 10; i++) a.run(rt);
  });
  std::thread beside([&] {
    for (int i = 0; i < 10; i++) b.run(rt);
  });
  for (int i = 0; i < 10; i++) a.run(rt);
  beside.join();
  rt.wait();
  EXPECT_EQ(others, 100);
}

TEST(graph, runs_under_one_runtime_after_another) {
  std::mt19937_64 random(new_seed());
  checked_graph g(50, 100, random);
  for (int workers : {1, 3, 2}) {
    runtime rt({.workers = workers});
    g.run(rt);
  }
}

TEST(graph, is_extended_between_runs) {
  runtime rt({.workers = 2});
  graph g;
  std::vector<int> order;
  const auto a = g.add([&] { order.push_back(0); });
  g.run(rt);
  const auto b = g.add([&] { order.push_back(1); });
  g.precede(b, a);
  g.run(rt);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(g.tasks(), 2u);
  EXPECT_EQ(g.edges(), 1u);
}

TEST(graph, without_tasks_is_over_at_once) {
  runtime rt({.workers = 1});
  graph g;
  g.run(rt);
  EXPECT_EQ(rt.stats().tasks, 0u);
  rt.run([&] { g.run(rt); });
  EXPECT_EQ(rt.stats().tasks, 1u);  // which ran it
  EXPECT_EQ(g.tasks(), 0u);
}

TEST(graph, an_edge_named_twice_counts_once_for_the_program) {
  runtime rt({.workers = 2});
  graph g;
  int n = 0;
  const auto a = g.add([&] { n = 1; }), b = g.add([&] { EXPECT_EQ(n, 1); });
  g.precede(a, b);
  g.precede(a, b);
  for (int i = 0; i < 3; i++) g.run(rt);
}

TEST(graph, callables_may_be_large_or_only_movable_and_end_with_the_graph) {
  runtime rt({.workers = 2});
  const auto counted = std::make_shared<int>(0);
  {
    graph g;
    std::array<std::uint64_t, 100> large{};
    large[99] = 7;
    std::atomic<std::uint64_t> sum{0};
    g.add([large, &sum, counted] { sum += large[99]; });
    g.add([one = std::make_unique<int>(1), &sum, counted] { sum += static_cast<std::uint64_t>(*one); });
    EXPECT_EQ(counted.use_count(), 3);
    for (int i = 0; i < 3; i++) g.run(rt);
    EXPECT_EQ(sum, 24u);
    EXPECT_EQ(counted.use_count(), 3);
    graph moved = std::move(g);
    moved.run(rt);
    EXPECT_EQ(sum, 32u);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(graph, a_task_that_throws_stops_what_comes_after_it_and_nothing_else) {
  runtime rt({.workers = 3});
  graph g;
  bool fails = true;
  std::atomic<int> after{0}, beside{0};
  const auto a = g.add({.name = "breaks"}, [&] {
    if (fails) throw std::runtime_error("no luck");
  });
  const auto b = g.add([&] { after++; }), c = g.add([&] { after++; });
  g.add([&] { beside++; });
  g.precede(a, b);
  g.precede(b, c);
  try {
    g.run(rt);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const task_failed& e) {
    EXPECT_NE(std::string(e.what()).find("breaks"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("no luck"), std::string::npos) << e.what();
  }
  EXPECT_EQ(after, 0);
  EXPECT_EQ(beside, 1);
  fails = false;
  g.run(rt);
  EXPECT_EQ(after, 2);
  EXPECT_EQ(beside, 2);
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const usage_error& e) {
    return e.what();
  }
  return "nothing was refused";
}

TEST(graph, a_cycle_is_named) {
  runtime rt({.workers = 1});
  graph g;
  const auto a = g.add({.name = "a"}, [] {}), b = g.add({.name = "b"}, [] {}), c = g.add([] {}), d = g.add([] {});
  g.precede(a, b);
  g.precede(b, c);
  g.precede(c, a);
  g.precede(c, d);
  const std::string text = refusal([&] { g.run(rt); });
  EXPECT_NE(text.find("cycle of 3 tasks"), std::string::npos) << text;
  for (const char* part : {"task a -> task b", "task b -> task 2", "task 2 -> task a"}) EXPECT_TRUE(text.find(part) != std::string::npos || text.starts_with("weir::graph has a cycle of 3 tasks: ")) << text;
  const std::string again = refusal([&] { g.run(rt); });
  EXPECT_EQ(again, text);
}

TEST(graph, mistakes_are_refused) {
  runtime rt({.workers = 1});
  graph g;
  const auto a = g.add([] {});
  EXPECT_NE(refusal([&] { g.precede(a, 5); }).find("no task 5"), std::string::npos);
  EXPECT_NE(refusal([&] { g.precede(a, a); }).find("before itself"), std::string::npos);
  gate door;
  g.add([&] { door.pass(); });
  std::thread first([&] { g.run(rt); });
  door.await_arrivals(1);
  EXPECT_NE(refusal([&] { g.run(rt); }).find("while the graph runs"), std::string::npos);
  EXPECT_NE(refusal([&] { g.add([] {}); }).find("while the graph runs"), std::string::npos);
  EXPECT_NE(refusal([&] { g.precede(0, 1); }).find("while the graph runs"), std::string::npos);
  door.open();
  first.join();
  graph nowhere;
  nowhere.add({.affinity = prefer(rt.nodes())}, [] {});
  EXPECT_NE(refusal([&] { nowhere.run(rt); }).find("affinity names node " + std::to_string(rt.nodes())), std::string::npos);
}

TEST(graph, a_body_that_cannot_be_copied_leaves_no_task) {
  struct fragile {
    fragile() = default;
    fragile(const fragile&) { throw std::runtime_error("cannot be copied"); }
    void operator()() const {}
  };
  runtime rt({.workers = 1});
  graph g;
  const fragile f;
  EXPECT_THROW(g.add(f), std::runtime_error);
  int n = 0;
  EXPECT_EQ(g.add([&] { n++; }), 0u);
  g.run(rt);
  EXPECT_EQ(n, 1);
}

TEST(graph, tasks_run_on_the_node_they_require) {
  runtime rt({.workers = 4, .machine = "nodes:2 cpus:2"});
  graph g;
  std::array<std::atomic<int>, 40> node;
  for (std::size_t i = 0; i < node.size(); i++) g.add({.affinity = require(static_cast<int>(i % 2))}, [&, i] { node[i] = this_task::node(); });
  g.run(rt);
  for (std::size_t i = 0; i < node.size(); i++) EXPECT_EQ(node[i], static_cast<int>(i % 2));
}

TEST(graph, is_drawn_with_names_and_edges) {
  graph g;
  const auto a = g.add({.name = "load"}, [] {}), b = g.add([] {});
  g.precede(a, b);
  EXPECT_EQ(g.to_dot(), "digraph weir {\n  0 [label=\"load\"];\n  1;\n  0 -> 1;\n}\n");
}

}  // namespace
}  // namespace weir::test
