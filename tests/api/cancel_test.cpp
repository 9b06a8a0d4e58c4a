// cancel(): what has not started is skipped, with all that depends on it.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

TEST(cancel, skips_what_has_not_started) {
  runtime rt({.workers = 1});
  gate g;
  std::atomic<int> ran{0};
  const auto closures = std::make_shared<int>(0);
  rt.spawn([&, closures] {
    g.pass();
    ran++;
  });
  g.await_arrivals(1);
  const auto d = rt.make_data<int>(1);
  rt.spawn(out(d), [&, closures](auto) { ran += 10; });
  rt.spawn(in(d), [&, closures](auto) { ran += 10; });
  rt.cancel();
  g.open();
  EXPECT_NO_THROW(rt.wait());  // it was asked for, so it is no failure
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(closures.use_count(), 1);
  EXPECT_THROW(d.read(), task_failed);
  rt.spawn(out(d), [&](auto s) { s[0] = 5; });
  EXPECT_EQ(d.read()[0], 5);
  rt.wait();
}

TEST(cancel, of_a_scope_concerns_its_tasks_and_their_readers) {
  runtime rt({.workers = 1});
  gate g;
  rt.spawn([&] { g.pass(); });
  g.await_arrivals(1);
  std::atomic<int> ran{0};
  scope s(rt), other(rt);
  const auto d = rt.make_data<int>(1);
  EXPECT_FALSE(s.cancelled());
  s.spawn(out(d), [&](auto) { ran++; });
  other.spawn({.name = "elsewhere"}, in(d), [&](auto) { ran++; });
  rt.spawn([&] { ran += 100; });
  s.cancel();
  EXPECT_TRUE(s.cancelled());
  g.open();
  EXPECT_NO_THROW(s.wait());
  WEIR_EXPECT_CONTAINS(message_of<task_cancelled>([&] { other.wait(); }), "elsewhere");
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(ran, 100);
  EXPECT_FALSE(s.cancelled());  // and may be used again
  s.spawn([&] { ran++; });
  s.wait();
  EXPECT_EQ(ran, 101);
}

TEST(cancel, a_running_task_may_look) {
  watchdog dog(30);
  runtime rt({.workers = 1});
  gate g;
  rt.spawn([&] {
    g.pass();
    while (!this_task::cancelled()) std::this_thread::yield();
  });
  g.await_arrivals(1);
  g.open();
  rt.cancel();
  rt.wait();
}

TEST(cancel, of_nothing_is_nothing) {
  runtime rt({.workers = 1});
  rt.cancel();
  rt.wait();
  std::atomic<int> ran{0};
  rt.spawn([&] { ran++; });
  rt.wait();
  EXPECT_EQ(ran, 1);
}

// The only worker is in a task that throws while the others of its scope wait.
TEST(cancel, a_failed_scope_starts_no_more_tasks) {
  watchdog dog(60);
  runtime rt({.workers = 1});
  gate g;
  std::atomic<int> ran{0};
  const auto closures = std::make_shared<int>(0);
  const auto d = rt.make_data<int>(1);
  scope s(rt), other(rt);
  s.spawn({.name = "bad"}, [&] {
    g.pass();
    throw std::runtime_error("it broke");
  });
  g.await_arrivals(1);
  for (int i = 0; i < 100; i++) s.spawn([&, closures] { ran++; });
  s.spawn({.name = "writer"}, out(d), [&](auto) { ran++; });
  other.spawn({.name = "elsewhere"}, in(d), [&](auto) { ran++; });
  rt.spawn([&] { ran += 1000; });
  g.open();
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { s.wait(); }), "task bad failed: it broke");
  WEIR_EXPECT_CONTAINS(message_of<task_cancelled>([&] { other.wait(); }), "elsewhere");
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(ran, 1000);
  EXPECT_EQ(closures.use_count(), 1);
  s.spawn([&] { ran++; });  // and may be used again
  s.wait();
  EXPECT_EQ(ran, 1001);
}

