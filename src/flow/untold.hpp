// Where those lie that wait for a version, and have not been told yet that it is there.
#pragma once

#include "base/base.hpp"

#include <weir/detail/frame.hpp>

#include <cstdint>

namespace weir::flow {

// Of one version at a time, for whoever has nothing to do. Linked, the first of them in one word. README.md, "Many who
// wait for one".
class shared_untold {
 public:
  // Hints: whether there are some to take; and whether there are none, and nobody is about to take some either.
  bool any() const {
    const detail::waiter* const first = first_.load(std::memory_order_relaxed);
    return first != nullptr && first != in_hand();
  }
  bool none() const { return first_.load(std::memory_order_relaxed) == nullptr; }

  // False: there are others.
  bool put(detail::waiter* first) {
    detail::waiter* none = nullptr;
    return first_.compare_exchange_strong(none, first, std::memory_order_release, std::memory_order_relaxed);
  }

  // Up to `most` of them, at least one, which are the caller's then. It must ask again when it has told them, until it
  // gets none: whoever asked meanwhile may have got none, though there are more. Null: there are none, or that is so.
  detail::waiter* take(std::uint32_t most) {
    detail::waiter* const first = first_.load(std::memory_order_relaxed);
    detail::waiter* expected = first;
    if (first == nullptr || first == in_hand()) return nullptr;
    if (!first_.compare_exchange_strong(expected, in_hand(), std::memory_order_acquire, std::memory_order_relaxed))
      return nullptr;
    detail::waiter* last = first;
    for (std::uint32_t n = 1; n < most && last->next != nullptr; n++) last = last->next;
    first_.store(last->next, std::memory_order_release);
    last->next = nullptr;
    return first;
  }

 private:
  // Somebody is about to take some.
  static detail::waiter* in_hand() { return reinterpret_cast<detail::waiter*>(std::uintptr_t{1}); }

  alignas(cache_line_bytes) atomic<detail::waiter*> first_{nullptr};
};

}  // namespace weir::flow
