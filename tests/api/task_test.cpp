// Tasks: any closure, any number of accesses, priorities.
#include "tests/support/support.hpp"

#include <array>

namespace weir::test {
namespace {

std::atomic<int> times_called{0};
void count_a_call() { times_called++; }

TEST(task, may_be_a_function) {
  runtime rt({.workers = 2});
  times_called = 0;
  rt.spawn(count_a_call);
  rt.spawn(&count_a_call);
  rt.run([&] { rt.spawn(count_a_call); });
  rt.wait();
  EXPECT_EQ(times_called, 3);
}

TEST(task, without_accesses) {
  runtime rt({.workers = 2});
  std::atomic<int> ran{0};
  for (int i = 0; i < 1000; i++) rt.spawn([&] { ran++; });
  rt.wait();
  EXPECT_EQ(ran, 1000);
}

TEST(task, with_a_thousand_accesses) {
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    std::vector<data<int>> inputs, outputs;
    for (int i = 0; i < 1000; i++) {
      inputs.push_back(rt.make_data<int>(2));
      outputs.push_back(rt.make_data<int>(2));
      rt.spawn(out(inputs.back()), [i](auto s) { s[0] = i; });
    }
    rt.spawn(in(inputs), out(outputs), inout(std::vector{rt.make_data(std::vector<int>{1})}), [](auto from, auto to, auto) {
      for (std::size_t i = 0; i < from.size(); i++) to[i][0] = from[i][0] + 1;
    });
    std::atomic<int> sum{0};
    for (const auto& d : outputs) rt.spawn(in(d), [&](auto s) { sum += s[0]; });
    rt.wait();
    EXPECT_EQ(sum, 500'500) << test::text(o);
  }
}

TEST(task, with_more_accesses_than_a_task_may_have) {
  runtime rt({.workers = 1});
  const auto d = rt.make_data(std::vector<int>{1}, "d");
  const std::vector<data<int>> many(65536, d);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.spawn({.name = "greedy"}, in(many), [](auto) {}); }), "greedy");
  std::atomic<std::size_t> seen{0};
  rt.spawn(in(std::span<const data<int>>(many).subspan(1)), [&](auto all) { seen = all.size(); });
  rt.wait();
  EXPECT_EQ(seen, 65535u);
}

TEST(task, closures_may_be_move_only) {
  runtime rt({.workers = 2});
  int seen = 0;
  auto p = std::make_unique<int>(5);
  rt.spawn([q = std::move(p), &seen] { seen = *q; });
  rt.wait();
  EXPECT_EQ(seen, 5);
}

TEST(task, closures_may_be_large) {
  runtime rt({.workers = 2});
  std::atomic<int> sum{0};
  const auto spawn_sized = [&]<std::size_t Bytes>(std::integral_constant<std::size_t, Bytes>) {
    std::array<char, Bytes> load;
    load.fill(1);
    rt.spawn([load, &sum] {
      int n = 0;
      for (char c : load) n += c;
      sum += n;
    });
  };
  spawn_sized(std::integral_constant<std::size_t, 1>());
  spawn_sized(std::integral_constant<std::size_t, 1000>());
  spawn_sized(std::integral_constant<std::size_t, 70'000>());
  spawn_sized(std::integral_constant<std::size_t, 1'000'000>());
  rt.wait();
  EXPECT_EQ(sum, 1'071'001);
}

struct alignas(64) aligned_body {
  std::uintptr_t* address;
  char load[64];
  void operator()(std::span<const int>, std::span<int>) const { *address = reinterpret_cast<std::uintptr_t>(this); }
};

TEST(task, closures_may_be_aligned_to_a_cache_line) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data(std::vector<int>{1}), e = rt.make_data<int>(1);
  for (int i = 0; i < 20; i++) {
    std::uintptr_t address = 1;
    rt.spawn(in(d), out(e), aligned_body{&address, {}});
    rt.wait();
    EXPECT_EQ(address % 64, 0u);
  }
}

TEST(task, closures_are_destroyed_once) {
  const auto token = std::make_shared<int>(0);
  runtime rt({.workers = 2});
  for (int i = 0; i < 200; i++) rt.spawn([token] {});
  rt.wait();
  EXPECT_EQ(token.use_count(), 1);
}

TEST(task, callables_may_be_named_and_keep_their_state) {
  runtime rt({.workers = 1});
  int calls = 0;
  const auto body = [&calls, n = 0]() mutable { calls += ++n; };
  for (int i = 0; i < 3; i++) rt.spawn(body);  // each task has a copy
  void (*function)(std::span<int>) = [](std::span<int> s) { s[0] = 8; };
  const auto d = rt.make_data<int>(1);
  rt.spawn(out(d), function);
  rt.wait();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(d.read()[0], 8);
}

