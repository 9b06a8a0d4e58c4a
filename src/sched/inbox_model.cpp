// Model tests of the inbox: every item that went in comes out exactly once, with what its sender wrote.
#include <array>

#include "base/model/model_gtest.hpp"
#include "sched/inbox.hpp"

namespace weir::sched {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

struct item {
  model::plain<int> payload{0};
  bool sent = false;
  int taken = 0;
};

struct fixture {
  std::array<item, 4> items;
  inbox<item*, model_atomics> box{2};

  bool push(int i) {
    item& it = items[static_cast<std::size_t>(i)];
    it.payload.write(i + 1);
    return it.sent = box.try_push(&it);
  }
  bool pop() {
    item* i = box.try_pop();
    if (i == nullptr) return false;
    require(i->payload.read() != 0, "an item without its payload");
    require(++i->taken == 1, "an item was taken twice");
    return true;
  }
  void drain() {
    while (pop()) {}
    require(box.empty(), "empty, yet it says it is not");
    for (item& i : items) require(i.taken == (i.sent ? 1 : 0), "an item was lost");
  }
};

void two_producers_one_consumer() {
  fixture f;
  parallel([&] { f.push(0); }, [&] { f.push(1); }, [&] { f.pop(), f.pop(); });
  f.drain();
}

void one_producer_two_consumers() {
  fixture f;
  parallel([&] { f.push(0), f.push(1); }, [&] { f.pop(); }, [&] { f.pop(); });
  f.drain();
}

// The ring goes round: cells are used again by the next lap.
void round_and_round() {
  fixture f;
  parallel([&] { f.push(0), f.push(1), f.push(2), f.push(3); }, [&] { f.pop(), f.pop(), f.pop(); });
  f.drain();
}

TEST(inbox_model, two_producers_one_consumer) { expect_passes(two_producers_one_consumer); }
TEST(inbox_model, one_producer_two_consumers) { expect_passes(one_producer_two_consumers); }
TEST(inbox_model, round_and_round) { expect_passes(round_and_round); }

TEST(inbox_model, two_producers_for_the_last_cell) {
  expect_passes([] {
    fixture f;
    f.push(0);
    bool first = false, second = false;
    parallel([&] { first = f.push(1); }, [&] { second = f.push(2); });
    require(first != second, "room for one, and not exactly one got it");
    f.drain();
  });
}

TEST(inbox_model, one_producer_is_first_in_first_out) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1); },
             [&] {
               if (f.pop() && f.items[1].taken == 1) require(f.items[0].taken == 1, "the second item overtook the first");
             });
    f.drain();
  });
}

TEST(inbox_model, empty_after_a_fence_sees_pushes_before_the_fence) {
  expect_passes([] {
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
          seen_by_sleeper = !f.box.empty();
        });
    require(seen_by_pusher || seen_by_sleeper, "a push nobody knows of");
  });
}

// The tests above notice when an order is missing.
TEST(inbox_model, needs_release) { expect_fails(two_producers_one_consumer, "data race", model::without(model::weakening::release)); }
TEST(inbox_model, needs_acquire) { expect_fails(round_and_round, "data race", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::sched
