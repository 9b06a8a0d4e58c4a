// Where who runs a parallel loop posts it for others, and learns when they have left it. README.md, "Posted loops".
//
// Who comes counts itself first, and then looks whether the loop is still posted; who posted it takes it down first,
// and then looks whether anybody is counted. With a fence between the two steps of each, one of them sees the other.
// The counts belong to the post, which outlives every loop, so who leaves touches nothing of a loop that may be gone.
#pragma once

#include <cstdint>
#include <memory>

#include "base/base.hpp"

namespace weir::sched {

// Serves one loop after the other, of one thread at a time, the poster. `Loop` is only passed on.
template <class Loop, class Atomics = real_atomics>
class loop_post {
 public:
  // A count for each group of visitors, so that the line in which who comes and goes counts is shared by few.
  explicit loop_post(int groups)
      : groups_(groups), visitors_(std::make_unique<visitors_of_group[]>(static_cast<std::size_t>(groups))) {}
  ~loop_post() { WEIR_ASSERT(!is_up() && everybody_has_left()); }
  loop_post(const loop_post&) = delete;
  loop_post& operator=(const loop_post&) = delete;

  // ---- The poster. Memory of the loop must not go before everybody_has_left().

  void put_up(Loop& l) { loop_.store(&l, std::memory_order_release); }
  // Nobody comes any more.
  void take_down() {
    loop_.store(nullptr, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
  }
  // After take_down(). What they did is seen then.
  bool everybody_has_left() const {
    for (int g = 0; g < groups_; g++)
      if (visitors_[g].count.load(std::memory_order_acquire) != 0) return false;
    return true;
  }
  // Before it sleeps, and before it looks a last time: leave() says so to the last one of each group. Heavy.
  void wants_to_be_told(std::int32_t who) {
    to_be_told_.store(who, std::memory_order_relaxed);
    Atomics::heavy_fence();
  }
  void needs_not_be_told() { to_be_told_.store(nobody, std::memory_order_relaxed); }

  // ---- Others. An operation on the group's line for each, and a fence to come.

  // Who will come. Nothing but faster.
  void fetch(int group) const {
    __builtin_prefetch(&loop_);
    prefetch_to_write(&visitors_[group]);
  }
  bool is_up() const { return loop_.load(std::memory_order_relaxed) != nullptr; }
  // Null: there is none, and then nobody has come. `to_be_told`: who is to be told of that, or nobody.
  Loop* come(int group, std::int32_t& to_be_told) {
    to_be_told = nobody;
    if (!is_up()) return nullptr;
    visitors_[group].count.fetch_add(1, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
    Loop* const l = loop_.load(std::memory_order_acquire);
    if (l == nullptr) to_be_told = leave(group);
    return l;
  }
  // Who has come has found that nothing is left to do for those to come.
  void has_nothing_left() {
    if (is_up()) loop_.store(nullptr, std::memory_order_relaxed);  // else a line for each who looks at it, for nothing
  }
  // Returns who is to be told, or nobody.
  std::int32_t leave(int group) {
    const std::uint32_t before = visitors_[group].count.fetch_sub(1, std::memory_order_release);
    WEIR_ASSERT(before > 0);
    Atomics::light_fence();
    return before == 1 ? to_be_told_.load(std::memory_order_relaxed) : nobody;
  }

  static constexpr std::int32_t nobody = -1;

 private:
  struct alignas(cache_line_bytes) visitors_of_group {
    typename Atomics::template atomic<std::uint32_t> count{0};
  };

  const int groups_;
  typename Atomics::template atomic<Loop*> loop_{nullptr};
  typename Atomics::template atomic<std::int32_t> to_be_told_{nobody};
  const std::unique_ptr<visitors_of_group[]> visitors_;
};

}  // namespace weir::sched
