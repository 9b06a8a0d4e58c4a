// Several runtimes, one after the other and at once, and many threads that use one.
#include "tests/support/support.hpp"

#include <sched.h>

namespace weir::test {
namespace {

TEST(threads, runtimes_one_after_the_other) {
  watchdog dog(60);
  std::atomic<int> ran{0};
  const int n = static_cast<int>(effort(300));
  for (int i = 0; i < n; i++) {
    runtime rt({.workers = i % 4 + 1, .machine = i % 3 == 0 ? "nodes:2 cpus:1" : ""});
    rt.spawn([&] { ran++; });
    if (i % 2 == 0) rt.wait();
  }
  EXPECT_EQ(ran, n);
}

TEST(threads, runtimes_at_once_do_not_mix) {
  watchdog dog(60);
  runtime a({.workers = 2}), b({.workers = 2, .policy = "steal"});
  const auto x = a.make_data(std::vector<int>{0}), y = b.make_data(std::vector<int>{0});
  for (int i = 0; i < 500; i++) {
    a.spawn(inout(x), [](auto s) { s[0]++; });
    b.spawn(inout(y), [](auto s) { s[0] += 2; });
  }
  a.wait();
  EXPECT_EQ(x.read()[0], 500);
  EXPECT_EQ(y.read()[0], 1000);
  EXPECT_EQ(a.stats().tasks, 500u);
  b.wait();
  EXPECT_EQ(b.stats().tasks, 500u);
}

// A task of one runtime makes and uses another, and then goes on in its own: it is still on its own worker.
TEST(threads, a_task_may_use_another_runtime) {
  watchdog dog(60, "a runtime inside a task");
  runtime outer({.workers = 1});
  int inner_sum = 0, worker_before = -1, worker_after = -2;
  std::atomic<int> children{0};
  std::string refused;
  outer.spawn([&] {
    worker_before = this_task::worker();
    {
      runtime inner({.workers = 2});
      const auto d = inner.make_data(std::vector<int>{0});
      for (int i = 0; i < 10; i++) inner.spawn(inout(d), [](auto s) { s[0]++; });
      inner.wait();
      inner_sum = d.read()[0];
    }
    worker_after = this_task::worker();
    refused = message_of<usage_error>([&] { outer.wait(); });
    // On the outer runtime's only worker: somebody has to execute these, and there is nobody else.
    scope s(outer);
    for (int i = 0; i < 10; i++) s.spawn([&] { children++; });
    s.wait();
  });
  outer.wait();
  EXPECT_EQ(inner_sum, 10);
  EXPECT_EQ(children, 10);
  EXPECT_EQ(worker_before, 0);
  EXPECT_EQ(worker_after, 0);
  WEIR_EXPECT_CONTAINS(refused, "scope");
}

TEST(threads, two_runtimes_call_each_other) {
  watchdog dog(60, "runtimes that call each other");
  runtime a({.workers = 2}), b({.workers = 2});
  std::atomic<int> done{0};
  for (int i = 0; i < 50; i++) {
    a.spawn([&] {
      scope s(b);
      s.spawn([&] { done++; });
      s.wait();
      scope own(a);
      own.spawn([&] { done++; });
      own.wait();
    });
    b.spawn([&] { a.spawn([&] { done++; }); });
  }
  b.wait();
  a.wait();
  EXPECT_EQ(done, 150);
}

TEST(threads, many_spawn_on_shared_data) {
  watchdog dog(60);
  for (const char* policy : {"local", "steal", "fifo"}) {
    runtime rt({.workers = 3, .policy = policy, .machine = "nodes:2 cpus:2"});
    const auto x = rt.make_data(std::vector<long>{0}), y = rt.make_data(std::vector<long>{0});
    std::vector<std::thread> threads;
    const int each = static_cast<int>(effort(1000));
    for (int t = 0; t < 8; t++)
      threads.emplace_back([&, t] {
        for (int i = 0; i < each; i++) {
          // In both orders, so that creators meet each other's locks.
          if (t % 2 == 0) rt.spawn(inout(x), inout(y), [](auto a, auto b) { a[0]++, b[0] += 2; });
          else rt.spawn(inout(y), inout(x), [](auto b, auto a) { a[0]++, b[0] += 2; });
        }
      });
    for (std::thread& t : threads) t.join();
    rt.wait();
    EXPECT_EQ(x.read()[0], 8 * each);
    EXPECT_EQ(y.read()[0], 16 * each);
  }
}

TEST(threads, that_end_make_room_for_others) {
  watchdog dog(120, "threads one after the other");
  runtime rt({.workers = 2});
  std::atomic<int> ran{0};
  const int n = 8 * static_cast<int>(effort(300));  // more than a runtime has room for at once
  for (int i = 0; i < n; i += 8) {
    std::vector<std::thread> threads;
    for (int k = 0; k < 8; k++) threads.emplace_back([&] { rt.spawn([&] { ran++; }); });
    for (std::thread& t : threads) t.join();
  }
  rt.wait();
  EXPECT_EQ(ran, n);
}

TEST(threads, that_end_leave_their_tasks_behind) {
  watchdog dog(60);
  runtime rt({.workers = 1});
  gate g;
  std::atomic<int> ran{0};
  rt.spawn([&] { g.pass(); });
  g.await_arrivals(1);
  std::thread([&] {
    for (int i = 0; i < 1000; i++) rt.spawn([&] { ran++; });
  }).join();
  g.open();
  rt.wait();
  EXPECT_EQ(ran, 1000);
}

TEST(threads, of_the_program_keep_their_affinity) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  {
    runtime rt({.workers = 4});
    for (int i = 0; i < 100; i++) rt.spawn([] {});
    rt.wait();
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
  ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(threads, all_may_wait_at_once) {
  watchdog dog(60);
  runtime rt({.workers = 2});
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; i++) {
        rt.spawn([&] { ran++; });
        rt.wait();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(ran, 1200);
}

}  // namespace
}  // namespace weir::test
