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
