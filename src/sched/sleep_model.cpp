// Model tests of the sleep protocol: no work lies about while everybody who could do it sleeps. A lost wake-up shows
// as a deadlock.
#include <memory>

#include "base/model/model_gtest.hpp"
#include "sched/deque.hpp"
#include "sched/inbox.hpp"
#include "sched/sleep.hpp"

namespace weir::sched {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

// A number of equal tasks, and workers that look for them as the scheduler does.
struct pool {
  explicit pool(int workers) : sleep(workers) {}

  sleep_control<model_atomics> sleep;
  model::atomic<int> tasks{0};  // stands for all queues together

  void publish() {
    tasks.fetch_add(1, release);
    sleep.work_published();
  }
  bool try_take() {
    int n = tasks.load(relaxed);
    while (n > 0)
      if (tasks.compare_exchange_strong(n, n - 1, acquire, relaxed)) return true;
    return false;
  }
  bool any() const { return tasks.load(relaxed) > 0; }
  // Searches and sleeps until it has a task.
  void take(int worker) {
    sleep.start_searching();
    while (!try_take()) sleep.sleep(worker, [&] { return any(); });
    if (sleep.stop_searching() && any()) sleep.wake_any();
  }
  // When all threads have ended.
  void expect_quiet() { require(sleep.sleeping() == 0 && sleep.searching() == 0, "the counts do not come back to zero"); }
};

void one_task() {
  pool p(1);
  parallel([&] { p.publish(); }, [&] { p.take(0); });
  p.expect_quiet();
}

void two_publishers_two_workers() {
  pool p(2);
  parallel([&] { p.publish(); }, [&] { p.publish(); }, [&] { p.take(0); }, [&] { p.take(1); });
  p.expect_quiet();
}

// Each of the two tasks needs the other one to run at the same time: one awake worker is not enough.
void both_workers_are_needed() {
  pool p(2);
  model::atomic<std::uint32_t> running{0};
  auto worker = [&](int w) {
    p.take(w);
    running.fetch_add(1, release);
    model_atomics::wake_all(running);
    for (std::uint32_t n; (n = running.load(acquire)) < 2;) model_atomics::wait(running, n);
  };
  parallel([&] { p.publish(), p.publish(); }, [&] { worker(0); }, [&] { worker(1); });
  p.expect_quiet();
}

TEST(sleep_model, one_task) { expect_passes(one_task); }
TEST(sleep_model, two_publishers_two_workers) { expect_passes(two_publishers_two_workers); }
TEST(sleep_model, both_workers_are_needed) { expect_passes(both_workers_are_needed); }

TEST(sleep_model, a_worker_publishes_for_another) {
  expect_passes([] {
    pool p(2);
    parallel([&] { p.publish(); }, [&] { p.take(0), p.publish(); }, [&] { p.take(1); },
             [&] { p.publish(); });
    require(p.tasks.load(relaxed) == 1, "three tasks, two taken");
    p.expect_quiet();
  });
}

TEST(sleep_model, a_push_to_an_inbox_wakes_its_worker) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(2);
    inbox<int*, model_atomics> box(2);
    int task = 0;
    parallel(
        [&] {
          box.try_push(&task);
          sleep.wake(1);
        },
        [&] {
          sleep.start_searching();
          while (box.try_pop() == nullptr) sleep.sleep(1, [&] { return !box.empty(); });
          (void)sleep.stop_searching();
        });
    require(sleep.sleeping() == 0 && sleep.searching() == 0, "the counts do not come back to zero");
  });
}

TEST(sleep_model, a_push_to_a_deque_wakes_a_thief) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(1);
    deque<int*, model_atomics> tasks(2);
    int task = 0;
    parallel(
        [&] {
          tasks.push(&task);
          sleep.work_published();
        },
        [&] {
          sleep.start_searching();
          while (!tasks.steal()) sleep.sleep(0, [&] { return !tasks.empty(); });
          (void)sleep.stop_searching();
        });
  });
}

// A worker waits inside a task for a scope; another one completes the scope, and a task is published besides.
TEST(sleep_model, a_nested_wait_ends_when_its_scope_completes) {
  expect_passes([] {
    pool p(2);
    model::atomic<int> complete{0};
    parallel(
        [&] {
          complete.store(1, release);
          p.sleep.wake(0);
        },
        [&] {
          p.sleep.start_searching();
          while (complete.load(acquire) == 0) {
            if (p.try_take()) {
              if (p.sleep.stop_searching() && p.any()) p.sleep.wake_any();
              p.sleep.start_searching();
              continue;
            }
            p.sleep.sleep(0, [&] { return complete.load(relaxed) == 1 || p.any(); });
          }
          if (p.sleep.stop_searching() && p.any()) p.sleep.wake_any();
          p.publish();  // what it does next; worker 1 may be the only one left to take the task
        },
        [&] { p.take(1); });
    p.expect_quiet();
  });
}

