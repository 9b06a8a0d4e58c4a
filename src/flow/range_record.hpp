// What is known of a range of user memory: a datum without a buffer, whose current version is that of the task that
// wrote it last.
#pragma once

#include "flow/context.hpp"

#include <cstddef>
#include <cstdint>

namespace weir::flow {

// What tasks that came now would read, as far as that is known (access_group.hpp).
bool has_failed(const datum&);

struct range_record {
  datum state;  // its bytes, its current version and who reads that
  // Current until a task writes the range: published, and never given up. A view that nobody drops keeps it, so that
  // nobody buries it.
  version ground;
  std::uintptr_t first = 0;      // address; of a record that another thread has given back: the next of these
  std::uint32_t generation = 0;  // how often it was taken out: who remembers it sees by this whether it is another
  std::uint32_t named_by = 0;    // number of the last task that named it, where that was noted; 0: of none

  // When it was last named, by a clock that counts tasks. In a field that only data need otherwise, for its line is
  // looked at anyway.
  std::uint32_t named_at() const { return state.element_bytes; }
  void note_named(std::uint32_t now) { note_named(state, now); }
  static void note_named(datum& of_record, std::uint32_t now) { of_record.element_bytes = now; }

  static constexpr std::uint64_t ground_users = version::while_current + version::one_view;

  std::uintptr_t end() const { return first + state.bytes; }
  // Anew, of these bytes; nobody knows it.
  void begin(std::uintptr_t at, std::uint64_t bytes, const detail::runtime_state* runtime) {
    state.current = &ground;
    state.readers = state.depth = 0;
    state.bytes = bytes;
    state.runtime = const_cast<detail::runtime_state*>(runtime);  // to be compared
    ground.users.store(ground_users, std::memory_order_relaxed);
    ground.waiters.store(version::published_mark(), std::memory_order_relaxed);
    ground.heir = nullptr;
    ground.kind = detail::version_kind::ground;
    first = at;
    named_by = 0;
  }
  // Tasks that name it now wait for nothing: it was written, or should have been, and all that read that are done. By
  // who may match.
  bool is_at_rest() const {
    const version& v = *state.current;
    if (!v.published()) return false;
    const auto users = static_cast<std::uint32_t>(v.users.load(std::memory_order_acquire));
    return users == static_cast<std::uint32_t>(version::while_current) - state.readers;
  }
  // It says no more than that tasks may go on: what was written there is not lost.
  bool is_forgettable() const { return is_at_rest() && !has_failed(state); }
};
static_assert(sizeof(range_record) == 128);

}  // namespace weir::flow
