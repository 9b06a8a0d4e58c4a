// Graphs in bulk: order in both directions, repeated runs, failures, refusals, exports.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace weir::test {
namespace {

struct arrays {
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> predecessors;

  std::size_t tasks() const { return offsets.size() - 1; }
  void add(const std::vector<graph::task_id>& before) {
    predecessors.insert(predecessors.end(), before.begin(), before.end());
    offsets.push_back(predecessors.size());
  }
};

// Up to `most` predecessors a task, all before it in an order that is 0, 1, 2, ... or, if shuffled, any.
arrays random_arrays(std::size_t tasks, std::size_t most, bool shuffled, std::mt19937_64& random) {
  std::vector<graph::task_id> order(tasks);
  std::iota(order.begin(), order.end(), 0u);
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<graph::task_id>> before(tasks);
  for (std::size_t i = 1; i < tasks; i++)
    for (std::size_t n = between(random, 0, most); n > 0; n--) before[order[i]].push_back(order[between(random, i > 50 && n % 2 == 0 ? i - 50 : 0, i - 1)]);
  arrays a;
  for (const auto& b : before) a.add(b);
  return a;
}

// Checks that every task runs once a run, and after all it depends on.
class checker {
 public:
  explicit checker(const arrays& a) : arrays_(a), runs_(a.tasks()), after_(a.tasks()) {
    for (graph::task_id t = 0; t < a.tasks(); t++)
      for (std::size_t e = a.offsets[t]; e < a.offsets[t + 1]; e++) after_[a.predecessors[e]].push_back(t);
  }
  void run(runtime& rt, graph& g, bool transposed, bool as_list) {
    times_++;
    const auto one = [&](graph::task_id t) { run_one(t, transposed); };
    const auto list = [&](std::span<const graph::task_id> tasks) {
      ASSERT_EQ(tasks.size(), 1u);
      one(tasks[0]);
    };
    if (transposed) as_list ? g.run_transposed(rt, list) : g.run_transposed(rt, one);
    else as_list ? g.run(rt, list) : g.run(rt, one);
    for (std::size_t t = 0; t < runs_.size(); t++) ASSERT_EQ(runs_[t].load(), times_) << "task " << t;
  }

 private:
  void run_one(graph::task_id t, bool transposed) {
    if (transposed)
      for (graph::task_id a : after_[t]) check(t, a);
    else
      for (std::size_t e = arrays_.offsets[t]; e < arrays_.offsets[t + 1]; e++) check(t, arrays_.predecessors[e]);
    runs_[t].fetch_add(1);
  }
  void check(graph::task_id t, graph::task_id before) {
    if (runs_[before].load() != times_) ADD_FAILURE() << "task " << t << " ran before task " << before;
  }

  const arrays& arrays_;
  std::vector<std::atomic<int>> runs_;
  std::vector<std::vector<graph::task_id>> after_;
  int times_ = 0;
};

TEST(bulk_graph, tasks_come_after_their_predecessors_in_every_run_and_direction) {
  std::mt19937_64 random(new_seed());
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    for (std::size_t tasks : {1u, 2u, 30u, 1000u}) {
      const arrays a = random_arrays(tasks, between(random, 0, 5), between(random, 0, 1) == 1, random);
      graph g(a.offsets, a.predecessors);
      EXPECT_EQ(g.tasks(), tasks);
      EXPECT_EQ(g.edges(), a.predecessors.size());
      checker check(a);
      for (int i = 0; i < 4; i++) check.run(rt, g, i % 2 == 1, i / 2 == 1);
      if (HasFailure()) FAIL() << text(o);
    }
  }
}

TEST(bulk_graph, is_large_and_runs_again_and_again) {
  std::mt19937_64 random(new_seed());
  const arrays a = random_arrays(effort(200000), 3, false, random);
  checker check(a);
  graph g(a.offsets, a.predecessors);
  for (int workers : {1, 4}) {
    runtime rt({.workers = workers});
    for (int i = 0; i < 6; i++) check.run(rt, g, i % 3 == 1, false);
    EXPECT_EQ(rt.stats().tasks, 6 * a.tasks());
  }
}

