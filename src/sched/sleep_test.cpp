// The sleep protocol with real threads: nobody sleeps while there is work.
#include "sched/sleep.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "sched/inbox.hpp"
#include "sched/shared_fence.hpp"

namespace weir::sched {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

TEST(sleep, publishing_with_nobody_asleep_does_nothing) {
  sleep_control<> s(2);
  s.work_published();
  s.work_published(1);
  EXPECT_FALSE(s.wake(0));
  EXPECT_FALSE(s.wake_any());
  EXPECT_FALSE(s.wake_any_of(1, 2));
  s.wake_all();
  EXPECT_EQ(s.wake_epoch(), 0u);
  EXPECT_EQ(s.sleeping(), 0);
  EXPECT_EQ(s.searching(), 0);
}

TEST(sleep, work_seen_in_time_keeps_the_worker_awake) {
  sleep_control<> s(2);
  s.start_searching();
  EXPECT_EQ(s.searching(), 1);
  int looked = 0;
  s.sleep(0, [&] { looked++; EXPECT_EQ(s.sleeping(), 1); EXPECT_EQ(s.searching(), 0); return true; });
  EXPECT_EQ(looked, 1);
  EXPECT_EQ(s.sleeping(), 0);
  EXPECT_EQ(s.searching(), 1);
  EXPECT_FALSE(s.stop_searching());  // the last searcher, but nobody sleeps
  EXPECT_EQ(s.searching(), 0);
}

// A worker that sleeps until `go`, on a thread of its own. What `sees_go` sees it before somebody wakes it, too.
struct sleeper {
  sleeper(sleep_control<>& control, int worker, atomic<bool>& go, bool sees_go = true)
      : thread([&control, &go, worker, sees_go] {
          control.start_searching();
          while (!go.load(acquire)) control.sleep(worker, [&] { return sees_go && go.load(relaxed); });
          (void)control.stop_searching();
        }) {}
  ~sleeper() { thread.join(); }
  std::thread thread;
};

TEST(sleep, wake_wakes_that_worker) {
  sleep_control<> s(2);
  atomic<bool> go[2];
  {
    sleeper first(s, 0, go[0], false), second(s, 1, go[1], false);
    wait_until([&] { return s.sleeping() == 2; });
    go[1].store(true, release);
    EXPECT_TRUE(s.wake(1));
    EXPECT_FALSE(s.wake(1));
    wait_until([&] { return s.searching() == 0; });
    EXPECT_EQ(s.sleeping(), 1);
    EXPECT_EQ(s.wake_epoch(), 1u);
    go[0].store(true, release);
    EXPECT_FALSE(s.wake_any_of(1, 2));
    EXPECT_TRUE(s.wake_any_of(0, 2));
  }
  EXPECT_EQ(s.sleeping(), 0);
}

TEST(sleep, who_spins_is_awake_until_its_place_is_borrowed) {
  sleep_control<> s(1);
  EXPECT_TRUE(s.is_awake(0));
  s.start_searching();
  s.start_spinning(0);
  EXPECT_TRUE(s.is_awake(0));
  EXPECT_EQ(s.borrow(0, 0, 1), 0);
  EXPECT_FALSE(s.is_awake(0)) << "the CPU is not its own thread's now";
  s.hand_over(0);
  s.stop_spinning(0, [] { return true; });
  EXPECT_TRUE(s.is_awake(0));
}

TEST(sleep, publishing_wakes_one_and_relies_on_it) {
  sleep_control<> s(2);
  atomic<bool> go{false};
  {
    sleeper first(s, 0, go), second(s, 1, go);
    wait_until([&] { return s.sleeping() == 2; });
    // Somebody who searches is relied on: nobody is woken.
    s.start_searching();
    s.work_published();
    EXPECT_EQ(s.wake_epoch(), 0u);
    // It found work, and tells the caller to pass the search on.
    EXPECT_TRUE(s.stop_searching());
    s.work_published(1);
    EXPECT_EQ(s.wake_epoch(), 1u);
    go.store(true, release);
    s.wake_all();
  }
  EXPECT_EQ(s.sleeping(), 0);
  EXPECT_EQ(s.searching(), 0);
}

TEST(sleep, only_the_last_searcher_passes_the_search_on) {
  sleep_control<> s(3);
  atomic<bool> go{false};
  sleeper worker(s, 2, go);
  wait_until([&] { return s.sleeping() == 1; });
  s.start_searching();
  s.start_searching();
  EXPECT_FALSE(s.stop_searching());
  EXPECT_TRUE(s.stop_searching());
  go.store(true, release);
  s.wake_all();
}

TEST(sleep, the_last_to_fall_asleep_is_told) {
  sleep_control<> s(1);
  bool told = false;
  s.start_searching();
  s.sleep(0, false, [] { return false; },
          [&] {
            told = true;
            EXPECT_EQ(s.sleeping(), s.workers());
            EXPECT_TRUE(s.wake(0));
          });
  EXPECT_TRUE(told);
  EXPECT_EQ(s.wake_epoch(), 1u);
  EXPECT_FALSE(s.stop_searching());
}

// Workers and publishers at full speed with a small queue: everything is done, and everybody sleeps in the end.
TEST(sleep_stress, no_wake_up_is_lost) {
  constexpr int workers = 3, publishers = 2, tasks_each = 30'000;
  sleep_control<> s(workers);
  inbox<int*> queue(64);
  atomic<int> done{0};
  atomic<bool> over{false};
  int task = 0;

  std::vector<std::thread> threads;
  for (int w = 0; w < workers; w++)
    threads.emplace_back([&, w] {
      for (;;) {
        s.start_searching();
        while (queue.empty() && !over.load(acquire)) s.sleep(w, [&] { return !queue.empty() || over.load(relaxed); });
        if (s.stop_searching() && !queue.empty()) s.wake_any();
        if (over.load(acquire)) return;
        while (queue.try_pop() != nullptr) done.fetch_add(1, relaxed);
      }
    });
  std::vector<std::thread> senders;
  for (int p = 0; p < publishers; p++)
    senders.emplace_back([&] {
      for (int i = 0; i < tasks_each; i++) {
        while (!queue.try_push(&task)) std::this_thread::yield();
        s.work_published(i % workers);
        if (i % 1024 == 0) wait_until([&] { return s.sleeping() > 0 || queue.empty(); });
      }
    });
  for (auto& t : senders) t.join();
  wait_until([&] { return done.load(relaxed) == publishers * tasks_each && s.sleeping() == workers; });
  over.store(true, release);
  s.wake_all();
  for (auto& t : threads) t.join();
  EXPECT_EQ(s.sleeping(), 0);
  EXPECT_EQ(s.searching(), 0);
}

// Numbered fences: number k + 1 began after who saw that k had begun.
struct counted_fences : real_atomics {
  static inline std::atomic<int> begun{0}, ended{0};
  static void heavy_fence() {
    const int number = ++begun;
    EXPECT_EQ(ended, number - 1) << "two fences at a time";
    real_atomics::heavy_fence();
    ended = number;
  }
};

TEST(sleep_stress, a_shared_fence_began_after_each_who_asked) {
  constexpr int askers = 4, asks_each = 1'000;
  shared_fence<counted_fences> fence;
  std::vector<std::thread> threads;
  for (int t = 0; t < askers; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < asks_each; i++) {
        const int begun = counted_fences::begun;
        const std::uint32_t asked = fence.turn();
        wait_until([&] { return fence.passed_since(asked); });
        EXPECT_GT(counted_fences::ended, begun);
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_LE(counted_fences::ended, askers * asks_each);
}

}  // namespace
}  // namespace weir::sched
