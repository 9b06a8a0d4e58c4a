// view = datum.read(): waits for the version it names, and keeps it alive and unchanged.
#include "tests/support/support.hpp"

#include <algorithm>

namespace weir::test {
namespace {

TEST(view, waits_for_the_version_announced_last) {
  runtime rt({.workers = 2});
  gate g;
  const auto d = rt.make_data(std::vector<int>{1});
  rt.spawn(out(d), [&](auto s) {
    g.pass();
    s[0] = 2;
  });
  std::thread opener([&] {
    g.await_arrivals(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    g.open();
  });
  EXPECT_EQ(d.read()[0], 2);
  opener.join();
}

TEST(view, does_not_wait_for_later_versions) {
  runtime rt({.workers = 2});
  gate g;
  const auto d = rt.make_data<int>(1);
  rt.spawn(out(d), [](auto s) { s[0] = 1; });
  const auto v = d.read();
  rt.spawn(out(d), [&](auto s) {
    g.pass();
    s[0] = 2;
  });
  EXPECT_EQ(v[0], 1);  // and is there although the next writer has not ended
  g.open();
  EXPECT_EQ(d.read()[0], 2);
  EXPECT_EQ(v[0], 1);
}

TEST(view, an_update_with_a_view_copies_and_without_one_does_not) {
  runtime rt({.workers = 1});
  const auto d = rt.make_data(std::vector<int>(5000, 1));
  const int* seen_by_update = nullptr;
  {
    const auto v = d.read();
    rt.spawn(inout(d), [&](std::span<int> s) {
      seen_by_update = s.data();
      EXPECT_EQ(s[4999], 1);
      std::ranges::fill(s, 2);
    });
    rt.wait();
    EXPECT_NE(seen_by_update, v.data());
    EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](int x) { return x == 1; }));
  }
  const int* const before = d.read().data();
  rt.spawn(inout(d), [&](std::span<int> s) { seen_by_update = s.data(); });
  rt.wait();
  EXPECT_EQ(seen_by_update, before);
}

TEST(view, outlives_its_handle) {
  runtime rt({.workers = 2});
  auto d = rt.make_data<int>(1000);
  rt.spawn(out(d), [](std::span<int> s) { std::ranges::fill(s, 9); });
  auto v = d.read();
  d = {};
  // Blocks of the same size are used again; not this one.
  for (int i = 0; i < 200; i++) {
    const auto other = rt.make_data<int>(1000);
    rt.spawn(out(other), [](std::span<int> s) { std::ranges::fill(s, -1); });
  }
  rt.wait();
  EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](int x) { return x == 9; }));
  auto moved = std::move(v);
  EXPECT_EQ(moved[999], 9);
  EXPECT_EQ(std::span<const int>(moved).size(), 1000u);
}

TEST(view, many_at_once_of_one_version) {
  runtime rt({.workers = 2});
  auto d = rt.make_data(std::vector<int>{5});
  std::vector<view<int>> all;
  for (int i = 0; i < 100; i++) all.push_back(d.read());
  rt.spawn(inout(d), [](auto s) { s[0]++; });
  rt.wait();
  for (int i = 0; i < 99; i++) all.pop_back();
  EXPECT_EQ(all[0][0], 5);
  EXPECT_EQ(d.read()[0], 6);
}

TEST(view, inside_a_task_waits_by_executing) {
  for (int workers : {1, 3}) {
    watchdog dog(30, "reading inside tasks");
    runtime rt({.workers = workers});
    int sum = 0;
    rt.spawn([&] {
      for (int i = 0; i < 100; i++) {
        const auto d = rt.make_data<int>(1);
        rt.spawn(out(d), [i](auto s) { s[0] = i; });
        sum += d.read()[0];
      }
    });
    rt.wait();
    EXPECT_EQ(sum, 4950);
  }
}

TEST(view, of_a_failed_version_names_the_task) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data<int>(1, "d");
  rt.spawn({.name = "bad"}, out(d), [](auto) { throw std::runtime_error("no"); });
  const std::string message = message_of<task_failed>([&] { d.read(); });
  WEIR_EXPECT_CONTAINS(message, "bad");
  WEIR_EXPECT_CONTAINS(message, "datum d");
  EXPECT_THROW(rt.wait(), task_failed);
  EXPECT_THROW(d.read(), task_failed);
  rt.spawn(out(d), [](auto s) { s[0] = 1; });
  EXPECT_EQ(d.read()[0], 1);
}

TEST(view, knows_its_node) {
  runtime rt({.workers = 4, .machine = "nodes:4 cpus:1"});
  for (int node = 0; node < 4; node++) {
    const auto d = rt.make_data<int>(100);
    rt.spawn({.affinity = require(node)}, out(d), [](auto s) { s[0] = 0; });
    EXPECT_EQ(d.read().node(), node);
  }
  runtime spread({.workers = 4, .policy = "interleave", .machine = "nodes:4 cpus:1"});
  const auto d = spread.make_data<int>(100);
  spread.spawn(out(d), [](auto s) { s[0] = 0; });
  EXPECT_LT(d.read().node(), 0);
}

TEST(view, read_by_many_threads_while_tasks_write) {
  watchdog dog(60, "reading by many threads");
  runtime rt({.workers = 2});
  const auto d = rt.make_data(std::vector<int>(64, 0));
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  std::atomic<int> torn{0};
  for (int n = 0; n < 4; n++)
    readers.emplace_back([&] {
      int last = 0;
      while (!over) {
        const auto v = d.read();
        for (int x : v) torn += x != v[0];
        torn += v[0] < last;
        last = v[0];
      }
    });
  const int writes = static_cast<int>(effort(3000));
  for (int i = 1; i <= writes; i++) {
    const auto body = [i](std::span<int> s) { std::ranges::fill(s, i); };
    if (i % 2 == 0) rt.spawn(out(d), body);
    else rt.spawn(inout(d), body);
  }
  rt.wait();
  over = true;
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(d.read()[63], writes);
}

}  // namespace
}  // namespace weir::test
