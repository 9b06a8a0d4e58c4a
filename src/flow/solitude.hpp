// Whether one thread works on tasks' data alone. It then needs no atomic operations: a load and a store do. README.md,
// "Alone".
#pragma once

#include "base/base.hpp"

#include <mutex>

namespace weir::flow {

// A thread's part; one per thread that may enter. Lives as long as the solitude.
struct visitor {
  atomic<std::uint32_t> inside{0};
};

class solitude {
 public:
  // Waits until nobody is alone but the caller. True: the caller is, until it leaves. False: others may be inside.
  // Mostly a store and a load; if somebody else was alone, some microseconds.
  bool enter(visitor& me) {
    for (;;) {
      me.inside.store(1, std::memory_order_relaxed);
      light_fence();
      const visitor* const whose = whose_.load(std::memory_order_acquire);
      if (whose == &me) return true;
      if (whose == nullptr) [[likely]] return false;
      leave(me);
      end();
    }
  }
  void leave(visitor& me) { me.inside.store(0, std::memory_order_release); }

  bool belongs_to(const visitor& me) const { return whose_.load(std::memory_order_relaxed) == &me; }

  // From now on `me`, which is outside, is alone whenever it is inside, until somebody else enters. `for_each_visitor`
  // calls its argument for everybody who may have entered so far. Some microseconds.
  template <class ForEachVisitor>
  void begin(const visitor& me, ForEachVisitor&& for_each_visitor) {
    std::lock_guard guard(changing_);
    if (whose_.load(std::memory_order_relaxed) != nullptr) return;
    whose_.store(&me, std::memory_order_relaxed);
    heavy_fence();
    for_each_visitor([&](const visitor& v) {
      if (&v != &me) wait_until_outside(v);
    });
  }

 private:
  [[gnu::noinline]] void end() {
    std::lock_guard guard(changing_);
    const visitor* const before = whose_.load(std::memory_order_relaxed);
    WEIR_ASSERT(before != &nobody_);  // that is so under the lock only
    if (before == nullptr) return;
    whose_.store(&nobody_, std::memory_order_relaxed);  // who comes now waits for the lock
    heavy_fence();
    wait_until_outside(*before);
    whose_.store(nullptr, std::memory_order_release);
  }
  static void wait_until_outside(const visitor& v) {
    spin_wait wait;
    while (v.inside.load(std::memory_order_acquire) != 0) wait.once();
  }

  atomic<const visitor*> whose_{nullptr};  // null: nobody's
  spin_lock changing_;
  const visitor nobody_;
};

}  // namespace weir::flow