TEST(bulk_graph, takes_rows_of_a_larger_matrix) {
  // Lower triangles of rows that also have a diagonal and more behind it.
  const std::vector<std::size_t> begin{0, 2, 4, 7}, end{0, 3, 5, 9};
  const std::vector<graph::task_id> columns{0, 3, 0, 1, 0, 2, 3, 1, 2};
  graph g(bulk_tasks{begin, end, columns});
  EXPECT_EQ(g.to_dot(), "digraph weir {\n  0;\n  1;\n  2;\n  3;\n  0 -> 1;\n  0 -> 2;\n  1 -> 3;\n  2 -> 3;\n}\n");
  runtime rt({.workers = 2});
  std::array<double, 4> x{};
  g.run(rt, [&](graph::task_id t) {
    x[t] = 1;
    for (std::size_t e = begin[t]; e < end[t]; e++) x[t] += x[columns[e]];
  });
  EXPECT_EQ(x, (std::array<double, 4>{1, 2, 2, 5}));
  std::array<bool, 4> done{};
  g.run_transposed(rt, [&](graph::task_id t) {
    for (graph::task_id row = t + 1; row < 4; row++)
      for (std::size_t e = begin[row]; e < end[row]; e++) EXPECT_TRUE(columns[e] != t || done[row]);
    done[t] = true;
  });
  EXPECT_EQ(done, (std::array<bool, 4>{true, true, true, true}));
}

TEST(bulk_graph, runs_from_several_threads_in_turn_in_tasks_and_beside_others) {
  std::mt19937_64 random(new_seed());
  const arrays a = random_arrays(500, 3, true, random), b = random_arrays(500, 3, false, random);
  checker check_a(a), check_b(b);
  graph ga(a.offsets, a.predecessors), gb(b.offsets, b.predecessors);
  runtime rt({.workers = 3});
  std::atomic<int> others{0};
  for (int i = 0; i < 1000; i++) rt.spawn([&] { others++; });
  std::thread beside([&] {
    for (int i = 0; i < 20; i++) check_b.run(rt, gb, i % 2 == 0, false);
  });
  rt.run([&] {
    for (int i = 0; i < 10; i++) check_a.run(rt, ga, i % 2 == 0, false);
  });
  for (int i = 0; i < 5; i++) std::thread([&] { check_a.run(rt, ga, false, true); }).join();
  beside.join();
  rt.wait();
  EXPECT_EQ(others, 1000);
}

TEST(bulk_graph, bodies_may_spawn_and_wait) {
  std::mt19937_64 random(new_seed());
  const arrays a = random_arrays(300, 2, false, random);
  graph g(a.offsets, a.predecessors);
  runtime rt({.workers = 3});
  std::atomic<int> inner{0};
  for (int i = 0; i < 5; i++)
    g.run(rt, [&](graph::task_id) {
      scope s(rt);
      for (int k = 0; k < 3; k++) s.spawn([&] { inner++; });
      s.wait();
    });
  EXPECT_EQ(inner, 5 * 3 * 300);
}

TEST(bulk_graph, a_long_task_keeps_nobody_from_the_others) {
  // Task 0 makes all others ready; each of them waits for all of them to have begun.
  arrays a;
  a.add({});
  constexpr int wide = 4;
  for (int i = 0; i < wide; i++) a.add({0});
  graph g(a.offsets, a.predecessors);
  watchdog dog(60);
  runtime rt({.workers = wide});
  std::atomic<int> begun{0};
  g.run(rt, [&](graph::task_id t) {
    if (t == 0) return;
    begun++;
    while (begun < wide) std::this_thread::yield();
  });
  EXPECT_EQ(begun, wide);
}