TEST(sleep_model, wake_all_ends_everybody) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(2);
    model::atomic<int> over{0};
    auto worker = [&](int w) {
      sleep.start_searching();
      while (over.load(acquire) == 0) sleep.sleep(w, [&] { return over.load(relaxed) == 1; });
      (void)sleep.stop_searching();
    };
    parallel(
        [&] {
          over.store(1, release);
          sleep.wake_all();
        },
        [&] { worker(0); }, [&] { worker(1); });
    require(sleep.sleeping() == 0 && sleep.searching() == 0, "the counts do not come back to zero");
  });
}

// Whoever falls asleep last is told, always; here it ends the program, which would hang otherwise.
TEST(sleep_model, the_last_to_fall_asleep_is_told) {
  expect_passes([] {
    pool p(2);
    model::atomic<int> over{0};
    int told = 0;
    auto worker = [&](int w) {
      p.sleep.start_searching();
      while (over.load(acquire) == 0) {
        if (p.try_take()) continue;
        p.sleep.sleep(w, false, [&] { return over.load(relaxed) == 1 || p.any(); },
                      [&] {
                        if (p.tasks.load(relaxed) != 0) return;
                        told++;
                        over.store(1, release);
                        p.sleep.wake_all();
                      });
      }
      (void)p.sleep.stop_searching();
    };
    p.tasks.store(1, relaxed);
    parallel([&] { worker(0); }, [&] { worker(1); });
    require(told >= 1, "nobody was told");
    require(!p.any(), "it ended with work left");
    p.expect_quiet();
  });
}

// As above, when one of them only dozes.
TEST(sleep_model, the_last_to_doze_is_told) {
  expect_passes([] {
    pool p(2);
    model::atomic<int> over{0};
    int told = 0;
    const auto any = [&] { return over.load(relaxed) == 1 || p.any(); };
    const auto all_asleep = [&] {
      if (p.tasks.load(relaxed) != 0) return;
      told++;
      over.store(1, release);
      p.sleep.wake_all();
    };
    const auto worker = [&](auto rest) {
      p.sleep.start_searching();
      while (over.load(acquire) == 0)
        if (!p.try_take()) rest();
      (void)p.sleep.stop_searching();
    };
    p.tasks.store(1, relaxed);
    parallel([&] { worker([&] { p.sleep.sleep(0, false, any, all_asleep); }); }, [&] { worker([&] { p.sleep.doze(1, any, all_asleep, 1); }); });
    require(told >= 1, "nobody was told");
    require(!p.any(), "it ended with work left");
    p.expect_quiet();
  });
}

TEST(sleep_model, a_doze_ends_by_itself_or_by_a_waker_never_by_both) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(1);
    bool woken = false, time_was_up = false;
    parallel([&] { woken = sleep.wake(0); },
             [&] {
               sleep.start_searching();
               time_was_up = sleep.doze(0, [] { return false; }, [] {}, 1);
               (void)sleep.stop_searching();
             });
    require(!(woken && time_was_up), "woken, and does not know it");
    require(sleep.sleeping() == 0 && sleep.searching() == 0, "the counts do not come back to zero");
  });
}

TEST(sleep_model, who_is_woken_sees_what_its_waker_did) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(1);
    model::plain<int> data{0};
    parallel(
        [&] {
          data.write(1);
          while (!sleep.wake(0)) model_atomics::pause();
        },
        [&] {
          sleep.start_searching();
          sleep.sleep(0, [] { return false; });
          require(data.read() == 1, "old data");
        });
  });
}

TEST(sleep_model, who_is_woken_in_a_task_sees_what_its_waker_did) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(1);
    model::plain<int> data{0};
    parallel(
        [&] {
          data.write(1);
          while (!sleep.wake(0)) model_atomics::pause();
        },
        [&] {
          sleep.start_searching();
          sleep.sleep(0, true, [] { return false; }, [] {});
          require(data.read() == 1, "old data");
        });
  });
}

TEST(sleep_model, who_is_woken_while_it_looks_again_sees_what_its_waker_did) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(1);
    model::plain<int> data{0};
    model::atomic<int> hint{0};
    bool woken = false;
    parallel(
        [&] {
          data.write(1);
          hint.store(1, relaxed);
          woken = sleep.wake(0);
        },
        [&] {
          sleep.start_searching();
          while (sleep.wake_epoch() == 0 && hint.load(relaxed) == 0) sleep.sleep(0, [&] { return hint.load(relaxed) == 1; });
        });
    if (woken) require(sleep.wake_epoch() == 1 && sleep.searching() == 1, "woken, but not counted");
    else require(sleep.wake_epoch() == 0 && sleep.searching() == 1, "not woken, but counted");
  });
}

