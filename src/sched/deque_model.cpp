// Model tests of the work-stealing deque: every item is taken exactly once, with what its pusher wrote.
#include <array>

#include "base/model/model_gtest.hpp"
#include "sched/deque.hpp"

namespace weir::sched {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

struct item {
  model::plain<int> payload{0};
  int taken = 0;
};

// Up to four items and a deque of the smallest capacity.
struct fixture {
  std::array<item, 4> items;
  deque<item*, model_atomics> tasks;

  explicit fixture(int most_stolen = 1) : tasks(2, most_stolen) {}

  void push(int i) {
    items[static_cast<std::size_t>(i)].payload.write(i + 1);
    tasks.push(&items[static_cast<std::size_t>(i)]);
  }
  void take(item* i) {
    if (i == nullptr) return;
    require(i->payload.read() != 0, "an item without its payload");
    require(++i->taken == 1, "an item was taken twice");
  }
  void pop() { take(tasks.pop()); }
  void pop_beyond_thieves() { take(tasks.pop_beyond_thieves()); }
  void steal() { take(tasks.steal().item); }
  void steal_some(std::size_t at_most) {
    std::array<item*, 4> some{};
    const std::size_t n = tasks.steal_some({some.data(), at_most});
    require(n <= at_most, "a thief has got more than it asked for");
    for (std::size_t i = 0; i < n; i++) take(some[i]);
  }
  // Takes what was pushed first if that is item i. What a thief is asked about may be gone by then.
  bool steal_only(int i) {
    item* const only = &items[static_cast<std::size_t>(i)];
    const auto got = tasks.steal([&](item* it) {
      require(it == nullptr || is_one(it), "a thief is asked about what was never pushed");
      return it == only;
    });
    require(!got || got.item == only, "a thief has got what it did not want");
    take(got.item);
    return static_cast<bool>(got);
  }
  bool is_one(const item* it) const { return it >= items.data() && it < items.data() + items.size(); }
  // After all threads have ended: what was not taken is still there.
  void drain(int pushed) {
    while (!tasks.empty()) steal();
    for (int i = 0; i < pushed; i++) require(items[static_cast<std::size_t>(i)].taken == 1, "an item was lost");
  }
};

void one_item_for_two() {
  fixture f;
  parallel([&] { f.push(0), f.pop(); }, [&] { f.steal(); });
  f.drain(1);
}

void owner_and_two_thieves() {
  fixture f;
  parallel([&] { f.push(0), f.push(1), f.pop(), f.pop(); }, [&] { f.steal(); }, [&] { f.steal(); });
  f.drain(2);
}

void growth_under_theft() {
  fixture f;
  parallel([&] { f.push(0), f.push(1), f.push(2), f.pop(); }, [&] { f.steal(), f.steal(); });
  f.drain(3);
}

// Slots are written again while a slow thief still looks at them.
void slots_are_reused() {
  fixture f;
  parallel([&] { f.push(0), f.push(1), f.pop(), f.push(2), f.pop(), f.push(3); }, [&] { f.steal(), f.steal(); }, [&] { f.steal(); });
  f.drain(4);
}

// A thief that reads bottom_ as pop left it must still see the older items.
void thief_after_pop() {
  fixture f;
  parallel([&] { f.push(0), f.push(1), f.pop(); }, [&] { f.steal(); });
  f.drain(2);
}

TEST(deque_model, one_item_for_two) { expect_passes(one_item_for_two); }
TEST(deque_model, owner_and_two_thieves) { expect_passes(owner_and_two_thieves); }
TEST(deque_model, growth_under_theft) { expect_passes(growth_under_theft); }
TEST(deque_model, slots_are_reused) { expect_passes(slots_are_reused); }
TEST(deque_model, thief_after_pop) { expect_passes(thief_after_pop); }

// An owner that has looked how much is left writes to the slot of an item that was taken.
TEST(deque_model, a_look_at_the_thieves_line_frees_slots) {
  expect_passes([] {
    fixture f;
    parallel(
        [&] {
          f.push(0), f.push(1);
          f.tasks.look_again();
          require(f.tasks.size_at_most() >= f.tasks.size(), "fewer at most than there are");
          f.push(2);
        },
        [&] { f.steal(); }, [&] { f.steal(); });
    f.drain(3);
  });
}

TEST(deque_model, a_thief_that_loses_is_told_so) {
  expect_passes([] {
    fixture f;
    f.push(0);
    bool lost = false, taken = false;
    auto thief = [&] {
      const auto got = f.tasks.steal();
      f.take(got.item);
      lost |= got.lost_race;
      taken |= static_cast<bool>(got);
    };
    parallel(thief, thief);
    require(taken, "two thieves, and neither got the item");
    require(!lost || f.tasks.empty(), "a race was lost that nobody won");
  });
}

// A thief that leaves alone what it is asked about changes nothing, whoever else takes it meanwhile.
TEST(deque_model, a_thief_that_is_choosy) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1), f.pop(); }, [&] { f.steal_only(1); }, [&] { f.steal(); });
    f.drain(2);
  });
}

// What it is asked about is gone meanwhile, and the slot holds another item, or is in another ring.
TEST(deque_model, a_choosy_thief_is_late) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1), f.push(2), f.push(3); }, [&] { f.steal_only(2); },
             [&] { f.steal(), f.steal(); });
    f.drain(4);
  });
}