// Tasks so short that a worker keeps some to itself, of which one is the head of a chain. How long they take is known
// by the first ones, before there are two chains.
TEST(bulk_graph, a_chain_of_short_tasks_does_not_hide_another) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one CPU: nothing runs side by side";
  constexpr graph::task_id first = 200, length = 2000, second = first + length;
  arrays a;
  for (graph::task_id t = 0; t < second + length; t++) {
    if (t == 0) a.add({});
    else a.add({t == second ? first - 1 : t - 1});
  }
  graph g(a.offsets, a.predecessors);
  runtime rt({.workers = 2, .machine = "nodes:1 cpus:2"});
  watchdog dog(60);
  // The system may let one worker run alone for all of a run; where it is interrupted its tasks seem long, and it keeps
  // none.
  int runs = 0, runs_side_by_side = 0;
  for (; runs < 200 && runs_side_by_side < 10; runs++) {
    std::atomic<int> begun = 0, ended = 0;
    bool both_had_begun = false;  // when one ended
    g.run(rt, [&](graph::task_id t) {
      if (t == first || t == second) begun++;
      const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(500);
      while (std::chrono::steady_clock::now() < end) {}
      if ((t == second - 1 || t == second + length - 1) && ended++ == 0) both_had_begun = begun == 2;
    });
    runs_side_by_side += both_had_begun ? 1 : 0;
  }
  EXPECT_EQ(runs_side_by_side, 10) << "of " << runs << " runs";
}

TEST(bulk_graph, something_urgent_does_not_wait_for_the_end) {
  arrays a;
  a.add({});
  for (graph::task_id t = 1; t < 200000; t++) a.add({t - 1});
  graph g(a.offsets, a.predecessors);
  runtime rt({.workers = 1});
  std::atomic<std::uint32_t> last{0}, seen{0};
  g.run(rt, [&](graph::task_id t) {
    last = t;
    if (t == 1000) rt.spawn({.priority = priority::high}, [&] { seen = last.load(); });
  });
  rt.wait();
  EXPECT_GE(seen, 1000u);
  EXPECT_LT(seen, 100000u);
}

TEST(bulk_graph, one_recorded_task_by_task_can_run_with_one_body_too) {
  runtime rt({.workers = 2});
  graph g;
  int own = 0;
  const auto a = g.add([&] { own++; }), b = g.add([&] { own++; });
  g.precede(b, a);
  std::vector<graph::task_id> order;
  g.run(rt, [&](graph::task_id t) { order.push_back(t); });
  g.run_transposed(rt, [&](graph::task_id t) { order.push_back(t); });
  EXPECT_EQ(order, (std::vector<graph::task_id>{b, a, a, b}));
  EXPECT_EQ(own, 0);
  const auto c = g.add([&] { own++; });
  g.precede(a, c);
  order.clear();
  g.run(rt, [&](graph::task_id t) { order.push_back(t); });
  EXPECT_EQ(order, (std::vector<graph::task_id>{b, a, c}));
  g.run(rt);
  EXPECT_EQ(own, 3);
}

TEST(bulk_graph, a_task_that_throws_stops_what_comes_after_it_and_nothing_else) {
  std::mt19937_64 random(new_seed());
  const arrays a = random_arrays(2000, 2, true, random);
  const auto culprit = static_cast<graph::task_id>(between(random, 0, a.tasks() - 1));
  // Who depends on it, found by hand.
  std::vector<char> lost(a.tasks(), 0);
  lost[culprit] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t t = 0; t < a.tasks(); t++)
      for (std::size_t e = a.offsets[t]; e < a.offsets[t + 1]; e++)
        if (lost[a.predecessors[e]] != 0 && lost[t] == 0) lost[t] = changed = true;
  }
  graph g(a.offsets, a.predecessors);
  runtime rt({.workers = 3});
  for (int i = 0; i < 3; i++) {
    std::vector<std::atomic<int>> ran(a.tasks());
    const std::string message = message_of<task_failed>([&] {
      g.run(rt, [&](graph::task_id t) {
        if (t == culprit) throw std::runtime_error("no luck");
        ran[t]++;
      });
    });
    WEIR_EXPECT_CONTAINS(message, "task " + std::to_string(culprit) + " failed: no luck");
    for (std::size_t t = 0; t < a.tasks(); t++) EXPECT_EQ(ran[t], lost[t] != 0 ? 0 : 1) << "task " << t;
    checker check(a);
    check.run(rt, g, false, false);
  }
}

TEST(bulk_graph, a_cycle_is_named) {
  arrays a;
  a.add({});
  a.add({0, 3});
  a.add({1});
  a.add({2});
  a.add({3});
  const std::string message = message_of<usage_error>([&] { graph g(a.offsets, a.predecessors); });
  WEIR_EXPECT_CONTAINS(message, "a cycle of 3 tasks: ");
  const std::string round = "task 1 -> task 2 -> task 3 -> task 1 -> task 2 -> task 3";
  EXPECT_TRUE(contains(round, message.substr(message.find("tasks: ") + 7))) << message;
  arrays ring;
  for (graph::task_id t = 0; t < 100; t++) ring.add({(t + 99) % 100});
  const std::string shortened = message_of<usage_error>([&] { graph g(ring.offsets, ring.predecessors); });
  WEIR_EXPECT_CONTAINS(shortened, "a cycle of 100 tasks: ");
  WEIR_EXPECT_CONTAINS(shortened, " -> ... -> ");
}