// A task of a scope waits for a scope of its own; `how` ends the outer one meanwhile.
template <class How>
void expect_inner_scope_ends_early(const std::vector<int>& worker_counts, How how) {
  watchdog dog(60);
  for (const int workers : worker_counts) {
    runtime rt({.workers = workers});
    std::atomic<int> ran{0};
    std::atomic<bool> went_on{false};
    scope outer(rt);
    outer.spawn({.name = "outer"}, [&] {
      scope inner(rt), innermost(rt);
      inner.spawn({.name = "first"}, [&] {
        how(outer);
        while (!this_task::cancelled()) std::this_thread::yield();
      });
      inner.wait();  // it had no other task, so it is complete
      for (int i = 0; i < 100; i++) innermost.spawn([&] { ran++; });
      try {
        innermost.wait();
        EXPECT_EQ(ran, 100);  // others were that fast
      } catch (const task_cancelled& e) {
        if (ran < 100) {
          WEIR_EXPECT_CONTAINS(std::string(e.what()), "the scope of the task that waits for it has ended early");
        }
      }
      inner.spawn([&] { ran++; });
      inner.wait();
      went_on = true;
    });
    try {
      outer.wait();
    } catch (const task_failed&) {
    }
    if (workers == 1) {  // others may take tasks of an inner scope before anybody waits for it
      EXPECT_FALSE(went_on);
      EXPECT_EQ(ran, 0);
    }
    const int before = ran;
    outer.spawn([&] { ran++; });
    outer.wait();
    EXPECT_EQ(ran, before + 1);
  }
}
TEST(cancel, of_a_scope_ends_those_its_tasks_wait_for) {
  expect_inner_scope_ends_early({1, 3}, [](scope& outer) { outer.cancel(); });
}
TEST(cancel, a_failed_scope_ends_those_its_tasks_wait_for) {
  expect_inner_scope_ends_early({2, 3}, [](scope& outer) { outer.spawn([] { throw 1; }); });
}

// What a task throws because its scope was cancelled is no failure.
TEST(cancel, of_a_scope_is_no_failure_of_those_inside) {
  watchdog dog(60);
  runtime rt({.workers = 2});
  scope outer(rt);
  gate g;
  outer.spawn([&] {
    scope inner(rt);
    g.pass();
    inner.spawn([] {});
    inner.wait();
  });
  g.await_arrivals(1);
  outer.cancel();
  g.open();
  EXPECT_NO_THROW(outer.wait());
}

// Who creates a task in another's scope may run it at once, but has nothing to do with it.
TEST(cancel, of_a_scope_concerns_no_tasks_created_in_others) {
  watchdog dog(60);
  for (const int workers : {1, 3}) {
    runtime rt({.workers = workers});
    std::atomic<int> ran{0}, cancelled{0};
    scope others(rt), ends(rt);
    ends.spawn([&] {
      ends.cancel();
      for (int i = 0; i < 1000; i++)
        others.spawn([&] {
          cancelled += this_task::cancelled();
          ran++;
        });
    });
    ends.wait();
    EXPECT_NO_THROW(others.wait());
    EXPECT_EQ(ran, 1000);
    EXPECT_EQ(cancelled, 0);
  }
}

// Tasks of two scopes create tasks in the other one, while some other scope has ended early, so that all look.
TEST(cancel, of_scopes_whose_tasks_create_in_one_another) {
  watchdog dog(60);
  for (const int workers : {1, 2, 5}) {
    runtime rt({.workers = workers});
    scope ended(rt);
    ended.cancel();
    for (std::size_t round = 0; round < effort(20); round++) {
      std::atomic<int> ran{0};
      rt.run([&] {
        scope a(rt), b(rt);
        const auto ping_pong = [&](auto&& self, scope& here, scope& there, int depth) -> void {
          ran++;
          if (depth == 0) return;
          for (int i = 0; i < 3; i++) there.spawn([&, depth] { self(self, there, here, depth - 1); });
        };
        for (int i = 0; i < 3; i++) a.spawn([&] { ping_pong(ping_pong, a, b, 4); });
        a.wait();
        b.wait();
        a.wait();
        b.wait();
        a.wait();
      });
      EXPECT_EQ(ran, 3 * (1 + 3 + 9 + 27 + 81));
    }
  }
}

