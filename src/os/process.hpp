// Forked children: knowing that we are one, and what a fork has to wait for.
#pragma once

#include "base/base.hpp"

#include <cstdint>

namespace weir::os {

namespace implementation {
extern atomic<std::uint32_t> generation;  // counted by pthread_atfork
}
// 0 in the process that started, one more in every forked descendant. A load.
inline std::uint32_t fork_generation() { return implementation::generation.load(std::memory_order_relaxed); }

// As long as one lives, fork() waits. What several runtimes use is locked and changed under one (a library's mutexes,
// values made on first use): in a child that is forked meanwhile it would stay locked, or half made, for ever, as
// threads do not come along. Comes before any such lock. Any number may live at once, also in one thread; a thread that
// has one may fork itself. Must not be held while user code is waited for.
class fork_shield {
 public:
  fork_shield() noexcept;
  ~fork_shield();
  fork_shield(const fork_shield&) = delete;
  fork_shield& operator=(const fork_shield&) = delete;
};

}  // namespace weir::os