TEST(task, knows_where_it_runs) {
  runtime rt({.workers = 4, .machine = "nodes:2 cpus:2"});
  EXPECT_EQ(rt.workers(), 4);
  EXPECT_EQ(rt.nodes(), 2);
  EXPECT_EQ(this_task::worker(), -1);
  EXPECT_EQ(this_task::node(), -1);
  EXPECT_FALSE(this_task::cancelled());
  std::atomic<int> wrong{0};
  for (int i = 0; i < 200; i++)
    rt.spawn([&] {
      const int worker = this_task::worker();
      wrong += worker < 0 || worker >= 4 || this_task::node() != worker / 2;
    });
  rt.wait();
  EXPECT_EQ(wrong, 0);
}

// The order of tasks on one worker, all ready before the first of them runs.
std::vector<int> order_of(const std::string& policy, bool spawned_in_a_task, const std::vector<priority>& priorities) {
  runtime rt({.workers = 1, .policy = policy});
  gate g;
  std::vector<int> order;
  const auto start = rt.make_data<int>(1);
  const auto spawn_all = [&] {
    for (std::size_t i = 0; i < priorities.size(); i++) rt.spawn({.priority = priorities[i]}, in(start), [&order, i](auto) { order.push_back(static_cast<int>(i)); });
  };
  rt.spawn(out(start), [&](auto) {
    if (spawned_in_a_task) spawn_all();
    g.pass();
  });
  g.await_arrivals(1);
  if (!spawned_in_a_task) spawn_all();
  g.open();
  rt.wait();
  return order;
}

TEST(task, of_high_priority_runs_before_normal_ones) {
  const std::vector<priority> priorities{priority::normal, priority::normal, priority::high, priority::normal, priority::high, priority::normal};
  for (const std::string& policy : policy_names())
    for (bool spawned_in_a_task : {true, false}) {
      const std::vector<int> order = order_of(policy, spawned_in_a_task, priorities);
      ASSERT_EQ(order.size(), 6u);
      EXPECT_TRUE((order[0] == 2 && order[1] == 4) || (order[0] == 4 && order[1] == 2)) << policy << (spawned_in_a_task ? ", spawned in a task" : ", spawned outside");
    }
}

// Small tasks are left to the worker that has them, but not behind one that does not end.
TEST(task, small_ones_behind_a_long_one_are_run_by_others) {
  constexpr int small = 5000;
  for (int workers : {2, 5}) {
    runtime rt({.workers = workers});
    std::atomic<int> ran{0};
    for (int round = 0; round < 3; round++) {
      rt.run([&](scope& s) {
        for (int i = 0; i < small; i++) s.spawn([&] { ran++; });
        s.spawn([&] {
          while (ran < (round + 1) * small) std::this_thread::yield();
        });
        const auto d = rt.make_data(std::vector<int>(1, 0));
        for (int i = 0; i < 100; i++) s.spawn(inout(d), [](auto v) { v[0]++; });
        while (ran < (round + 1) * small) std::this_thread::yield();  // this worker is busy until others have done it
      });
    }
    EXPECT_EQ(ran, 3 * small);
  }
}

// The updated datum has the longer path of tasks before it, and is named first.
TEST(task, waits_for_what_it_reads_although_what_it_updates_comes_later) {
  for (bool spawned_in_a_task : {true, false}) {
    runtime rt({.workers = 4});
    gate deep_one, shallow_one;
    const auto deep = rt.make_data<int>(1), shallow = rt.make_data<int>(1);
    std::atomic<int> seen{-1};
    const auto create = [&] {
      rt.spawn(out(deep), [](auto d) { d[0] = 1; });
      rt.spawn(inout(deep), [](auto d) { d[0]++; });
      rt.spawn(inout(deep), [&](auto d) { deep_one.pass(), d[0]++; });
      rt.spawn(out(shallow), [&](auto s) { shallow_one.pass(), s[0] = 10; });
      rt.spawn(inout(deep), in(shallow), [&](auto d, auto s) { seen = d[0] + s[0]; });
    };
    if (spawned_in_a_task) rt.run(create);
    else create();
    deep_one.await_arrivals(1);
    shallow_one.await_arrivals(1);
    deep_one.open();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(seen, -1);
    shallow_one.open();
    rt.wait();
    EXPECT_EQ(seen, 13);
  }
}

TEST(task, of_high_priority_overtakes_when_it_becomes_ready) {
  for (const std::string& policy : policy_names()) {
    runtime rt({.workers = 1, .policy = policy});
    gate g;
    const auto d = rt.make_data<int>(1);
    std::vector<char> order;
    rt.spawn(out(d), [&](auto) { g.pass(); });
    g.await_arrivals(1);
    rt.spawn([&] { order.push_back('n'); });
    rt.spawn(in(d), [&](auto) { order.push_back('n'); });
    rt.spawn({.priority = priority::high}, in(d), [&](auto) { order.push_back('h'); });
    rt.spawn(in(d), [&](auto) { order.push_back('n'); });
    g.open();
    rt.wait();
    EXPECT_EQ(order.front(), 'h') << policy;
  }
}

}  // namespace
}  // namespace weir::test
