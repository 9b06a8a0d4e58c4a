// Model tests of the right to create: who is alone is alone, and who is not holds the lock.
#include "base/model/model_gtest.hpp"
#include "flow/creators.hpp"

namespace weir::flow {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::parallel;
using model::require;

// A datum, and threads that change it as tasks are matched.
struct world {
  explicit world(int balance) : right(balance) {}

  creation_right right;
  creator creators[3];
  spin_lock lock;
  model::plain<int> value{0};  // the checker reports accesses that are not ordered

  // Whether it was alone.
  bool create(int who) {
    const creating now(right, creators[who]);
    if (!now.alone()) lock.lock();
    value.write(value.read() + 1);
    if (!now.alone()) lock.unlock();
    return now.alone();
  }
};

void two_that_take_turns() {
  world w(creation_right::first_balance);
  parallel([&] { w.create(0), w.create(0); }, [&] { w.create(1), w.create(1); });
  require(w.value.read() == 4, "a change was lost");
}

// The one who comes second cannot pay for the change.
void two_that_share() {
  world w(0);
  parallel([&] { w.create(0), w.create(0); }, [&] { w.create(1), w.create(1); });
  require(w.value.read() == 4, "a change was lost");
  require(!w.create(0) && !w.create(1), "alone after it was shared");
}

void three_that_share() {
  world w(0);
  parallel([&] { w.create(0), w.create(0); }, [&] { w.create(1); }, [&] { w.create(2); });
  require(w.value.read() == 4, "a change was lost");
}

TEST(creators_model, two_that_take_turns) { expect_passes(two_that_take_turns); }
TEST(creators_model, two_that_share) { expect_passes(two_that_share); }
TEST(creators_model, three_that_share) { expect_passes(three_that_share); }
TEST(creators_model, one_stays_alone) {
  expect_passes([] {
    world w(0);
    require(w.create(0) && w.create(0) && w.create(0), "not alone, although nobody else creates");
  });
}

// The tests above notice when an order is missing.
TEST(creators_model, needs_seq_cst) { expect_fails(two_that_take_turns, "", model::without(model::weakening::seq_cst)); }
TEST(creators_model, needs_release) { expect_fails(two_that_take_turns, "", model::without(model::weakening::release)); }
TEST(creators_model, needs_acquire) { expect_fails(two_that_take_turns, "", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::flow
