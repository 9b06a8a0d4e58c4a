// Model tests of places that are lent: one thread at a time has a place, no work lies about beside one, and the counts come
// back. What a place's holder changes is plain memory, so that two holders at once are a race.
#include "base/model/model_gtest.hpp"
#include "sched/sleep.hpp"

namespace weir::sched {
namespace {

using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

// One worker, whose tasks others publish, and what belongs to who has its place.
struct one_place {
  sleep_control<model_atomics> sleep{1};
  model::atomic<int> tasks{0};
  model::plain<int> executed{0};

  void publish() {
    tasks.fetch_add(1, release);
    sleep.work_published();
  }
  bool any() const { return tasks.load(relaxed) > 0; }
  bool execute_one() {
    int n = tasks.load(relaxed);
    while (n > 0)
      if (tasks.compare_exchange_strong(n, n - 1, acquire, relaxed)) {
        executed.write(executed.read() + 1);
        return true;
      }
    return false;
  }
  // The worker's own thread, until so many tasks have been executed, by whomever.
  void work(int until, bool spins) {
    sleep.start_searching();
    while (executed.read() < until) {
      if (execute_one()) continue;
      if (spins) {
        sleep.start_spinning(0);
        sleep.stop_spinning(0, [&] { return any(); });
        spins = false;
        continue;
      }
      sleep.sleep(0, [&] { return any(); });
    }
    (void)sleep.stop_searching();
  }
  // A thread that waits for something: executes a task if it gets a place, and goes.
  void visit() {
    if (sleep.borrow(0, 0, 1) < 0) return;
    const bool executes = execute_one();
    const bool searching = !executes;
    if (executes) (void)sleep.stop_searching();
    sleep.give_back(0, searching, [&](bool anywhere) { return anywhere && any(); }, [] {});
    sleep.wake(0);  // it looks whether all is done
  }
  void expect_end(int all) {
    require(executed.read() == all, "a task was lost, or executed twice");
    require(sleep.sleeping() == 0 && sleep.searching() == 0, "the counts do not come back to zero");
  }
};

TEST(lent_place_model, one_holder_at_a_time) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); }, [&] { p.visit(); });
    p.expect_end(1);
  });
}

TEST(lent_place_model, two_borrowers) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); }, [&] { p.visit(); }, [&] { p.visit(); });
    p.expect_end(1);
  });
}

TEST(lent_place_model, who_spins_lends) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, true); }, [&] { p.visit(); });
    p.expect_end(1);
  });
}

// The borrower has nothing to do, and only gives back: who published meanwhile saw nobody asleep.
TEST(lent_place_model, work_is_seen_when_a_place_is_given_back) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); },
             [&] {
               if (p.sleep.borrow(0, 0, 1) < 0) return;
               const bool over = p.executed.read() == 1;
               p.sleep.give_back(0, true, [&](bool) { return over || p.any(); }, [] {});
             });
    p.expect_end(1);
  });
}

TEST(lent_place_model, a_place_is_handed_over) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); },
             [&] {
               if (p.sleep.borrow(0, 0, 1) >= 0) p.sleep.hand_over(0);
             });
    p.expect_end(1);
  });
}

// A borrower sleeps inside a task; it and not the place's own thread is woken.
TEST(lent_place_model, a_borrower_waits_in_a_task) {
  expect_passes([] {
    one_place p;
    model::atomic<int> condition{0};
    parallel([&] { p.publish(); }, [&] { p.work(1, false); },
             [&] {
               if (p.sleep.borrow(0, 0, 1) < 0) return;
               while (condition.load(acquire) == 0) p.sleep.sleep(0, true, [&] { return condition.load(relaxed) != 0; }, [] {});
               p.sleep.hand_over(0);
             },
             [&] {
               condition.store(1, release);
               p.sleep.wake(0);
             });
    p.expect_end(1);
  });
}

// A thread that keeps its place comes twice. Its own thread may take the place whenever it is away.
struct kept_place : one_place {
  sleep_control<model_atomics>::keeper who;
  bool keeps = false;

  void visit_and_keep() {
    const bool inside = keeps && sleep.enter(0, who);
    if (!inside && sleep.borrow(0, 0, 1) < 0) return;
    keeps = true;
    if (!inside) (void)sleep.stop_searching();
    execute_one();
    sleep.keep(0, who);
  }
  // It has no use for it any more.
  void give_up() {
    if (!keeps || !sleep.enter(0, who)) return;
    sleep.give_back(0, false, [&](bool anywhere) { return anywhere && any(); }, [] {});
  }
};

TEST(lent_place_model, who_keeps_a_place_comes_back) {
  expect_passes([] {
    kept_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); },
             [&] {
               p.visit_and_keep();
               p.visit_and_keep();
               p.sleep.wake_all();
             });
    p.expect_end(1);
  });
}

TEST(lent_place_model, who_keeps_a_place_gives_it_up) {
  expect_passes([] {
    kept_place p;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); },
             [&] {
               p.visit_and_keep();
               p.give_up();
               p.sleep.wake(0);
             });
    p.expect_end(1);
  });
}

// Two threads keep the same place, one after the other: who was first does not come back to what is the other's.
TEST(lent_place_model, a_place_has_one_keeper) {
  expect_passes([] {
    kept_place p;
    sleep_control<model_atomics>::keeper other;
    parallel([&] { p.publish(); }, [&] { p.work(1, false); },
             [&] {
               p.visit_and_keep();
               p.visit_and_keep();
             },
             [&] {
               if (p.sleep.borrow(0, 0, 1) < 0) return;
               (void)p.sleep.stop_searching();
               p.execute_one();
               p.sleep.keep(0, other);
             });
    p.expect_end(1);
  });
}

}  // namespace
}  // namespace weir::sched
