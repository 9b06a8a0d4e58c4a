// Tasks that wait for what cannot come before they end: for their own scope, which is then every other task in it, or
// for each other, which is an error that names them.
#include "tests/support/support.hpp"

#include <numeric>

namespace weir::test {
namespace {

class own_waits : public ::testing::TestWithParam<int> {
 protected:
  // The runtime is as good as new, whatever happened.
  void TearDown() override {
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });
    EXPECT_NO_THROW(rt.wait());
    EXPECT_EQ(ran, 100);
  }
  watchdog dog{60, "a task that waits for itself"};
  runtime rt{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, own_waits, ::testing::Values(1, 2, 4));

TEST_P(own_waits, a_control_program_waits_in_its_own_scope) {
  for (int round = 0; round < 20; round++) {
    std::atomic<int> ran{0};
    rt.run([&](scope& s) {
      for (int phase = 1; phase <= 3; phase++) {
        for (int i = 0; i < 10; i++) s.spawn([&] { ran++; });
        s.wait();
        EXPECT_EQ(ran, 10 * phase);
      }
    });
    EXPECT_EQ(ran, 30);
  }
}

TEST_P(own_waits, with_data_that_the_creator_runs_at_once) {
  const auto d = rt.make_data(std::vector<int>{0});
  rt.run([&](scope& s) {
    for (int i = 0; i < 500; i++) s.spawn(inout(d), [](auto v) { v[0]++; });
    s.wait();
    EXPECT_EQ(d.read()[0], 500);
  });
}

// An error where they meet, wherever they run. One that its creator runs at once does not meet the next one: it is done
// before, as a call would be.
TEST_P(own_waits, two_that_wait_for_each_other_in_one_scope_are_an_error) {
  for (int round = 0; round < 20; round++) {
    std::atomic<int> waiting{0};
    const auto wait_beside_another = [&](scope& s) {
      waiting++;
      while (waiting < 2) std::this_thread::yield();
      s.wait();
    };
    if (rt.workers() == 1) waiting = 1;
    try {
      rt.run([&](scope& s) {
        s.spawn({.name = "child"}, [&] { wait_beside_another(s); });
        wait_beside_another(s);
      });
      EXPECT_EQ(rt.workers(), 1);
    } catch (const deadlock_error& e) {
      WEIR_EXPECT_CONTAINS(e.what(), "waits for the weir::scope it belongs to, and so does another task");
    }
  }
}

// Never a parent that goes on before its children are done.
TEST_P(own_waits, a_recursion_in_one_scope_is_right_or_an_error) {
  struct tree {
    scope& all;
    void grow(int depth, int& leaves) {
      if (depth == 0) {
        leaves = 1;
        return;
      }
      int left = 0, right = 0;
      all.spawn([this, depth, &left] { grow(depth - 1, left); });
      all.spawn([this, depth, &right] { grow(depth - 1, right); });
      all.wait();
      leaves = left + right;
    }
  };
  for (int round = 0; round < 20; round++) {
    scope s(rt);
    tree t{s};
    int leaves = 0;
    s.spawn([&] { t.grow(1, leaves); });
    EXPECT_NO_THROW(s.wait());
    EXPECT_EQ(leaves, 2);
    const auto all = std::make_shared<std::vector<int>>(1);
    s.spawn([&, all] { t.grow(1, (*all)[0]); });
    s.spawn([&, all] { s.wait(); });
    try {
      s.wait();
      EXPECT_EQ((*all)[0], 2);
    } catch (const deadlock_error& e) {
      WEIR_EXPECT_CONTAINS(e.what(), "a scope of its own");
    }
  }
}

// It may be a task that its creator runs at once, on top of itself, which then cannot be waited for.
TEST_P(own_waits, any_task_may_be_the_one_that_waits) {
  for (int round = 0; round < 50; round++) {
    std::atomic<int> ran{0}, seen{0};
    rt.run([&](scope& s) {
      for (int i = 0; i < 200; i++) s.spawn([&] { ran++; });
      s.spawn([&] {
        s.wait();
        seen = ran.load();
      });
    });
    EXPECT_EQ(seen, 200);
  }
}

TEST_P(own_waits, inner_scopes_wait_as_ever) {
  std::atomic<int> ran{0};
  rt.run([&](scope& outer) {
    for (int i = 0; i < 50; i++)
      outer.spawn([&] {
        scope inner(rt);
        inner.spawn([&] {
          for (int k = 0; k < 4; k++) inner.spawn([&] { ran++; });
          inner.wait();
        });
        inner.wait();
      });
    outer.wait();
    EXPECT_EQ(ran, 200);
  });
}

TEST_P(own_waits, a_failure_is_thrown_there_and_the_scope_goes_on) {
  std::atomic<int> ran{0};
  rt.run([&](scope& s) {
    s.spawn({.name = "bad"}, [] { throw std::runtime_error("boom"); });
    EXPECT_EQ(message_of<task_failed>([&] { s.wait(); }), "task bad failed: boom");
    s.spawn([&] { ran++; });
    EXPECT_NO_THROW(s.wait());
  });
  EXPECT_EQ(ran, 1);
}

TEST_P(own_waits, a_cancelled_scope_stays_cancelled) {
  std::atomic<int> ran{0};
  rt.run([&](scope& s) {
    s.cancel();
    s.spawn([&] { ran++; });
    s.wait();
    s.spawn([&] { ran++; });
    s.wait();
  });
  EXPECT_EQ(ran, 0);
}

TEST_P(own_waits, waiting_for_a_child_that_updates_the_same_memory) {
  int x = 0;
  rt.spawn({.name = "parent"}, inout(ref(x)), [&](auto) {
    scope s(rt);
    s.spawn({.name = "child"}, inout(ref(x)), [](auto v) { v[0]++; });
    s.wait();
  });
  const std::string message = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "child");
  WEIR_EXPECT_CONTAINS(message, "needs what task parent keeps");
  EXPECT_EQ(x, 0);
}

