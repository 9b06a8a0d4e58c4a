// Memory of tasks.
#pragma once

#include "flow/context.hpp"

#include <weir/task.hpp>

namespace weir::flow {

// Memory for a task's frame, header filled in, records and closure not. Throws std::bad_alloc. Some 5 ns.
inline frame* create_frame(context& c, detail::scope_state* scope, const detail::task_ops* ops, const task_options& options, detail::frame_size size) {
  auto* f = new (c.frames.allocate(size.bytes, c.node).data) frame;
  f->state.store(frame_state::creating, std::memory_order_relaxed);
  f->pending.store(0, std::memory_order_relaxed);
  f->ops = ops;
  f->scope = scope;
  f->name = options.name;
  f->priority = static_cast<std::int8_t>(options.priority);
  f->affinity = static_cast<std::int16_t>(options.affinity.node);
  f->required = options.affinity.required;
  f->bytes = size.bytes;
  f->versions = size.versions;
  f->accesses = size.accesses;
  f->home = static_cast<std::int16_t>(c.node);
  return f;
}

inline void free_frame(context& c, frame* f) noexcept {
  f->state.store(frame_state::free, std::memory_order_relaxed);
  c.frames.release({f, f->home, f->home}, f->bytes);
}

// Name of the task to blame for what this one did not produce.
inline const char* failure_of(frame* f) {
  const char* cause = f->skipped_because.load(std::memory_order_relaxed);
  return cause != nullptr ? cause : f->display_name();
}

}  // namespace weir::flow