// Two fall asleep at the same time. Who is told looks at counts and words, as those do that judge whether a program is
// stuck; were nobody told who sees both asleep, both would sleep for ever.
TEST(sleep_model, who_is_told_that_everybody_sleeps_sees_it) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(2);
    model::atomic<int> over{0};
    const auto end = [&] {
      model_atomics::fence(std::memory_order_seq_cst);
      if (!sleep.everybody_sleeps()) return;
      over.store(1, relaxed);
      sleep.wake_all();
    };
    const auto rest = [&](int worker) {
      sleep.start_searching();
      while (over.load(relaxed) == 0) sleep.sleep(worker, true, [&] { return over.load(relaxed) == 1; }, end);
    };
    parallel([&] { rest(0); }, [&] { rest(1); });
  });
}

// As before, but one of the two has been in the other's place, and gives it back.
TEST(sleep_model, who_is_told_by_a_borrower_that_everybody_sleeps_sees_it) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(2);
    model::atomic<int> over{0};
    const auto is_over = [&] { return over.load(relaxed) == 1; };
    const auto end = [&] {
      model_atomics::fence(std::memory_order_seq_cst);
      if (!sleep.everybody_sleeps()) return;
      over.store(1, relaxed);
      sleep.wake_all();
    };
    sleep.start_searching();
    static_cast<void>(sleep.begin_rest(0, true));
    require(sleep.borrow(0, 0, 1) == 0, "it is asleep");
    parallel([&] { sleep.give_back(0, true, [&](bool) { return is_over(); }, end); },
             [&] {
               sleep.start_searching();
               while (!is_over()) sleep.sleep(1, true, is_over, end);
             });
    require(is_over(), "nobody was told");
  });
}

TEST(sleep_model, who_wakes_from_a_doze_by_itself_sees_what_a_faster_waker_did) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(1);
    model::plain<int> data{0};
    model::atomic<int> woken{0};
    parallel(
        [&] {
          data.write(1);
          if (sleep.wake(0)) woken.store(1, relaxed);
        },
        [&] {
          sleep.start_searching();
          sleep.doze(0, [] { return false; }, [] {}, 1);
          if (woken.load(relaxed) == 1) require(data.read() == 1, "old data");
        });
  });
}

// Worker 0 sleeps. Worker 1 is claimed as early as it can be; were it not counted by then, the publisher, whose push
// may still be under way, could find that nobody sleeps.
TEST(sleep_model, a_sleeper_is_counted_before_it_can_be_claimed) {
  expect_passes([] {
    pool p(2);
    model::atomic<std::uint32_t> claimed{0}, served{0};
    const auto serve = [&] {
      served.store(1, release);
      model_atomics::wake_all(served);
    };
    parallel(
        [&] {
          p.take(0);
          serve();
        },
        [&] {
          p.sleep.start_searching();
          p.sleep.sleep(1, [&] { return claimed.load(relaxed) == 1; });
          const bool has_task = p.try_take();
          if (p.sleep.stop_searching() && p.any()) p.sleep.wake_any();
          if (has_task) return serve(), p.publish();
          while (served.load(acquire) == 0) model_atomics::wait(served, 0);  // in a task, until the other one is through
        },
        [&] {
          claimed.store(1, release);
          p.sleep.wake(1);
        },
        [&] { p.publish(); });
    p.expect_quiet();
  });
}

TEST(sleep_model, wake_any_of_wakes_one_of_the_range) {
  expect_passes([] {
    sleep_control<model_atomics> sleep(3);
    model::atomic<int> go{0};
    auto worker = [&](int w) {
      sleep.start_searching();
      while (go.load(acquire) == 0) sleep.sleep(w, [&] { return go.load(relaxed) == 1; });
      (void)sleep.stop_searching();
    };
    parallel(
        [&] {
          require(!sleep.wake_any_of(0, 1), "worker 0 does not exist, yet was woken");
          go.store(1, release);
          sleep.wake_any_of(0, 2);
          sleep.wake_any_of(2, 3);
        },
        [&] { worker(1); }, [&] { worker(2); });
  });
}

// The tests above notice when an order is missing.
TEST(sleep_model, needs_seq_cst) { expect_fails(one_task, "deadlock", model::without(model::weakening::seq_cst)); }

}  // namespace
}  // namespace weir::sched
