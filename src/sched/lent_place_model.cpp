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
constexpr auto sees_nothing = [] { return false; };

// One worker, whose tasks others publish, and what belongs to who has its place. Other workers have tasks of their own.
struct one_place {
  explicit one_place(int workers = 1) : sleep(workers) {}
  sleep_control<model_atomics> sleep;
  model::atomic<int> tasks{0};
  model::plain<int> executed{0};

  void publish() {
    tasks.fetch_add(1, release);
    sleep.work_published();
  }
  // To this worker: if that has nothing to do nobody else is told.
  void send() {
    tasks.fetch_add(1, release);
    model_atomics::fence(std::memory_order_seq_cst);
    if (!sleep.wake_or_see_spinning(0)) sleep.work_published();
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
  void visit(bool are_sent = false) {
    if (sleep.borrow(0, 0, 1) < 0) return;
    const bool executes = execute_one();
    const bool searching = !executes;
    if (executes) (void)sleep.stop_searching();
    sleep.give_back(0, searching, [&](bool anywhere) { return (anywhere || are_sent) && any(); }, [] {});
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

TEST(lent_place_model, what_is_sent_to_who_spins_is_seen) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.send(); }, [&] { p.work(1, true); });
    p.expect_end(1);
  });
}

TEST(lent_place_model, what_is_sent_to_who_spins_is_seen_by_who_borrows_the_place) {
  expect_passes([] {
    one_place p;
    parallel([&] { p.send(), p.send(); }, [&] { p.work(2, true); }, [&] { p.visit(true); });
    p.expect_end(2);
  });
}

// Worker 0 spins, and whoever has its place goes on with something else; worker 1 falls asleep meanwhile. What is sent
// to worker 0 must not lie beside worker 1.
template <class GoesOn>
void expect_seen_by_who_falls_asleep(GoesOn&& goes_on) {
  one_place p(2);
  bool seen = false;
  p.sleep.start_searching();
  p.sleep.start_spinning(0);
  p.sleep.start_searching();
  parallel([&] { p.send(); },
           [&] {
             goes_on(p.sleep);
             if (p.sleep.stop_searching()) p.sleep.wake_any();
           },
           [&] {
             (void)p.sleep.begin_rest(1, true);
             seen = p.any();
           });
  require(seen || p.sleep.is_awake(1), "sent to a worker that is busy, beside one that sleeps");
}

TEST(lent_place_model, what_is_sent_to_who_spins_is_not_beside_sleepers_when_that_is_busy) {
  expect_passes([] {
    expect_seen_by_who_falls_asleep([](auto& sleep) { sleep.stop_spinning(0, sees_nothing); });
  });
}

TEST(lent_place_model, what_is_sent_to_who_spins_is_not_beside_sleepers_when_its_borrower_is_busy) {
  expect_passes([] { expect_seen_by_who_falls_asleep([](auto& sleep) { (void)sleep.borrow(0, 0, 1); }); });
}

TEST(lent_place_model, what_is_sent_to_who_spins_is_not_beside_sleepers_when_its_borrower_never_searches) {
  expect_passes([] {
    one_place p(2);
    bool seen = false, was_last = false;
    p.sleep.start_searching();
    p.sleep.start_spinning(0);
    p.sleep.start_searching();
    parallel([&] { p.send(); },
             [&] {
               if (p.sleep.borrow_busy(0, 0, 1, was_last) == 0 && was_last) p.sleep.wake_any();
             },
             [&] {
               (void)p.sleep.begin_rest(1, true);
               seen = p.any();
             });
    require(seen || p.sleep.is_awake(1), "sent to a worker that is busy, beside one that sleeps");
  });
}

TEST(lent_place_model, who_comes_busy_and_goes) {
  const auto come = [](one_place& p) {
    bool was_last = false;
    if (p.sleep.borrow_busy(0, 0, 1, was_last) < 0) return;
    if (was_last && p.any()) p.sleep.wake_any();
    p.executed.write(p.executed.read());  // it has the place
    p.sleep.give_back(0, false, [&](bool anywhere) { return anywhere && p.any(); }, [] {});
    p.sleep.wake(0);
  };
  for (const bool spins : {false, true})
    expect_passes([&] {
      one_place p;
      parallel([&] { p.publish(); }, [&] { p.work(1, spins); }, [&] { come(p); });
      p.expect_end(1);
    });
}

