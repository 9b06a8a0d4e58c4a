// Model tests of those that wait for one version and are told by several threads.
#include "base/model/model_gtest.hpp"
#include "flow/untold.hpp"

namespace weir::flow {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::parallel;
using model::require;

struct waiting : detail::waiter {
  model::plain<int> told{0};  // the checker reports accesses that are not ordered
};

// Lists of some that wait, and threads that tell them.
struct world {
  shared_untold shared;
  waiting first[3], second[2];

  template <std::size_t N>
  static detail::waiter* list_of(waiting (&all)[N]) {
    for (std::size_t i = 0; i < N; i++) {
      all[i].told.write(0);
      all[i].next = i + 1 < N ? &all[i + 1] : nullptr;
    }
    return all;
  }
  static void tell(detail::waiter* w) {
    while (w != nullptr) {
      auto& one = *static_cast<waiting*>(w);
      w = w->next;  // it may be gone when it is told
      one.told.write(one.told.read() + 1);
    }
  }
  // Until there are none at hand.
  void tell_some(std::uint32_t at_a_time) {
    while (detail::waiter* const w = shared.take(at_a_time)) tell(w);
  }
  template <std::size_t N>
  void tell_all(waiting (&all)[N], std::uint32_t at_a_time) {
    detail::waiter* const list = list_of(all);
    if (shared.put(list)) tell_some(at_a_time);
    else tell(list);
  }
  template <std::size_t N>
  static void require_told(const waiting (&all)[N]) {
    for (const waiting& w : all) require(w.told.read() == 1, "one was not told once");
  }
};

void others_help() {
  world w;
  parallel([&] { w.tell_all(w.first, 1); }, [&] { w.tell_some(1); }, [&] { w.tell_some(1); });
  w.require_told(w.first);
  require(w.shared.none(), "some are left");
}

void others_take_more_at_a_time() {
  world w;
  parallel([&] { w.tell_all(w.first, 1); }, [&] { w.tell_some(2); });
  w.require_told(w.first);
  require(w.shared.none(), "some are left");
}

void two_have_some() {
  world w;
  parallel([&] { w.tell_all(w.first, 2); }, [&] { w.tell_all(w.second, 1); });
  w.require_told(w.first);
  w.require_told(w.second);
  require(w.shared.none(), "some are left");
}

TEST(untold_model, others_help) { expect_passes(others_help); }
TEST(untold_model, others_take_more_at_a_time) { expect_passes(others_take_more_at_a_time); }
TEST(untold_model, two_have_some) { expect_passes(two_have_some); }

// The tests above notice when an order is missing.
TEST(untold_model, needs_release) { expect_fails(others_help, "", model::without(model::weakening::release)); }
TEST(untold_model, needs_acquire) { expect_fails(others_help, "", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::flow
