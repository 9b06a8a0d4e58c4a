// Scopes: tasks waited for together, nested, in tasks and outside.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

TEST(scope, waits_for_its_own_tasks_only) {
  runtime rt({.workers = 2});
  gate g;
  rt.spawn([&] { g.pass(); });
  std::atomic<int> done{0};
  scope s(rt);
  for (int i = 0; i < 100; i++) s.spawn([&] { done++; });
  s.wait();
  EXPECT_EQ(done, 100);  // although the gate is still closed
  g.open();
  rt.wait();
}

TEST(scope, may_be_used_again) {
  runtime rt({.workers = 2});
  scope s(rt);
  std::atomic<int> done{0};
  s.wait();
  for (int round = 1; round <= 20; round++) {
    for (int i = 0; i < 10; i++) s.spawn([&] { done++; });
    s.wait();
    EXPECT_EQ(done, 10 * round);
  }
}

TEST(scope, destructor_waits) {
  runtime rt({.workers = 2});
  std::atomic<int> done{0};
  {
    scope s(rt);
    for (int i = 0; i < 100; i++) s.spawn([&] { done++; });
  }
  EXPECT_EQ(done, 100);
  EXPECT_NO_THROW({
    scope s(rt);
    s.spawn([] { throw 1; });
  });
  EXPECT_NO_THROW(rt.wait());
}

void count_down(runtime& rt, int depth, std::atomic<int>& leaves) {
  if (depth == 0) {
    leaves++;
    return;
  }
  scope s(rt);
  for (int i = 0; i < 3; i++) s.spawn([&rt, depth, &leaves] { count_down(rt, depth - 1, leaves); });
  s.wait();
}

TEST(scope, nests_in_tasks) {
  for (const char* policy : {"local", "fifo", "steal"})
    for (int workers : {1, 2, 5}) {
      watchdog dog(60, "nested scopes");
      runtime rt({.workers = workers, .policy = policy, .machine = "nodes:2 cpus:3"});
      std::atomic<int> leaves{0};
      count_down(rt, 6, leaves);
      EXPECT_EQ(leaves, 729);
      rt.run([&] { count_down(rt, 6, leaves); });
      EXPECT_EQ(leaves, 2 * 729);
    }
}

TEST(scope, of_an_outer_level_may_be_spawned_into) {
  runtime rt({.workers = 2});
  std::atomic<int> done{0};
  scope outer(rt);
  outer.spawn([&] {
    scope inner(rt);
    for (int i = 0; i < 10; i++) {
      inner.spawn([&] { done++; });
      outer.spawn([&] { done++; });
    }
    inner.wait();
  });
  outer.wait();
  EXPECT_EQ(done, 20);
}

TEST(scope, takes_tasks_from_several_threads) {
  watchdog dog(60);
  runtime rt({.workers = 2});
  scope s(rt);
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; i++) s.spawn([&] { done++; });
      s.wait();
    });
  for (std::thread& t : threads) t.join();
  s.wait();
  EXPECT_EQ(done, 2000);
}

TEST(scope, options_reach_its_tasks) {
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  scope s(rt);
  int node = -1;
  task_options named{.name = "named", .affinity = require(1)};
  s.spawn(named, [&] { node = this_task::node(); });
  s.spawn({.name = "braces"}, [] {});
  s.wait();
  EXPECT_EQ(node, 1);
}

// Its maker runs them on top of itself, and counts them only if it knows of the thread.
TEST(scope, a_thread_waits_for_what_the_maker_runs_at_once) {
  constexpr int most_tasks = 20'000;
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    std::atomic<scope*> made{nullptr};
    std::atomic<int> begun{0}, done{0}, missed{0};
    std::atomic<bool> over{false};
    std::thread waits([&] {
      scope* s = nullptr;
      while ((s = made) == nullptr) std::this_thread::yield();
      while (begun < most_tasks) {
        const int before = begun;
        s->wait();
        if (done < before) missed++;
      }
      over = true;
    });
    rt.run([&] {
      scope s(rt);
      made = &s;
      for (int i = 0; i < most_tasks; i++)
        s.spawn([&] {
          begun++;
          done++;
        });
      s.wait();
      while (!over) std::this_thread::yield();
    });
    waits.join();
    EXPECT_EQ(missed, 0);
    EXPECT_EQ(done, most_tasks);
  }
}

TEST(scope, run_is_a_scope_around_a_control_program) {
  runtime rt({.workers = 2});
  std::atomic<int> done{0};
  bool on_worker = false;
  rt.run([&](scope& s) {
    on_worker = this_task::worker() >= 0;
    for (int i = 0; i < 50; i++) s.spawn([&] { done++; });
  });
  EXPECT_TRUE(on_worker);
  EXPECT_EQ(done, 50);
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.run([] { throw std::runtime_error("from run"); }); }), "from run");
}

}  // namespace
}  // namespace weir::test
