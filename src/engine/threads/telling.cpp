// Many tasks wait for one: whoever has run that tells them, and has help from those that have nothing to do.
#include "engine/threads/engine.hpp"

namespace weir::engine {
namespace {

// Another thread that takes some is done after a few lines. But it may have lost its CPU; and it sees to the rest.
constexpr int most_looks = 100;

}  // namespace

// A task has run that many waited for, or that has read much. What became ready by it is placed before the rest.
void engine::finish_large(slot& s) {
  s.flow.has_left_some = false;
  if (s.flow.rest != nullptr) tell_rest(s);
  if (!s.flow.late.any()) return;
  if (s.flow.ready.has_several()) route_released(s);  // one alone is what this worker goes on with
  flow::drop_late(s.flow);
}

// Those that it has told are placed first: idle workers need not wait for the last one.
void engine::tell_rest(slot& s) {
  flow::waiter* const rest = std::exchange(s.flow.rest, nullptr);
  const bool anybody_idle = std::max(scheduler_.sleep.searching(), 0) + std::max(scheduler_.sleep.sleeping(), 0) > 0;
  if (!anybody_idle || !untold_.put(rest)) return flow::tell(s.flow, rest);
  tell_some(s);
}

void engine::tell_some(slot& s) {
  for (int looks = 0; untold_.any() && looks < most_looks; looks++) {
    flow::waiter* const some = untold_.take(told_alone_);
    if (some != nullptr) {
      looks = 0;
      route_released(s);
      flow::tell(s.flow, some);
    } else {
      cpu_pause();
    }
  }
}

void engine::help_to_tell(slot& s) {
  tell_some(s);
  route_released(s);
}

}  // namespace weir::engine
