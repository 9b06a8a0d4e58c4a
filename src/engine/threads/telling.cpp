// Many tasks wait for one: whoever has run that tells them, and has help from those that have nothing to do.
#include "engine/threads/engine.hpp"

#include <algorithm>
#include <utility>

namespace weir::engine {
namespace {

// Another thread that takes some is done after a few lines. But it may have lost its CPU; and it sees to the rest.
constexpr int most_looks = 100;

}  // namespace

// A task has run that many waited for, or that has read much. What became ready by it is placed before the rest, but
// for one that is alone: this worker goes on with that.
void engine::finish_large(slot& s) {
  s.flow.has_left_some = false;
  if (s.flow.rest != nullptr) tell_rest(s);
  if (!s.flow.late.any()) return;
  if (s.flow.ready.has_several()) route_released(s);
  flow::drop_late(s.flow);
}

void engine::tell_rest(slot& s) {
  flow::waiter* const rest = std::exchange(s.flow.rest, nullptr);
  const bool anybody_idle = std::max(scheduler_.sleep.searching(), 0) + std::max(scheduler_.sleep.sleeping(), 0) > 0;
  if (!anybody_idle) return flow::tell(s.flow, rest);
  route_released(s);  // idle workers need not wait for the last one
  if (!untold_.put(rest)) return flow::tell(s.flow, rest);
  tell_some(s, untold_.take(told_alone_));
}

// Those that it has, and then some more, as long as there are any.
void engine::tell_some(slot& s, flow::waiter* some) {
  for (int looks = 0; some != nullptr || (!untold_.none() && looks < most_looks); looks++) {
    if (some != nullptr) {
      looks = 0;
      flow::tell(s.flow, some);
    } else {
      cpu_pause();
    }
    some = untold_.take(told_alone_);
    if (some != nullptr || !untold_.none()) route_released(s);
  }
}

void engine::help_to_tell(slot& s, flow::waiter* some) {
  tell_some(s, some);
  route_released(s);
}

}  // namespace weir::engine
