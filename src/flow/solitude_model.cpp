// Model tests of solitude: who is alone is alone.
#include "base/model/model_gtest.hpp"
#include "flow/solitude.hpp"

namespace weir::flow {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::parallel;
using model::require;

// Threads that change a value: under a lock, or without one if they are alone.
struct world {
  solitude quiet;
  visitor visitors[3];
  spin_lock lock;
  model::plain<int> value{0};  // the checker reports accesses that are not ordered

  void begin(int who) {
    quiet.begin(visitors[who], [&](auto&& f) { for (const visitor& v : visitors) f(v); });
  }
  // Whether it was alone.
  bool change(int who) {
    const bool alone = quiet.enter(visitors[who]);
    if (!alone) lock.lock();
    value.write(value.read() + 1);
    if (!alone) lock.unlock();
    quiet.leave(visitors[who]);
    return alone;
  }
};

void another_comes() {
  world w;
  w.begin(0);
  parallel([&] { w.change(0), w.change(0); }, [&] { w.change(1), w.change(1); });
  require(w.value.read() == 4, "a change was lost");
  require(!w.change(0) && !w.change(1), "still alone");
}

void two_others_come() {
  world w;
  w.begin(0);
  parallel([&] { w.change(0); }, [&] { w.change(1); }, [&] { w.change(2); });
  require(w.value.read() == 3, "a change was lost");
}

void it_begins_among_others() {
  world w;
  parallel([&] { w.begin(0), w.change(0); }, [&] { w.change(1), w.change(1); });
  require(w.value.read() == 3, "a change was lost");
}

void two_begin() {
  world w;
  parallel([&] { w.begin(0), w.change(0); }, [&] { w.begin(1), w.change(1); });
  require(w.value.read() == 2, "a change was lost");
}

TEST(solitude_model, another_comes) { expect_passes(another_comes); }
TEST(solitude_model, two_others_come) { expect_passes(two_others_come); }
TEST(solitude_model, it_begins_among_others) { expect_passes(it_begins_among_others); }
TEST(solitude_model, two_begin) { expect_passes(two_begin); }
TEST(solitude_model, who_is_alone_stays_alone) {
  expect_passes([] {
    world w;
    require(!w.change(0), "alone from the start");
    w.begin(0);
    require(w.change(0) && w.change(0), "not alone, although nobody else came");
  });
}

// The tests above notice when an order is missing.
TEST(solitude_model, ending_needs_seq_cst) { expect_fails(another_comes, "", model::without(model::weakening::seq_cst)); }
TEST(solitude_model, beginning_needs_seq_cst) { expect_fails(it_begins_among_others, "", model::without(model::weakening::seq_cst)); }
TEST(solitude_model, needs_release) { expect_fails(another_comes, "", model::without(model::weakening::release)); }
TEST(solitude_model, needs_acquire) { expect_fails(another_comes, "", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::flow
