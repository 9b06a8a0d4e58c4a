// What may be executed on a stack: which tasks, and how far down.
#pragma once

#include "base/base.hpp"
#include "os/os.hpp"

#include <weir/detail/frame.hpp>
#include <weir/detail/scope_state.hpp>

#include <algorithm>
#include <cstddef>

namespace weir::engine {

using detail::frame;
using detail::scope_state;

// Which tasks a thread of the program may execute while it waits. (Others may take long, wait for something that this
// thread holds, or call it a second time.)
class permission {
 public:
  static permission for_none() { return {}; }
  static permission for_all() {
    permission p;
    p.all_ = true;
    return p;
  }
  // The tasks of a scope, and those of scopes that these wait for: the task scheduling constraint of OpenMP 5.2,
  // section 12.9, and what task isolation of oneTBB does.
  static permission for_scope(const scope_state& s) {
    permission p;
    p.inside_ = &s;
    return p;
  }
  static permission for_task(const frame& f) {
    permission p;
    p.producer_ = &f;
    return p;
  }
  bool allows(const frame& f) const { return all_ || (producer_ != nullptr ? producer_ == &f : allows_in(f.scope)); }
  bool allows_nothing() const { return !all_ && producer_ == nullptr && inside_ == nullptr; }
  // Any of its tasks, of which some are left.
  bool allows(const scope_state& s) const { return all_ || (producer_ == nullptr && allows_in(&s)); }

 private:
  bool allows_in(const scope_state*) const;

  bool all_ = false;
  const scope_state* inside_ = nullptr;
  const frame* producer_ = nullptr;
};

// How far down a stack tasks may be run on top of others. What a creator could as well leave to others, only in the
// upper half and some MiB: tasks below it may have large frames. In a wait, whatever there is in the upper half;
// below, only what is waited for, so that a program which nests its own waits has half of the stack for them, whatever
// else a worker comes by. At the end, of which the waits and what they call need a little, nothing.
struct stack_floors {
  static constexpr std::ptrdiff_t wait_reserve_bytes = 128 * 1024;
  // More: creators use more and colder memory for what others could run. Less: more tasks of deep trees are queued.
  static constexpr std::ptrdiff_t most_for_creators_bytes = 4 * 1024 * 1024;

  const char* low = nullptr;
  const char* waits = nullptr;  // null: no floor
  const char* others = nullptr;  // what a wait does not wait for
  const char* spawns = nullptr;
  std::size_t stack_bytes = 0;
  bool of_guest = false;  // a thread of the program has the place of this worker
  const permission* only = nullptr;  // what may be executed on it; null: anything

  stack_floors() = default;
  explicit stack_floors(const os::stack_bounds& s, bool guest = false) : of_guest(guest) {
    if (s.low == nullptr) return;
    low = s.low;
    stack_bytes = static_cast<std::size_t>(s.high - s.low);
    waits = s.low + wait_reserve_bytes;
    others = s.high - (s.high - s.low) / 2;
    spawns = std::max(others, s.high - most_for_creators_bytes);
  }
};

}  // namespace weir::engine
