// Who may look at and change which version of a datum is the current one: the only thread that creates tasks, without
// locking anything, or, once there are several, every thread that holds the lock of the datum. README.md, "One creator".
#pragma once

#include "base/base.hpp"

#include <algorithm>
#include <mutex>

namespace weir::flow {

// A thread's part; one per thread that may enter. Lives as long as the creation_right.
struct creator {
  atomic<std::uint32_t> inside{0};
  plain_cell<std::uint32_t> entries{0};  // since it became the sole creator
};

class creation_right {
 public:
  explicit creation_right(int balance = first_balance) : balance_(balance + handover_cost) {}  // the first one takes over from nobody

  // True: the caller is alone until it leaves. False: there are several creators for good, and data must be locked.
  // Alone and as before: a store, two loads. First time, or after another thread: some microseconds.
  bool enter(creator& me) {
    if (sole_.load(std::memory_order_relaxed) == &me) [[likely]] {
      if (try_enter(me)) [[likely]] return true;
    }
    return sole_.load(std::memory_order_acquire) != nullptr && take_over(me);
  }
  static void leave(creator& me) { me.inside.store(0, std::memory_order_release); }

  // A change of creator costs as much as some hundreds of locked tasks. Each one takes handover_cost from a balance, and
  // each task created without locks pays one in; who cannot pay shares. More: programs whose creators take turns keep
  // changing. Less: a few turns at the start, and tasks are locked for ever.
  static constexpr int handover_cost = 512, first_balance = 16 * handover_cost, highest_balance = 64 * handover_cost;

 private:
  bool try_enter(creator& me) {
    me.inside.store(1, std::memory_order_relaxed);
    light_fence();
    if (sole_.load(std::memory_order_relaxed) != &me) [[unlikely]] {
      leave(me);
      return false;
    }
    me.entries.write(me.entries.read() + 1);
    return true;
  }

  [[gnu::noinline]] bool take_over(creator& me) {
    std::lock_guard guard(changing_);
    creator* const before = sole_.load(std::memory_order_relaxed);
    if (before == nullptr) return false;
    WEIR_ASSERT(balance_ >= 0);  // else it would be shared
    if (before != &me) {
      sole_.store(&nobody_, std::memory_order_relaxed);
      heavy_fence();
      spin_wait wait;
      while (before->inside.load(std::memory_order_acquire) != 0) wait.once();
      const auto paid = static_cast<int>(std::min<std::uint32_t>(before->entries.read(), highest_balance));
      balance_ = std::min(balance_ + paid, highest_balance) - handover_cost;
      me.entries.write(0);
      if (balance_ < 0) {
        sole_.store(nullptr, std::memory_order_release);
        return false;
      }
      sole_.store(&me, std::memory_order_relaxed);
    }
    // Only who holds `changing_` takes it away.
    me.inside.store(1, std::memory_order_relaxed);
    return true;
  }

  creator nobody_;  // the sole creator as long as nobody has created anything, and while it changes
  atomic<creator*> sole_{&nobody_};
  spin_lock changing_;
  int balance_;
};

// Alone, or not, as long as it lives.
class creating {
 public:
  // `nobody_else`: nobody else can be creating now, who has the right is not asked.
  creating(creation_right& right, creator& me, bool nobody_else = false)
      : entered_(!nobody_else && right.enter(me) ? &me : nullptr), alone_(entered_ != nullptr || nobody_else) {}
  ~creating() {
    if (entered_ != nullptr) creation_right::leave(*entered_);
  }
  creating(const creating&) = delete;
  creating& operator=(const creating&) = delete;
  bool alone() const { return alone_; }

 private:
  creator* const entered_;  // null: did not have to
  const bool alone_;
};

}  // namespace weir::flow
