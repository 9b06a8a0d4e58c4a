// What a matched task takes up: the versions that it reads, or writes on.
#pragma once

#include "flow/access_group.hpp"
#include "flow/task.hpp"

namespace weir::flow {

// Calls f(version, bytes) for each version that the task uses until it is done: of data what it reads and updates; of
// user memory what it overwrites, too, for that stays where it was written. What is written where it was read counts
// twice. Streams are left out. After the task was matched, and before it runs.
template <class F>
void for_each_source(frame& task, F&& f) {
  const auto use = [&](const access& a) {
    const bool both = a.kind() == waiter_kind::update || is_of_group(a);
    f(*a.source, both ? 2 * a.bytes : a.bytes);
  };
  for (unsigned i = 0; i < task.accesses; i++) {
    const access& a = *task.access_at(i);
    if (a.kind() == waiter_kind::read || a.kind() == waiter_kind::update || a.kind() == waiter_kind::overwrite) use(a);
  }
  for_each_part(parts_of(task), use);
}

}  // namespace weir::flow
