// Model tests of what a scope knows about its tasks: who waits sees what they did, and each failure has one owner.
#include <memory>

#include <weir/detail/scope_state.hpp>

#include "base/model/model_gtest.hpp"

namespace weir::detail {
namespace {

using model::expect_passes;
using model::parallel;
using model::require;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto release = std::memory_order_release;

constexpr std::int32_t worker = 5;  // who waits

// What a failure carries: written before it is noted.
struct payload {
  model::plain<int> written{0};
};

void fail(scope_state& s, payload& p) {
  p.written.write(1);
  if (s.claim_failure()) s.note_failure(std::make_exception_ptr(&p));
}
bool take(scope_state& s) {
  const std::exception_ptr e = s.take_failure();
  if (e == nullptr) return false;
  payload* p = nullptr;
  try {
    std::rethrow_exception(e);
  } catch (payload* thrown) {
    p = thrown;
  }
  require(p->written.read() == 1, "a failure without what it carries");
  return true;
}

TEST(scope_state_model, who_waits_sees_what_the_tasks_did) {
  expect_passes([] {
    scope_state s;
    model::plain<int> first{0}, second{0};
    s.outstanding.store(2, relaxed);
    parallel([&] { first.write(1), s.finish(1); }, [&] { second.write(1), s.finish(1); },
             [&] {
               if (s.complete()) require(first.read() + second.read() == 2, "complete, and a task is not done");
             });
    require(s.complete(), "a task was not counted");
  });
}

TEST(scope_state_model, a_member_that_waits_sees_what_the_others_did) {
  expect_passes([] {
    scope_state s;
    model::plain<int> first{0};
    s.outstanding.store(2, relaxed);
    bool told = false, alone = false;
    parallel([&] { first.write(1), told = s.finish(1) == worker; },
             [&] {
               require(s.add_member(worker) == 0, "there was another member");
               alone = s.only_members_left();
               if (alone) require(first.read() == 1, "only members left, and a task is not done");
               require(s.is_waited_for(), "the member was not counted");
             });
    require(told || alone, "nobody knows that only the member is left");
    require(s.only_members_left() && s.members() == 1, "the counts are wrong");
    s.remove_member(worker);
    s.finish(1);
    require(s.complete(), "the member was not counted off");
  });
}

// Either the waiter finds its scope complete, or whoever finishes the last task is told to wake it.
TEST(scope_state_model, a_waiter_or_the_last_task_knows) {
  expect_passes([] {
    scope_state s;
    s.outstanding.store(1, relaxed);
    std::int32_t told = scope_state::nobody;
    bool complete = false;
    parallel([&] { told = s.finish(1); }, [&] { s.add_waiter(worker), complete = s.complete(); });
    require(told == worker || complete, "nobody knows that the scope is complete");
    require(told == worker || told == scope_state::nobody, "somebody else is told");
  });
}

// Waits that are given up leave others behind.
TEST(scope_state_model, who_is_left_waiting_is_told) {
  expect_passes([] {
    scope_state s;
    s.outstanding.store(1, relaxed);
    s.add_waiter(worker);
    std::int32_t told = scope_state::nobody;
    bool complete = false;
    parallel([&] { told = s.finish(1); }, [&] { s.remove_waiter(worker); }, [&] { s.add_waiter(scope_state::no_worker), complete = s.complete(); });
    require(complete || told == scope_state::no_worker || told == scope_state::everybody, "who waits was not told");
  });
}

TEST(scope_state_model, a_member_and_a_waiter_are_told) {
  expect_passes([] {
    scope_state s;
    s.outstanding.store(2, relaxed);
    std::int32_t told = scope_state::nobody;
    bool alone = false, complete = false;
    parallel([&] { told = s.finish(1); }, [&] { s.add_member(worker), alone = s.only_members_left(); },
             [&] { s.add_waiter(scope_state::no_worker), complete = s.complete(); });
    require(!complete, "complete, and a member is not done");
    require(alone || told == worker || told == scope_state::everybody, "the member was not told");
    s.remove_member(worker);
    require(s.finish(1) == scope_state::no_worker, "the waiter was not told");
  });
}

TEST(scope_state_model, numbers_add_up) {
  expect_passes([] {
    for (const std::int32_t one : {0, 7, scope_state::no_worker, scope_state::everybody})
      for (const std::int32_t other : {0, 4093, scope_state::no_worker, scope_state::everybody}) {
        scope_state s;
        s.outstanding.store(2, relaxed);
        s.add_waiter(one), s.add_waiter(other);
        require(s.finish(1) == scope_state::nobody, "told of one that was not the last");
        s.remove_waiter(one);
        require(s.is_waited_for() && s.finish(1) == other, "the wrong one is told");
        s.remove_waiter(other);
        require(!s.is_waited_for() && s.outstanding.load(relaxed) == 0, "something is left");
      }
  });
}

// Somebody else waits for a scope of which its maker runs a task at once and a worker another one: it sleeps until it is told.
struct scope_of_maker {
  scope_state s;
  model::plain<int> of_maker{0}, of_worker{0};
  atomic<std::uint32_t> bell{0};

