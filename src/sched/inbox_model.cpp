// Model tests of the inbox: every item that went in comes out exactly once, with what its sender wrote.
#include <array>
#include <type_traits>

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

template <class Atomics>
struct fixture_of {
  std::array<item, 4> items;
  inbox<item*, Atomics> box{2};

  bool push(int i) {
    item& it = items[static_cast<std::size_t>(i)];
    it.payload.write(i + 1);
    return it.sent = box.try_push(&it);
  }
  bool pop() { return take(box.try_pop()); }
  // Takes the oldest if that is item i. What it is asked about may be gone by then.
  bool pop_only(int i) {
    item* const only = &items[static_cast<std::size_t>(i)];
    item* const got = box.try_pop([&](item* it) {
      require(is_one(it), "asked about what was never pushed");
      return it == only;
    });
    require(got == nullptr || got == only, "got what it did not want");
    return take(got);
  }
  bool is_one(const item* it) const { return it >= items.data() && it < items.data() + items.size(); }
  bool take(item* i) {
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

using fixture = fixture_of<model_atomics>;

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

// Where only who takes an item looks at it, all that is done to it is ordered: it may then be a plain cell. So the
// checker notices that a cell is not handed back. With atomic items it would have to let a consumer read what is
// written after it gave the cell back (load buffering), or let an earlier lap's item overwrite that of a later one.
struct plain_items : model_atomics {
  template <class T>
  class plain_word {
   public:
    T load(std::memory_order, model::site where = model::site::current()) const { return cell_.read(where); }
    void store(T value, std::memory_order, model::site where = model::site::current()) { cell_.write(value, where); }

   private:
    model::plain<T> cell_;
  };
  template <class T>
  using atomic = std::conditional_t<std::is_pointer_v<T>, plain_word<T>, model::atomic<T>>;
};

TEST(inbox_model, a_cell_is_handed_back) {
  expect_passes([] {
    fixture_of<plain_items> f;
    parallel([&] { f.push(0); }, [&] { f.push(1), f.push(2); }, [&] { f.pop(); });
    f.drain();
  });
}

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

// A consumer that leaves alone what it is asked about changes nothing, whoever else takes it meanwhile.
TEST(inbox_model, a_consumer_that_is_choosy) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1); }, [&] { f.pop_only(1); }, [&] { f.pop(); });
    f.drain();
  });
}

// What it is asked about is gone meanwhile, and the cell holds the next lap's item.
TEST(inbox_model, a_choosy_consumer_is_late) {
  expect_passes([] {
    fixture f;
    f.push(0), f.push(1);
    parallel([&] { f.push(2), f.push(3); }, [&] { f.pop_only(2); }, [&] { f.pop(), f.pop(); });
    f.drain();
  });
}

TEST(inbox_model, what_is_refused_stays) {
  expect_passes([] {
    fixture f;
    f.push(0), f.push(1);
    parallel([&] { require(!f.pop_only(1), "behind the oldest one's back"); },
             [&] { require(f.box.first() == &f.items[0], "the oldest is gone, and nobody took it"); });
    f.pop();
    require(f.items[0].taken == 1, "the oldest was refused, and is not the oldest any more");
    f.drain();
  });
}

TEST(inbox_model, the_first_one_was_pushed) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1), f.push(2); }, [&] { f.pop(), f.pop(); },
             [&] {
               const item* const it = f.box.first();
               require(it == nullptr || f.is_one(it), "the first one was never pushed");
             });
    f.drain();
  });
}

TEST(inbox_model, what_is_not_empty_has_a_first) {
  expect_passes([] {
    fixture f;
    parallel([&] { f.push(0), f.push(1); },
             [&] {
               if (!f.box.empty()) require(f.box.first() == &f.items[0], "not empty, and the first is not there");
             });
    f.drain();
  });
}

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
        seen_by_sleeper = sees_something(f.box);
      });
  require(seen_by_pusher || seen_by_sleeper, "a push nobody knows of");
}

TEST(inbox_model, empty_after_a_fence_sees_pushes_before_the_fence) {
  expect_passes([] { a_look_after_a_fence([](const auto& box) { return !box.empty(); }); });
}

TEST(inbox_model, first_after_a_fence_sees_pushes_before_the_fence) {
  expect_passes([] { a_look_after_a_fence([](const auto& box) { return box.first() != nullptr; }); });
}

// The tests above notice when an order is missing.
TEST(inbox_model, needs_release) { expect_fails(two_producers_one_consumer, "data race", model::without(model::weakening::release)); }
TEST(inbox_model, needs_acquire) { expect_fails(round_and_round, "data race", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::sched