TEST(deque_model, what_is_refused_stays) {
  expect_passes([] {
    fixture f;
    f.push(0), f.push(1);
    parallel(
        [&] {
          require(!f.steal_only(1), "behind the first one's back");
          require(!f.tasks.steal([](item*) { return false; }).lost_race, "lost a race that it did not run");
        },
        [&] { require(f.tasks.first() == &f.items[0], "the first one is gone, and nobody took it"); });
    f.steal();
    require(f.items[0].taken == 1, "the first one was refused, and is not the first any more");
    f.drain(2);
  });
}

// Slots that are written again, in two rings.
TEST(deque_model, the_first_one_was_pushed) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1), f.pop(), f.push(2), f.push(3); },
             [&] {
               const item* const it = f.tasks.first();
               require(it == nullptr || f.is_one(it), "the first one was never pushed");
             },
             [&] { f.steal(); });
    f.drain(4);
  });
}

TEST(deque_model, what_is_not_empty_has_a_first) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1), f.push(2); },
             [&] {
               if (!f.tasks.empty()) require(f.tasks.first() == &f.items[0], "not empty, and the first is not there");
             });
    f.drain(3);
  });
}

// Thieves that may take two at once, and an owner that keeps away from these.
void two_at_once() {
  fixture f(2);
  parallel([&] { f.push(0), f.push(1), f.push(2), f.pop_beyond_thieves(), f.pop_beyond_thieves(); },
           [&] { f.steal_some(2); }, [&] { f.steal(); });
  f.drain(3);
}

void two_thieves_of_two() {
  fixture f(2);
  parallel([&] { f.push(0), f.push(1), f.push(2), f.push(3), f.pop_beyond_thieves(), f.pop_beyond_thieves(); },
           [&] { f.steal_some(2); }, [&] { f.steal_some(2); });
  f.drain(4);
}

// A thief that reads bottom_ as a pop in vain left it must still see all that is left.
void a_thief_after_a_pop_in_vain() {
  fixture f(2);
  parallel([&] { f.push(0), f.push(1), f.push(2), f.pop_beyond_thieves(); }, [&] { f.steal(); },
           [&] { f.steal_some(2); });
  f.drain(3);
}

void the_owner_is_a_thief_of_the_last_ones() {
  fixture f(2);
  parallel([&] { f.push(0), f.push(1), f.pop_beyond_thieves(), f.steal_some(2); }, [&] { f.steal_some(2); });
  f.drain(2);
}

void two_at_once_while_slots_are_reused() {
  fixture f(2);
  parallel([&] { f.push(0), f.push(1), f.push(2), f.pop_beyond_thieves(), f.push(3); },
           [&] { f.steal_some(2), f.steal_some(2); });
  f.drain(4);
}

TEST(deque_model, two_at_once) { expect_passes(two_at_once); }
TEST(deque_model, two_thieves_of_two) { expect_passes(two_thieves_of_two); }
TEST(deque_model, a_thief_after_a_pop_in_vain) { expect_passes(a_thief_after_a_pop_in_vain); }
TEST(deque_model, the_owner_is_a_thief_of_the_last_ones) { expect_passes(the_owner_is_a_thief_of_the_last_ones); }
TEST(deque_model, two_at_once_while_slots_are_reused) { expect_passes(two_at_once_while_slots_are_reused); }

// Who falls asleep looks after a fence: whether it is empty, and what is first where that makes a difference.
template <class Look>
void a_look_after_a_fence(Look&& sees_something) {
  fixture f;
  model::atomic<int> sleepy{0};
  bool seen_by_pusher = false, seen_by_sleeper = false;
  parallel(
      [&] {
        f.push(0);
        model_atomics::fence(std::memory_order_seq_cst);
        seen_by_pusher = sleepy.load(std::memory_order_relaxed) == 1;
      },
      [&] {
        sleepy.store(1, std::memory_order_relaxed);
        model_atomics::fence(std::memory_order_seq_cst);
        seen_by_sleeper = sees_something(f.tasks);
      });
  require(seen_by_pusher || seen_by_sleeper, "a push nobody knows of");
}

TEST(deque_model, empty_after_a_fence_sees_pushes_before_the_fence) {
  expect_passes([] { a_look_after_a_fence([](const auto& tasks) { return !tasks.empty(); }); });
}

TEST(deque_model, first_after_a_fence_sees_pushes_before_the_fence) {
  expect_passes([] { a_look_after_a_fence([](const auto& tasks) { return tasks.first() != nullptr; }); });
}

// The tests above notice when an order is missing.
TEST(deque_model, needs_seq_cst) { expect_fails(owner_and_two_thieves, "taken twice", model::without(model::weakening::seq_cst)); }
TEST(deque_model, needs_seq_cst_for_several) {
  expect_fails(two_at_once, "taken twice", model::without(model::weakening::seq_cst));
}
TEST(deque_model, needs_release) { expect_fails(one_item_for_two, "data race", model::without(model::weakening::release)); }
TEST(deque_model, needs_acquire) { expect_fails(growth_under_theft, "construction has not happened before", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::sched
