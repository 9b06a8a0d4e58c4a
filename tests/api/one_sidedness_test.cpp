// Programs that one worker runs: the statistics say so, why, and what to do.
#include "tests/support/support.hpp"

#include <set>

namespace weir::test {
namespace {

constexpr int tasks = 200;

// Long enough that all of them together matter.
void work() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  while (std::chrono::steady_clock::now() < end) {}
}

void expect_one_sided(const statistics& s, idle_reason why, const char* sentence) {
  const auto one = s.one_sidedness();
  ASSERT_TRUE(one.has_value()) << s.to_string();
  EXPECT_EQ(name_of(one->why), name_of(why)) << s.to_string();
  EXPECT_EQ(one->ran, one_sidedness::who::worker);
  EXPECT_GE(one->share, 0.9);
  WEIR_EXPECT_CONTAINS(s.to_string(), "while others were idle:");
  WEIR_EXPECT_CONTAINS(s.to_string(), sentence);
}

// All created before the first one ends, so whoever runs that goes on with the others.
TEST(one_sidedness, of_a_chain) {
  runtime rt({.workers = 3, .machine = "nodes:1 cpus:3"});
  const auto d = rt.make_data<int>(1);
  gate g;
  rt.spawn(out(d), [&](auto) { g.pass(); });
  for (int i = 0; i < tasks; i++) rt.spawn(inout(d), [](auto) { work(); });
  g.open();
  rt.wait();
  expect_one_sided(rt.stats(), idle_reason::dependent, "needs what one before it writes");
}

TEST(one_sidedness, of_a_chain_in_a_graph_in_bulk) {
  runtime rt({.workers = 3, .machine = "nodes:1 cpus:3"});
  std::vector<std::size_t> begin, end;
  std::vector<graph::task_id> before;
  for (graph::task_id t = 0; t < tasks; t++) {
    begin.push_back(before.size());
    if (t > 0) before.push_back(t - 1);
    end.push_back(before.size());
  }
  graph g(bulk_tasks{begin, end, before});
  g.run(rt, [](std::uint32_t) { work(); });
  expect_one_sided(rt.stats(), idle_reason::dependent, "needs what one before it writes");
}

TEST(one_sidedness, of_tasks_created_one_by_one) {
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  for (int i = 0; i < tasks; i++) {
    rt.spawn({.affinity = require(1)}, [] { work(); });
    rt.wait();
  }
  expect_one_sided(rt.stats(), idle_reason::uncreated, "there was no second task");
}

TEST(one_sidedness, of_tasks_that_require_a_node) {
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  for (int i = 0; i < tasks; i++) rt.spawn({.affinity = require(1)}, [] { work(); });
  rt.wait();
  expect_one_sided(rt.stats(), idle_reason::required, "weir::prefer(1) instead of weir::require(1)");
  rt.reset_statistics();
  EXPECT_FALSE(rt.stats().one_sidedness().has_value());
  EXPECT_EQ(rt.stats().tasks_of_busiest_worker(), 0u);
}

// Of data so large that to read them from elsewhere takes longer than this test. Nobody touches them.
TEST(one_sidedness, of_tasks_whose_data_are_on_one_node) {
  runtime rt({.workers = 2, .policy = "local", .machine = "nodes:2 cpus:1"});
  const auto d = rt.make_data<char>(std::size_t{512} << 20);
  rt.spawn({.affinity = require(1)}, out(d), [](auto) {});
  rt.wait();
  for (int i = 0; i < tasks; i++) rt.spawn(in(d), [](auto) { work(); });
  rt.wait();
  expect_one_sided(rt.stats(), idle_reason::distant, "their data lie on node 1");
}

// Both nodes' tasks run side by side however slow the machine is: each meets the other node's.
TEST(one_sidedness, not_of_a_balanced_program) {
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  gate both_run;
  for (int node : {0, 1}) rt.spawn({.affinity = require(node)}, [&] { both_run.pass(); });
  both_run.await_arrivals(2);
  std::atomic<int> arrived = 0;
  const auto meet = [&](int pair) {
    arrived++;
    while (arrived.load() < 2 * (pair + 1)) std::this_thread::yield();
    work();
  };
  for (int i = 0; i < tasks; i++) rt.spawn({.affinity = require(i % 2)}, [&, i] { meet(i / 2); });
  rt.reset_statistics();
  both_run.open();
  rt.wait();
  const statistics s = rt.stats();
  EXPECT_FALSE(s.one_sidedness().has_value()) << s.to_string();
  EXPECT_EQ(s.tasks_of_busiest_worker(), std::uint64_t{tasks} / 2 + 1);
  EXPECT_EQ(s.to_string().find("one-sided"), std::string::npos);
}

TEST(one_sidedness, not_of_one_worker) {
  runtime rt({.workers = 1});
  for (int i = 0; i < tasks; i++) rt.spawn([] { work(); });
  rt.wait();
  EXPECT_FALSE(rt.stats().one_sidedness().has_value());
  EXPECT_EQ(rt.stats().tasks_of_busiest_worker(), std::uint64_t{tasks});
}

// By worker: node, tasks, and the time beside idle ones.
statistics counted(const std::vector<std::array<std::uint64_t, 3>>& workers, idle_reason why) {
  statistics s;
  for (const auto& [node, ran, ns] : workers) {
    worker_statistics w{.node = static_cast<int>(node), .tasks = ran, .watched_ns = 2'000'000};
    w.beside_idle_ns[static_cast<std::size_t>(why)] = ns;
    s.by_worker.push_back(w);
    s.tasks += ran;
  }
  return s;
}

TEST(one_sidedness, is_that_of_a_worker_or_of_the_workers_of_a_node) {
  const auto worker = counted({{0, 5, 0}, {0, 95, 1'500'000}, {1, 0, 0}}, idle_reason::small).one_sidedness();
  ASSERT_TRUE(worker.has_value());
  EXPECT_EQ(worker->ran, one_sidedness::who::worker);
  EXPECT_EQ(worker->worker, 1);
  EXPECT_NEAR(worker->share, 0.95, 1e-9);
  const statistics of_node = counted({{0, 5, 0}, {1, 50, 1'500'000}, {1, 45, 1'500'000}}, idle_reason::brief);
  ASSERT_TRUE(of_node.one_sidedness().has_value());
  EXPECT_EQ(of_node.one_sidedness()->ran, one_sidedness::who::node);
  EXPECT_EQ(of_node.one_sidedness()->node, 1);
  WEIR_EXPECT_CONTAINS(of_node.to_string(), "node 1's workers ran 95.0 % of the tasks");
  // One node alone; others that had tasks, too, for half of the time; too little time.
  EXPECT_FALSE(counted({{0, 50, 1'500'000}, {0, 50, 1'500'000}}, idle_reason::brief).one_sidedness().has_value());
  EXPECT_FALSE(counted({{0, 99, 999'999}, {0, 1, 0}}, idle_reason::small).one_sidedness().has_value());
  EXPECT_FALSE(counted({{0, 89, 1'500'000}, {0, 11, 0}}, idle_reason::small).one_sidedness().has_value());
}

TEST(one_sidedness, is_that_of_workers_that_take_turns) {
  statistics s = counted({{0, 50, 2'000'000}, {0, 50, 2'000'000}}, idle_reason::dependent);
  for (worker_statistics& w : s.by_worker) w.alone_ns = 1'900'000;
  ASSERT_TRUE(s.one_sidedness().has_value());
  EXPECT_EQ(s.one_sidedness()->ran, one_sidedness::who::one_at_a_time);
  WEIR_EXPECT_CONTAINS(s.to_string(), "one worker at a time ran tasks, 95.0 % of the time, while others were idle:");
  s.by_worker[0].alone_ns = 1'600'000;
  EXPECT_FALSE(s.one_sidedness().has_value());
}

TEST(one_sidedness, each_reason_has_a_sentence_of_its_own) {
  std::set<std::string> said;
  for (std::size_t r = 0; r < idle_reasons; r++) {
    const explanation e = explain(static_cast<idle_reason>(r), 3);
    EXPECT_TRUE(said.insert(e.what).second && said.insert(e.advice).second) << e.what;
    EXPECT_TRUE(said.insert(std::string(name_of(static_cast<idle_reason>(r)))).second);
  }
}

}  // namespace
}  // namespace weir::test
