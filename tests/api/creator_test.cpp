// Tasks that are ready when a task creates them may be run there and then: nothing else may change by that.
#include "tests/support/support.hpp"

#include <memory>
#include <thread>

namespace weir::test {
namespace {

constexpr int few_or_many[] = {1, 2, 5};

// Copies, moves and destructions of a task's callable.
struct counted {
  std::atomic<int>* alive;
  explicit counted(std::atomic<int>* a) : alive(a) { ++*alive; }
  counted(const counted& other) noexcept : alive(other.alive) { ++*alive; }
  ~counted() { --*alive; }
};

std::uint64_t fib(runtime& rt, unsigned n) {
  if (n < 2) return n;
  std::uint64_t a = 0, b = 0;
  scope s(rt);
  s.spawn([&] { a = fib(rt, n - 1); });
  s.spawn([&] { b = fib(rt, n - 2); });
  s.wait();
  return a + b;
}

TEST(creator, is_not_told_what_its_tasks_throw) {
  for (int workers : few_or_many) {
    runtime rt({.workers = workers});
    int spawned = 0;
    const auto program = [&](scope& s) {
      for (; spawned < 1000; spawned++) s.spawn([i = spawned] { if (i == 500) throw std::runtime_error("number 500"); });
    };
    WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.run(program); }), "number 500");
    EXPECT_EQ(spawned, 1000);
  }
}

TEST(creator, hears_of_a_callable_that_cannot_be_copied) {
  struct uncopyable {
    uncopyable() = default;
    uncopyable(const uncopyable&) { throw std::runtime_error("no copy"); }
    void operator()() const {}
  };
  for (int workers : few_or_many) {
    runtime rt({.workers = workers});
    const uncopyable body;
    rt.run([&](scope& s) { WEIR_EXPECT_CONTAINS(message_of<std::runtime_error>([&] { s.spawn(body); }), "no copy"); });
    EXPECT_EQ(rt.stats().tasks, 1u);
  }
}

TEST(creator, destroys_every_closure_once) {
  for (int workers : few_or_many) {
    std::atomic<int> alive{0}, ran{0};
    {
      runtime rt({.workers = workers});
      rt.run([&](scope& s) {
        const counted lvalue(&alive);
        for (int i = 0; i < 2000; i++) {
          s.spawn([c = lvalue, &ran] { ran++; });
          s.spawn([p = std::make_unique<counted>(&alive), &ran] { ran++; });  // can only be moved
        }
      });
    }
    EXPECT_EQ(ran, 4000);
    EXPECT_EQ(alive, 0);
  }
}

TEST(creator, runs_nothing_of_a_cancelled_scope) {
  for (int workers : few_or_many) {
    runtime rt({.workers = workers});
    std::atomic<int> ran{0}, cancelled{0};
    rt.run([&] {
      scope s(rt);
      s.spawn([&] { cancelled += this_task::cancelled(); });
      s.wait();
      s.spawn([&] {
        s.cancel();
        cancelled += this_task::cancelled();
        for (int i = 0; i < 1000; i++) s.spawn([&] { ran++; });
      });
      s.wait();
    });
    EXPECT_EQ(cancelled, 1);
    EXPECT_EQ(ran, 0);
  }
}

// Its task counts for its scope, although that is not the creator's and somebody else waits for it.
TEST(creator, keeps_another_threads_scope_open) {
  for (int workers : few_or_many) {
    runtime rt({.workers = workers});
    scope s(rt);
    std::atomic<bool> begun{false}, ended{false};
    rt.spawn([&] {
      s.spawn([&] {
        begun = true;
        begun.notify_all();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ended = true;
      });
    });
    begun.wait(false);
    s.wait();
    EXPECT_TRUE(ended);
    rt.wait();
  }
}

TEST(creator, of_a_recursion_counts_every_task) {
  for (int workers : few_or_many) {
    runtime rt({.workers = workers});
    std::uint64_t result = 0;
    rt.run([&] { result = fib(rt, 20); });
    EXPECT_EQ(result, 6765u);
    EXPECT_EQ(rt.stats().tasks, 2u * 10945 + 1);  // two for each of the calls with n >= 2, and the program
  }
}

TEST(creator, alone_runs_in_the_order_of_creation) {
  runtime rt({.workers = 1});
  std::vector<int> order;
  rt.run([&](scope& s) {
    const auto d = rt.make_data<int>(1);
    const auto next = [&order](auto v) { order.push_back(v[0]++); };
    scope first(rt);  // a creator runs at once what is like a task that has finished
    first.spawn(out(d), [](auto v) { v[0] = 0; });
    first.spawn(inout(d), next);
    first.wait();
    for (int i = 1; i < 100; i++) {
      s.spawn(inout(d), next);
      EXPECT_EQ(order.size(), static_cast<std::size_t>(i) + 1);
    }
  });
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; i++) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

// However short they were so far.
TEST(creator, leaves_long_tasks_to_others) {
  runtime rt({.workers = 2});
  std::atomic<int> by_others{0};
  rt.run([&](scope& s) {
    for (int i = 0; i < 100'000; i++) s.spawn([] {});
    for (int i = 0; i < 100; i++)
      s.spawn([&by_others, creator = this_task::worker()] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        by_others += this_task::worker() != creator;
      });
  });
  EXPECT_GT(by_others, 10);
}

// What runs, and what is not ready, may wait for what a thread of the program does after creating more than the limit.
TEST(creator, outside_of_tasks_goes_on_if_tasks_wait_for_it) {
  const watchdog dog(120);
  for (const int workers : few_or_many) {
    runtime rt({.workers = workers, .backlog = 1000});
    std::atomic<bool> open{false};
    std::atomic<int> done{0};
    const auto d = rt.make_data<int>(1);
    rt.spawn(out(d), [&](auto v) {
      while (!open) std::this_thread::yield();
      v[0] = 7;
    });
    for (int i = 0; i < 3000; i++) rt.spawn(in(d), [&](auto v) { done += v[0] == 7; });
    open = true;
    rt.wait();
    EXPECT_EQ(done, 3000) << workers;
  }
}

// Although tasks like these have ended soon before.
TEST(creator, outside_of_tasks_runs_none_that_may_wait_for_it) {
  const watchdog dog(120);
  for (const int workers : few_or_many) {
    runtime rt({.workers = workers, .backlog = 1000});
    for (int round = 0; round < 5; round++) {
      std::atomic<bool> open{round % 2 == 0};
      std::atomic<int> done{0};
      for (int i = 0; i < 2000; i++)
        rt.spawn([&] {
          while (!open) std::this_thread::yield();
          done++;
        });
      open = true;
      rt.wait();
      EXPECT_EQ(done, 2000) << workers;
    }
  }
}

// A type of closure of its own for each `n`.
template <int n>
void spawn_one_that_waits_for_its_creator(int workers) {
  runtime rt({.workers = workers});
  rt.run([&] {
    std::atomic<bool> open{false};
    scope s(rt);
    for (int i = 0; i < 200; i++) s.spawn([] {});
    s.spawn([&] {
      while (!open) std::this_thread::yield();
    });
    open = true;
    s.wait();
  });
}

TEST(creator, runs_at_once_only_what_is_like_a_task_that_has_finished) {
  const watchdog dog(120);
  spawn_one_that_waits_for_its_creator<0>(1);
  spawn_one_that_waits_for_its_creator<1>(2);
  spawn_one_that_waits_for_its_creator<2>(5);
}

}  // namespace
}  // namespace weir::test