// Worker 1 sleeps, and worker 0 is about to, when somebody takes its place to work there, and stays. What is published
// meanwhile must not lie beside worker 1.
TEST(lent_place_model, beside_who_comes_busy_a_sleeper_is_woken) {
  expect_passes([] {
    one_place p(2);
    p.sleep.start_searching();
    (void)p.sleep.begin_rest(1, true);
    p.sleep.start_searching();
    model::atomic<int> published{0};
    parallel(
        [&] {
          p.publish();
          published.store(1, release);
        },
        [&] { p.sleep.sleep(0, [&] { return p.any(); }); },
        [&] {
          bool was_last = false;
          if (p.sleep.borrow_busy(0, 0, 1, was_last) < 0) {
            p.sleep.wake(0);
            return;
          }
          if (was_last && p.any()) p.sleep.wake_any();
          while (published.load(acquire) == 0) model_atomics::pause();
          require(p.sleep.is_awake(1), "work lies beside a sleeper");
          p.sleep.start_searching();
          p.sleep.hand_over(0);
        });
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
               if (p.sleep.borrow(0, 0, 1) < 0) return;
               p.execute_one();
               p.sleep.hand_over(0);
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

constexpr auto longer_than_the_first_part = 2 * sleep_control<model_atomics>::unsure_microseconds;

// The place is lent from the beginning; its own thread has yet to find out, by stop_spinning.
struct lent_place : one_place {
  explicit lent_place(int workers = 1) : one_place(workers) {
    sleep.start_searching();
    sleep.start_spinning(0);
    borrow();
  }
  void borrow() { require(sleep.borrow(0, 0, 1) == 0, "it spins, and does not lend"); }
};

TEST(lent_place_model, what_is_sent_to_a_place_that_is_given_back_is_seen_or_wakes) {
  expect_passes([] {
    lent_place p;
    bool woken = false, seen = false;
    parallel(
        [&] {
          p.tasks.store(1, relaxed);
          woken = p.sleep.wake(0);
        },
        [&] { p.sleep.give_back(0, true, [&](bool) { return seen = p.any(); }, [] {}); });
    require(woken || seen, "sent to a worker that is asleep, and unseen");
  });
}

TEST(lent_place_model, who_is_woken_after_a_loan_sees_what_its_waker_did) {
  expect_passes([] {
    lent_place p;
    model::plain<int> data{0};
    p.sleep.give_back(0, true, [](bool) { return false; }, [] {});
    parallel(
        [&] {
          data.write(1);
          while (!p.sleep.wake(0)) model_atomics::pause();
        },
        [&] {
          p.sleep.stop_spinning(0, sees_nothing);
          require(data.read() == 1, "old data");
        });
  });
}

// Worker 1 passes a heavy fence, and publishes afterwards: when worker 0's place is given back nobody has seen that.
// Its own thread needs a fence that begins later.
TEST(lent_place_model, who_looks_after_a_place_is_not_served_by_a_fence_before_the_end_of_its_loan) {
  expect_passes([] {
    lent_place p(2);
    model::atomic<int> published{0};
    p.sleep.start_searching();
    parallel(
        [&] {
          p.sleep.doze(1, sees_nothing, [] {}, longer_than_the_first_part);
          (void)p.sleep.stop_searching();
          p.publish();
          published.store(1, relaxed);
        },
        [&] {
          while (published.load(relaxed) == 0) model_atomics::pause();
          p.sleep.give_back(0, true, [&](bool anywhere) { return anywhere && p.any(); }, [] {});
        },
        [&] {
          while (p.sleep.is_lent(0)) model_atomics::pause();
          p.sleep.stop_spinning(0, [&] { return p.any(); });
          require(p.execute_one(), "woken for nothing");
        });
  });
}

// The same where the own thread falls asleep before the loan.
TEST(lent_place_model, who_falls_asleep_is_not_served_by_a_fence_before_the_end_of_a_loan) {
  expect_passes([] {
    one_place p(2);
    model::atomic<int> published{0}, given_back{0};
    p.sleep.start_searching();
    parallel(
        [&] {
          while (!p.sleep.is_lent(0)) model_atomics::pause();
          p.sleep.doze(1, sees_nothing, [] {}, longer_than_the_first_part);
          (void)p.sleep.stop_searching();
          p.publish();
          published.store(1, relaxed);
        },
        [&] {
          while (p.sleep.borrow(0, 0, 1) < 0) model_atomics::pause();
          while (published.load(relaxed) == 0) model_atomics::pause();
          p.sleep.give_back(0, true, [&](bool anywhere) { return anywhere && p.any(); }, [] {});
          given_back.store(1, relaxed);
        },
        [&] {
          bool looks_again = false;
          p.sleep.start_searching();
          p.sleep.sleep(0, [&] {
            while (!looks_again && given_back.load(relaxed) == 0) model_atomics::pause();
            looks_again = true;
            return p.any();
          });
          require(p.execute_one(), "woken for nothing");
        });
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

// The own thread has taken the place from `first`, and lent it again.
TEST(lent_place_model, who_has_lost_its_place_does_not_come_back_to_that_of_another) {
  expect_passes([] {
    lent_place p;
    sleep_control<model_atomics>::keeper first, second;
    (void)p.sleep.stop_searching();
    p.sleep.keep(0, first);
    p.sleep.stop_spinning(0, sees_nothing);
    p.sleep.start_spinning(0);
    p.borrow();
    (void)p.sleep.stop_searching();
    parallel([&] { p.sleep.keep(0, second); }, [&] { require(!p.sleep.enter(0, first), "two keepers of a place"); });
  });
}

// The same while the first one waits until it is known whether the place is taken from it.
TEST(lent_place_model, who_loses_its_place_while_it_comes_back_does_not_come_back_to_that_of_another) {
  expect_passes([] {
    lent_place p;
    sleep_control<model_atomics>::keeper first, second;
    (void)p.sleep.stop_searching();
    p.sleep.keep(0, first);
    const auto execute = [&] { p.executed.write(p.executed.read() + 1); };
    parallel(
        [&] {
          if (!p.sleep.enter(0, first)) return;
          execute();
          p.sleep.keep(0, first);
        },
        [&] {
          if (p.sleep.borrow(0, 0, 1) < 0) return;
          (void)p.sleep.stop_searching();
          execute();
          p.sleep.keep(0, second);
        },
        [&] {
          p.sleep.stop_spinning(0, sees_nothing);
          p.sleep.start_spinning(0);
        });
  });
}

}  // namespace
}  // namespace weir::sched