TEST(bulk_graph, mistakes_are_refused) {
  using ids = std::vector<graph::task_id>;
  using sizes = std::vector<std::size_t>;
  const auto refusal = [](const sizes& offsets, const ids& predecessors, const std::vector<float>& costs = {}) { return message_of<usage_error>([&] { graph g(offsets, predecessors, costs); }); };
  EXPECT_EQ(refusal({}, {}), "weir::graph: there are no offsets; n tasks have n + 1 of them");
  EXPECT_EQ(refusal({0, 0, 1}, {7}), "weir::graph: task 1: predecessor 7 does not exist, the graph has 2 tasks");
  EXPECT_EQ(refusal({0, 0, 1}, {1}), "weir::graph: task 1: it is its own predecessor");
  EXPECT_EQ(refusal({0, 0, 2}, {0}), "weir::graph: task 1: its predecessors are entries 0 to 2 of an array of 1");
  EXPECT_EQ(refusal({0, 1, 0}, {0}), "weir::graph: task 0: it is its own predecessor");
  EXPECT_EQ(refusal({1, 0}, {0}), "weir::graph: task 0: its predecessors are entries 1 to 0 of an array of 1: the end comes before the begin");
  EXPECT_EQ(refusal({0, 0}, {}, {1, 2}), "weir::graph: 2 costs were given for 1 tasks");
  WEIR_EXPECT_CONTAINS(refusal({0, 0}, {}, {-1}), "weir::graph: task 0: its cost is -1");
  WEIR_EXPECT_CONTAINS(refusal({0, 0}, {}, {std::numeric_limits<float>::quiet_NaN()}), "expected a number of 0 or more");
  const sizes one{0}, none;
  EXPECT_EQ(message_of<usage_error>([&] { graph g(bulk_tasks{one, none, {}}); }), "weir::graph: `begin` has 1 entries and `end` 0; each task has one in both");

  runtime rt({.workers = 1});
  const sizes two{0, 0};
  const ids no_edges;
  graph g(two, no_edges);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { g.run(rt); }), "without a body");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { g.add([] {}); }), "a graph in bulk");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { g.precede(0, 0); }), "a graph in bulk");
  gate door;
  std::thread first([&] { g.run(rt, [&](graph::task_id) { door.pass(); }); });
  door.await_arrivals(1);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { g.run(rt, [](graph::task_id) {}); }), "while the graph runs");
  door.open();
  first.join();
}

TEST(bulk_graph, without_tasks_is_over_at_once) {
  runtime rt({.workers = 1});
  const std::vector<std::size_t> offsets{0};
  graph g(offsets, {});
  g.run(rt, [](graph::task_id) { FAIL(); });
  g.run_transposed(rt, [](graph::task_id) { FAIL(); });
  EXPECT_EQ(g.to_json(), "{\"tasks\": [], \"edges\": []}\n");
}

TEST(bulk_graph, is_written_as_json) {
  arrays a;
  a.add({});
  a.add({0});
  const std::vector<float> costs{50, 0.5f};
  graph g(a.offsets, a.predecessors, costs);
  EXPECT_EQ(g.to_json(), "{\"tasks\": [{\"id\": 0, \"cost_ns\": 50}, {\"id\": 1, \"cost_ns\": 0.5}], \"edges\": [[0, 1]]}\n");
  graph recorded;
  const auto b = recorded.add({.name = "say \"hi\"\n"}, [] {}), c = recorded.add([] {});
  recorded.precede(b, c);
  EXPECT_EQ(recorded.to_json(), "{\"tasks\": [{\"id\": 0, \"name\": \"say \\\"hi\\\"\\u000a\"}, {\"id\": 1}], \"edges\": [[0, 1]]}\n");
}

}  // namespace
}  // namespace weir::test
