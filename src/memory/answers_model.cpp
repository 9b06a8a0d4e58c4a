// Model tests of remembered answers: what is found is what was said of that name, and not from before a change.
#include "base/model/model_gtest.hpp"
#include "memory/answers.hpp"

namespace weir::memory {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

struct world {
  model_atomics::atomic<int> page{0};  // the node that it lies on
  change_count<model_atomics> changes;
  answer_set<model_atomics> answers;

  void look() {
    const std::uint64_t since = changes.now();
    answers.keep(1, page.load(std::memory_order_relaxed), since);
  }
  void move(int to) {
    page.store(to, std::memory_order_relaxed);
    changes.note_change();
  }
};

void one_moves_while_one_looks() {
  world w;
  parallel([&] { w.look(); },
           [&] {
             w.move(1);
             const int found = w.answers.find(1, w.changes.now());
             require(found == place_unknown || found == 1, "an answer from before the change");
           });
}

// All entries but one are in use, so that two names want the same.
void two_names_for_one_place() {
  world w;
  for (const std::uint64_t name : {4, 8, 12}) w.answers.keep(name, 3, 1);
  parallel([&] { w.answers.keep(16, 1, 1); }, [&] { w.answers.keep(20, 2, 1); },
           [&] {
             const int found = w.answers.find(16, 1);
             require(found == place_unknown || found == 1, "an answer of another name");
           });
}

TEST(answers_model, one_moves_while_one_looks) { expect_passes(one_moves_while_one_looks); }
TEST(answers_model, two_names_for_one_place) { expect_passes(two_names_for_one_place); }

// The tests above notice when an order is missing.
TEST(answers_model, needs_release) {
  expect_fails(one_moves_while_one_looks, "", model::without(model::weakening::release));
}
TEST(answers_model, needs_acquire) {
  expect_fails(one_moves_while_one_looks, "", model::without(model::weakening::acquire));
}

}  // namespace
}  // namespace weir::memory
