// Memory of tasks.
#pragma once

#include "flow/context.hpp"

#include <weir/task.hpp>

namespace weir::flow {

[[noreturn]] void throw_too_many_accesses(const task_options&, std::size_t accesses);

// Memory for a task's frame, header filled in, records and closure not. Throws usage_error beyond 65535 accesses,
// std::bad_alloc. Some 5 ns.
inline frame* create_frame(context& c, detail::scope_state* scope, const detail::task_ops* ops, const task_options& options, std::size_t versions, std::size_t accesses, std::size_t closure_bytes,
                           std::size_t closure_alignment) {
  constexpr std::size_t most = 65535;
  if (versions > most || accesses > most) [[unlikely]] throw_too_many_accesses(options, versions + accesses);
  const std::size_t bytes = detail::closure_offset(static_cast<unsigned>(versions), static_cast<unsigned>(accesses), closure_alignment) + closure_bytes;
  auto* f = new (c.frames.allocate(bytes, c.node).data) frame();
  f->state.store(frame_state::creating, std::memory_order_relaxed);
  f->ops = ops;
  f->scope = scope;
  f->name = options.name;
  f->priority = static_cast<std::int8_t>(options.priority);
  f->affinity = static_cast<std::int16_t>(options.affinity.node);
  f->required = options.affinity.required;
  f->bytes = static_cast<std::uint32_t>(bytes);
  f->versions = static_cast<std::uint16_t>(versions);
  f->accesses = static_cast<std::uint16_t>(accesses);
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
