// Threads of the program that wait execute tasks, in the place of a worker.
#include "tests/support/support.hpp"

#include <chrono>
#include <thread>

namespace weir::test {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

std::vector<int> of_one_int() { return {0}; }

// Numbers of workers with which each node has one: a thread executes in the place of a worker of the node it is on.
std::vector<int> numbers_of_workers() {
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());  // whatever quota there is
  std::vector<int> numbers{cpus, 2 * cpus};
  if (runtime().nodes() == 1) numbers.push_back(1);
  return numbers;
}

// Spawns and waits until the calling thread has executed one of the tasks itself; false: it never has, for so long.
bool executes_sooner_or_later(runtime& rt, seconds limit) {
  const auto me = std::this_thread::get_id();
  for (const auto begin = steady_clock::now(); steady_clock::now() - begin < limit;) {
    bool mine = false;
    scope s(rt);
    s.spawn([&] { mine = std::this_thread::get_id() == me; });
    s.wait();
    if (mine) return true;
  }
  return false;
}

TEST(waiting_threads, execute) {
  for (const int workers : numbers_of_workers()) {
    runtime rt({.workers = workers});
    EXPECT_TRUE(executes_sooner_or_later(rt, seconds(60))) << workers;
  }
}

TEST(waiting_threads, execute_nothing_if_they_must_not) {
  runtime rt({.workers = 2, .waiting_threads_execute = false});
  const auto me = std::this_thread::get_id();
  std::atomic<int> by_me{0};
  const auto note = [&] { by_me += std::this_thread::get_id() == me; };
  auto d = rt.make_data<int>(of_one_int());
  for (int i = 0; i < 300; i++) {
    scope s(rt);
    for (int t = 0; t < 10; t++) s.spawn(note);
    s.wait();
    rt.spawn(inout(d), [&](std::span<int>) { note(); });
    static_cast<void>(d.read());
    parallel_for(rt, 0, 10, [&](int) { note(); });
    rt.wait();
  }
  EXPECT_EQ(by_me, 0);
}

TEST(waiting_threads, leave_run_to_workers) {
  runtime rt({.workers = 2});
  const auto me = std::this_thread::get_id();
  for (int i = 0; i < 300; i++) {
    bool mine = true;
    rt.run([&] { mine = std::this_thread::get_id() == me; });
    EXPECT_FALSE(mine);
  }
}

TEST(waiting_threads, execute_in_a_scopes_wait_what_belongs_to_it) {
  runtime rt({.workers = 2});
  const auto me = std::this_thread::get_id();
  std::atomic<int> foreign_by_me{0}, inner{0};
  bool in_scopes_wait = false;  // this thread's
  for (int round = 0; round < 500; round++) {
    scope s(rt);
    for (int t = 0; t < 4; t++) {
      rt.spawn([&] { foreign_by_me += std::this_thread::get_id() == me && in_scopes_wait; });
      s.spawn([&] {
        scope inside(rt);
        inside.spawn([&] { inner++; });
        inside.wait();
      });
    }
    in_scopes_wait = true;
    s.wait();
    in_scopes_wait = false;
    EXPECT_EQ(inner, 4 * (round + 1));
    EXPECT_EQ(foreign_by_me, 0);
    if (round % 8 == 0) rt.wait();
  }
}

// Also of what becomes ready by a task that they execute.
TEST(waiting_threads, go_on_as_soon_as_what_they_wait_for_is_there) {
  for (const int workers : numbers_of_workers()) {
    runtime rt({.workers = workers});
    const auto me = std::this_thread::get_id();
    EXPECT_TRUE(executes_sooner_or_later(rt, seconds(60))) << workers;
    std::atomic<int> foreign_by_me{0};
    bool waits = false;  // this thread
    const auto make = [](std::span<int> v) { v[0]++; };
    const auto use = [&](std::span<const int>) { foreign_by_me += std::this_thread::get_id() == me && waits; };
    for (int round = 0; round < 500; round++) {
      auto d = rt.make_data<int>(of_one_int());
      scope s(rt);
      round % 2 == 0 ? s.spawn(inout(d), make) : rt.spawn(inout(d), make);
      for (int t = 0; t < 3; t++) rt.spawn(in(d), use);
      waits = true;
      round % 2 == 0 ? s.wait() : static_cast<void>(d.read());
      waits = false;
      if (round % 8 == 0) rt.wait();
    }
    rt.wait();
    EXPECT_EQ(foreign_by_me, 0) << workers;
  }
}

// Whoever executes has an index of its own.
TEST(waiting_threads, share_no_workers_index) {
  constexpr int workers = 3, threads = 6, rounds = 300;
  runtime rt({.workers = workers});
  std::atomic<int> inside[workers] = {};
  std::atomic<int> shared{0}, outside_range{0};
  const auto body = [&] {
    const int w = this_task::worker();
    if (w < 0 || w >= workers) {
      outside_range++;
      return;
    }
    if (inside[w]++ != 0) shared++;
    for (int i = 0; i < 200; i++) cpu_pause();
    inside[w]--;
  };
  std::vector<std::thread> guests;
  for (int t = 0; t < threads; t++)
    guests.emplace_back([&, t] {
      for (int i = 0; i < rounds; i++) {
        scope s(rt);
        for (int k = 0; k <= t; k++) s.spawn(body);
        s.wait();
        if (i % 16 == 0) parallel_for(rt, 0, 20, [&](int) { body(); }, {.grain = 1});
        if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));  // workers fall asleep
      }
    });
  for (std::thread& g : guests) g.join();
  EXPECT_EQ(outside_range, 0);
  EXPECT_EQ(shared, 0);
}