  void tell(std::int32_t who) {
    if (who == scope_state::nobody) return;
    require(who == worker, "somebody else is told");
    bell.fetch_add(1, release);
    model::model_atomics::wake_all(bell.get());
  }
  void run_at_once() {
    s.begin_at_once();
    of_maker.write(1);
    tell(s.end_at_once());
  }
  void wait() {
    s.add_waiter(worker);
    heavy_fence();
    for (std::uint32_t seen = 0; !s.complete_for_others();) {
      if (const std::uint32_t now = bell.load(std::memory_order_acquire); now != seen) seen = now;
      else model::model_atomics::wait(bell.get(), seen);
    }
  }
};

TEST(scope_state_model, who_waits_for_what_the_maker_runs_at_once_is_told) {
  expect_passes([] {
    scope_of_maker m;
    parallel([&] { m.run_at_once(); }, [&] { m.wait(); });
    m.s.remove_waiter(worker);
    require(m.s.outstanding.load(relaxed) == 0 && m.s.at_once.load(relaxed) == 0, "something is left");
  });
}

TEST(scope_state_model, the_task_of_the_maker_or_the_counted_one_is_the_last) {
  expect_passes([] {
    scope_of_maker m;
    m.s.outstanding.store(1, relaxed);
    parallel([&] { m.run_at_once(); }, [&] { m.of_worker.write(1), m.tell(m.s.finish(1)); },
             [&] { m.wait(), require(m.of_worker.read() == 1, "complete, and a task is not done"); });
  });
}

// A counted task that ends after the maker's has begun, and one that the maker's task has created.
TEST(scope_state_model, a_task_that_the_maker_runs_is_waited_for) {
  expect_passes([] {
    scope_of_maker m;
    atomic<std::uint32_t> begun{0};
    m.s.outstanding.store(1, relaxed);
    parallel(
        [&] {
          m.s.begin_at_once();
          begun.store(1, release);
          m.of_maker.write(1);
          m.tell(m.s.end_at_once());
        },
        [&] {
          m.of_worker.write(static_cast<int>(begun.load(std::memory_order_acquire)));
          m.tell(m.s.finish(1));
        },
        [&] {
          m.wait();
          if (m.of_worker.read() == 1) require(m.of_maker.read() == 1, "complete, and the maker's task is not done");
        });
  });
}

TEST(scope_state_model, what_the_makers_task_has_created_is_waited_for) {
  expect_passes([] {
    scope_of_maker m;
    bool done = false;
    parallel(
        [&] {
          m.s.begin_at_once();
          m.s.outstanding.fetch_add(1, relaxed);
          m.of_maker.write(1);
          m.tell(m.s.end_at_once());
        },
        [&] {
          m.s.add_waiter(worker);
          heavy_fence();
          done = m.s.at_once.load(relaxed) != 0 && m.s.complete_for_others();
        });
    require(!done, "complete, and what the maker's task has created is not done");
  });
}

TEST(scope_state_model, of_two_failures_one_is_noted) {
  expect_passes([] {
    scope_state s;
    payload one, two;
    bool taken = false;
    parallel([&] { fail(s, one); }, [&] { fail(s, two); }, [&] { taken = take(s); });
    require(taken || take(s), "no failure was noted");
  });
}

// The state goes round: noted, taken, noted again.
TEST(scope_state_model, a_failure_is_taken_and_another_one_noted) {
  expect_passes([] {
    scope_state s;
    payload one, two;
    fail(s, one);
    parallel([&] { take(s); }, [&] { fail(s, two); });
    take(s);
    require(!s.failed(), "a failure is left");
  });
}

TEST(scope_state_model, a_task_looks_at_the_scopes_outside_its_own) {
  expect_passes([] {
    scope_state inner;
    std::unique_ptr<scope_state> made;
    scope_outside out{nullptr, nullptr};
    parallel(
        [&] {
          made = std::make_unique<scope_state>();
          out.scope = made.get();
          const scope_outside* nobody = nullptr;
          inner.outer.compare_exchange_strong(nobody, &out, release, relaxed);
        },
        [&] { require(!inner.ends_early(nullptr), "no scope ends early"); });
  });
}

}  // namespace
}  // namespace weir::detail