TEST_P(own_waits, waiting_for_a_child_that_updates_the_same_datum) {
  const auto d = rt.make_data(std::vector<int>{0}, "d");
  rt.spawn({.name = "parent"}, inout(d), [&](auto) {
    scope s(rt);
    s.spawn({.name = "child"}, inout(d), [](auto v) { v[0]++; });
    s.spawn({.name = "grandchild"}, inout(d), [](auto v) { v[0]++; });
    s.wait();
  });
  const std::string message = message_of<deadlock_error>([&] { rt.wait(); });
  WEIR_EXPECT_CONTAINS(message, "2 tasks");
  WEIR_EXPECT_CONTAINS(message, "child (needs what task parent keeps");
}

TEST_P(own_waits, waiting_for_a_child_that_overwrites_what_one_reads) {
  const auto d = rt.make_data(std::vector<int>{5}, "d");
  rt.spawn({.name = "parent"}, in(d), [&](auto) {
    scope s(rt);
    s.spawn({.name = "child"}, inout(d), [](auto v) { v[0]++; });
  });  // the destructor waits
  testing::internal::CaptureStderr();
  try {
    rt.wait();
  } catch (const deadlock_error&) {
  }
  WEIR_EXPECT_CONTAINS(testing::internal::GetCapturedStderr(), "child (needs what task parent keeps");
}

// Who catches the error goes on, and what waits for the parent runs as if nothing had been.
TEST_P(own_waits, the_error_may_be_caught) {
  int x = 1;
  std::atomic<int> after{0};
  const auto closure = std::make_shared<int>(0);
  rt.spawn({.name = "parent"}, inout(ref(x)), [&](auto v) {
    scope s(rt);
    s.spawn({.name = "child"}, inout(ref(x)), [closure](auto w) { w[0] = 100; });
    EXPECT_THROW(s.wait(), deadlock_error);
    v[0]++;
  });
  rt.spawn([&] { after++; });
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(x, 2);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(closure.use_count(), 1);
}

// A task of an inner scope that waits for an outer one waits for the task that waits for it.
TEST_P(own_waits, a_circle_of_scopes_is_an_error) {
  std::string message;
  rt.run([&](scope& outer) {
    scope inner(rt);
    inner.spawn({.name = "inner task"}, [&] { outer.wait(); });
    message = message_of<deadlock_error>([&] { inner.wait(); });
  });
  WEIR_EXPECT_CONTAINS(message, "waits for what can only happen when it has ended");
}

void many_parents_wait(runtime& rt) {
  std::vector<int> x(20);
  std::atomic<int> caught{0};
  for (int& e : x)
    rt.spawn({.name = "parent"}, inout(ref(e)), [&](auto v) {
      scope s(rt);
      s.spawn({.name = "child"}, inout(ref(e)), [](auto w) { w[0] += 100; });
      try {
        s.wait();
      } catch (const deadlock_error&) {
        caught++;
      }
      v[0]++;
    });
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(caught, 20);
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0), 20);
}

TEST_P(own_waits, many_parents_at_once) { many_parents_wait(rt); }

// They come all at once, so the waits of most lie below others on a stack.
TEST(own_waits_in_windows, many_parents_at_once) {
  for (const int workers : {1, 2, 4}) {
    watchdog dog(60, "a task that waits for itself");
    runtime rt({.workers = workers, .policy = "partition-follow", .machine = "nodes:2 cpus:2"});
    many_parents_wait(rt);
  }
}

}  // namespace
}  // namespace weir::test