// Deeper than the thread's own stack is large.
long depth_of(runtime& rt, int left) {
  volatile char room[2048] = {};
  room[0] = 1;
  if (left == 0) return room[0] - 1;
  long below = 0;
  scope s(rt);
  s.spawn([&] { below = depth_of(rt, left - 1); });
  s.wait();
  return below + room[0];
}

TEST(waiting_threads, have_room_for_deep_recursions) {
  runtime rt({.workers = 2});
  std::thread small([&] {
    for (int i = 0; i < 20; i++) EXPECT_EQ(depth_of(rt, 5000), 5000);
  });
  small.join();
}

TEST(waiting_threads, are_in_no_task_afterwards) {
  runtime rt({.workers = 2});
  for (int i = 0; i < 300; i++) {
    scope s(rt);
    s.spawn([] { throw std::runtime_error("thrown through a wait"); });
    EXPECT_THROW(s.wait(), task_failed);
    EXPECT_EQ(this_task::worker(), -1);
    EXPECT_EQ(this_task::node(), -1);
    rt.wait();  // refused inside of tasks
  }
}

// A worker of one runtime is a thread of the program to another one.
TEST(waiting_threads, may_be_workers_of_another_runtime) {
  runtime outer({.workers = 2}), inner({.workers = 2});
  std::atomic<int> sum{0};
  for (int i = 0; i < 200; i++) {
    scope s(outer);
    for (int t = 0; t < 4; t++)
      s.spawn([&] {
        const int mine = this_task::worker();
        scope in(inner);
        for (int k = 0; k < 3; k++) in.spawn([&] { sum++; });
        in.wait();
        EXPECT_EQ(this_task::worker(), mine);
      });
    s.wait();
  }
  EXPECT_EQ(sum, 200 * 12);
}

// They keep the place that they had, until somebody needs it.
TEST(waiting_threads, give_up_their_place_while_they_are_away) {
  const watchdog dog(120);
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    std::atomic<int> done{0};
    for (int i = 0; i < 100; i++) {
      parallel_for(rt, 0, 10, [](int) {});
      for (int t = 0; t < workers; t++) rt.spawn([&] { done++; });
      while (done < workers * (i + 1)) std::this_thread::yield();  // waits for them without weir
    }
  }
}

TEST(waiting_threads, give_up_their_place_when_they_end) {
  const watchdog dog(120);
  for (const int workers : {1, 3}) {
    runtime rt({.workers = workers});
    for (int i = 0; i < 200; i++) {
      std::thread([&] { parallel_for(rt, 0, 10, [](int) {}); }).join();
      bool ran = false;
      rt.run([&] { ran = true; });
      EXPECT_TRUE(ran);
    }
  }
}

// What a wait is for was created last, and what was created before it can take any time.
TEST(waiting_threads, run_what_they_wait_for_before_what_they_have_created_before) {
  const watchdog dog(60);
  runtime rt({.workers = 1, .machine = "nodes:1 cpus:2"});
  int newer_first = 0;
  for (int round = 0; round < 50 && newer_first == 0; round++) {
    bool older_ran = false;
    rt.wait();
    rt.spawn([&] { older_ran = true; });
    scope s(rt);
    s.spawn([&] { newer_first += older_ran ? 0 : 1; });
    s.wait();
    rt.wait();
    ASSERT_TRUE(older_ran);
  }
  EXPECT_GT(newer_first, 0);  // the worker's own thread may have come before
}

TEST(waiting_threads, run_at_once_what_they_create_if_they_may) {
  const watchdog dog(120);
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers, .machine = "nodes:1 cpus:2", .spawn_executes_outside_tasks = true});
    const auto me = std::this_thread::get_id();
    std::atomic<int> done{0};
    bool creates = false, at_once = false;  // this thread's
    for (int round = 0; !at_once; round++) {
      scope s(rt);
      creates = true;
      for (int i = 0; i < 5000; i++)
        s.spawn([&] {
          if (std::this_thread::get_id() == me) {
            at_once |= creates;
            EXPECT_GE(this_task::worker(), 0);
          }
          done++;
        });
      creates = false;
      s.wait();
      ASSERT_EQ(done, 5000 * (round + 1));
    }
    EXPECT_EQ(this_task::worker(), -1);
  }
}

// What such a task creates in its own scope is counted there in advance, until the thread leaves the place.
TEST(waiting_threads, leave_no_credits_in_a_place) {
  const watchdog dog(60);
  runtime rt({.workers = 2, .machine = "nodes:1 cpus:2", .spawn_executes_outside_tasks = true});
  for (int round = 0; round < 10; round++) {
    scope s(rt);
    std::atomic<int> done{0};
    for (int i = 0; i < 3000; i++)
      s.spawn([&] {
        for (int k = 0; k < 3; k++) s.spawn([&] { done++; });
      });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the place is its worker's again
    s.wait();
    ASSERT_EQ(done, 9000);
  }
}

// One of the two workers goes on taking what this thread creates; the other one holds a task that it does not run.
TEST(waiting_threads, do_not_keep_workers_from_others_by_creating_for_ever) {
  const watchdog dog(120);
  runtime rt({.workers = 2, .machine = "nodes:1 cpus:2", .waiting_threads_execute = false});
  std::atomic<bool> ran{false};
  std::uint64_t created = 0;
  const auto create = [&] {
    rt.spawn([] {
      for (int i = 0; i < 10000; i++) asm volatile("");  // so that there are always some
    });
    created++;
  };
  while (created < 1000) create();
  rt.spawn([&] {
    rt.spawn([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  });
  while (!ran) create();
  rt.wait();
  EXPECT_EQ(rt.stats().tasks, created + 2);
}

}  // namespace
}  // namespace weir::test