// A task makes a scope and is itself run at once, within a creator whose scope ends early: that of the maker's tasks does, too.
TEST(cancel, of_a_scope_ends_those_made_by_tasks_run_at_once) {
  watchdog dog(60);
  runtime rt({.workers = 1});
  std::atomic<int> ran{0};
  scope outer(rt);
  outer.spawn([&] {
    outer.cancel();
    scope inner(rt);
    for (int i = 0; i < 100; i++) inner.spawn([&] { ran++; });
  });
  outer.wait();
  EXPECT_EQ(ran, 0);
}

// Cancelled, or failed, and never waited for, in one scope after the other.
TEST(cancel, of_scopes_that_are_destroyed) {
  runtime rt({.workers = 2});
  for (int i = 0; i < 100; i++) {
    scope s(rt);
    if (i % 2 == 0) s.spawn([] {});
    if (i % 4 < 2) s.cancel();
    else s.spawn([] { throw 1; });
  }
  std::atomic<int> ran{0};
  scope s(rt);
  s.spawn([&] { ran++; });
  s.wait();
  EXPECT_EQ(ran, 1);
}

// The loop's caller is a task of a scope that a chunk cancels, or another task of it makes fail.
TEST(cancel, of_a_scope_ends_the_loops_its_tasks_call) {
  watchdog dog(120);
  for (const runtime_options& o : {runtime_options{.workers = 1}, {.workers = 3}, {.workers = 5, .machine = "nodes:4 cpus:2"}})
    for (const bool cancels : {true, false}) {
      if (!cancels && o.workers == 1) continue;  // nobody would make it fail meanwhile
      runtime rt(o);
      std::atomic<int> calls{0};
      std::atomic<bool> went_on{false};
      scope s(rt);
      std::atomic<bool> begun{cancels};
      if (!cancels) s.spawn({.name = "bad"}, [&] {
        begun = true;
        while (calls < 50) std::this_thread::yield();
        throw std::runtime_error("it broke");
      });
      while (!begun) std::this_thread::yield();  // or all workers may come to the loops first, which end with it
      s.spawn({.name = "caller"}, [&] {
        parallel_for(rt, 0, 2, [&](int) {  // of loops inside loops, too
          parallel_for(rt, 0, 100000, [&](int) {
            if (++calls < 50) return;
            if (cancels) s.cancel();
            while (!this_task::cancelled()) std::this_thread::yield();
          }, {.grain = 1});
        }, {.grain = 1});
        went_on = true;
      });
      if (cancels) EXPECT_NO_THROW(s.wait());
      else WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { s.wait(); }), "task bad failed: it broke");
      EXPECT_FALSE(went_on);
      EXPECT_LE(calls, 50 + o.workers);
      EXPECT_EQ(parallel_reduce(rt, 0, 1000, 0, [](int) { return 1; }, std::plus()), 1000);
    }
}

TEST(cancel, of_a_scope_leaves_reductions_without_a_result) {
  watchdog dog(60);
  runtime rt({.workers = 2});
  std::atomic<bool> went_on{false};
  scope s(rt);
  s.spawn([&] {
    s.cancel();
    EXPECT_THROW(parallel_reduce(rt, 0, 1000, 0, [](int) { return 1; }, std::plus()), task_cancelled);
    parallel_reduce(rt, 0, 1000, 0, [](int) { return 1; }, std::plus());
    went_on = true;
  });
  EXPECT_NO_THROW(s.wait());
  EXPECT_FALSE(went_on);
}

TEST(cancel, while_tasks_are_spawned_and_run) {
  watchdog dog(60);
  for (int workers : {1, 2, 5}) {
    runtime rt({.workers = workers});
    const auto closures = std::make_shared<int>(0);
    const auto d = rt.make_data(std::vector<int>{0});
    for (std::size_t round = 0; round < effort(40); round++) {
      scope s(rt);
      std::atomic<int> ran{0};
      for (int i = 0; i < 200; i++) {
        s.spawn(in(d), out(d), [&ran, closures](auto, auto v) { v[0] = 1, ran++; });
        if (i == 100) s.cancel();
      }
      s.wait();
      EXPECT_LE(ran, 200);
      rt.spawn(out(d), [](auto v) { v[0] = 0; });
    }
    rt.wait();
    EXPECT_EQ(closures.use_count(), 1);
  }
}

}  // namespace
}  // namespace weir::test
