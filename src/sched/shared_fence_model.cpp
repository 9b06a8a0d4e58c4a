// Model tests of shared fences: who is told that a fence has served it was served by one that began after it asked.
#include "base/model/model_gtest.hpp"
#include "sched/shared_fence.hpp"

namespace weir::sched {
namespace {

using model::expect_fails;
using model::expect_passes;
using model::model_atomics;
using model::parallel;
using model::require;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto seq_cst = std::memory_order_seq_cst;

// Heavy fences that can be counted.
struct counts {
  model::atomic<int> begun{0}, ended{0};
};
counts* now = nullptr;  // of this run

struct counted_fences : model_atomics {
  static void heavy_fence() {
    const int number = now->begun.fetch_add(1, seq_cst) + 1;
    require(now->ended.load(seq_cst) == number - 1, "two fences at a time");
    model_atomics::heavy_fence();
    now->ended.store(number, seq_cst);
  }
};

// Fences are numbered: number k + 1 began after who saw k had begun.
template <class Fence>
void ask(Fence& fence) {
  const int begun = now->begun.load(seq_cst);
  const std::uint32_t asked = fence.turn();
  while (!fence.passed_since(asked)) model_atomics::pause();
  require(now->ended.load(relaxed) > begun, "served by a fence that began too early, or is not over");
}

template <class Fence>
void several_ask() {
  counts c;
  now = &c;
  Fence fence;
  parallel([&] { ask(fence); }, [&] { ask(fence); }, [&] { ask(fence), ask(fence); });
  require(c.ended.load(relaxed) >= 2 && c.ended.load(relaxed) <= 4, "as many fences as the longest needs at least, and as all need at most");
}

TEST(shared_fence_model, several_ask) { expect_passes(several_ask<shared_fence<counted_fences>>); }

// Takes the end of any fence for the end of one that began later.
struct impatient_fence : shared_fence<counted_fences> {
  std::uint32_t turn() const { return shared_fence::turn() & ~std::uint32_t{1}; }
};
TEST(shared_fence_model, a_fence_under_way_is_no_use) { expect_fails(several_ask<impatient_fence>, "served by a fence that began too early"); }

// The end hands over what who fenced has seen.
void an_end_hands_over() {
  counts c;
  now = &c;
  shared_fence<counted_fences> fence;
  model::plain<int> data{0};
  const std::uint32_t asked = fence.turn();
  parallel(
      [&] {
        data.write(1);
        (void)fence.passed_since(asked);
      },
      [&] {
        if (c.begun.load(relaxed) == 0) return;
        if (fence.passed_since(asked) && c.begun.load(relaxed) == 1) require(data.read() == 1, "old data");
      });
}
TEST(shared_fence_model, an_end_hands_over) { expect_passes(an_end_hands_over); }
TEST(shared_fence_model, needs_acquire) { expect_fails(an_end_hands_over, "race", model::without(model::weakening::acquire)); }

}  // namespace
}  // namespace weir::sched
