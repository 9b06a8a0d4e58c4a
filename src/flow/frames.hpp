// Memory of tasks.
#pragma once

#include "flow/context.hpp"

#include <weir/task.hpp>

namespace weir::flow {

// A task's frame in this memory of the calling thread's node, header filled in, records and closure not.
inline frame* make_frame(context& c, void* memory, detail::scope_state* scope, const detail::task_ops* ops,
                         const task_options& options, detail::frame_size size) noexcept {
  auto* f = new (memory) frame(ops, scope, options.name, size, static_cast<std::int8_t>(options.priority),
                               static_cast<std::int16_t>(options.affinity.node), options.affinity.required,
                               static_cast<std::int16_t>(c.node));
  f->state.store(frame_state::creating, std::memory_order_relaxed);
  f->pending.store(0, std::memory_order_relaxed);
  return f;
}

// As make_frame, with memory for it. Throws std::bad_alloc. Some 5 ns.
inline frame* create_frame(context& c, detail::scope_state* scope, const detail::task_ops* ops,
                           const task_options& options, detail::frame_size size) {
  return make_frame(c, c.frames.allocate(size.bytes, c.node).data, scope, ops, options, size);
}

inline void free_frame(context& c, frame* f) noexcept {
  WEIR_ASSERT(f->state.load(std::memory_order_relaxed) != frame_state::free);
  f->state.store(frame_state::free, std::memory_order_relaxed);
  c.frames.release({f, f->home, f->home}, f->bytes);
}

// Whether an access is to user memory; before the task is matched, and after.
inline bool names_range(frame& f, const access& a) {
  switch (a.kind()) {
    case waiter_kind::read: return (a.extra() & access::reads_range) != 0;
    case waiter_kind::update: return f.version_at(a.extra())->kind == detail::version_kind::range;
    default: return a.kind() == waiter_kind::overwrite || detail::is_covered(a.kind());
  }
}

// Of an access to user memory, also after matching: the shape behind it, if it names a tile; else null.
inline const access* shape_of(const access& a) {
  frame& f = *a.task();
  if ((f.unusual & frame::has_tiles) == 0) [[likely]]
    return nullptr;
  const access* const next = &a + 1;
  return next != f.access_at(f.accesses) && next->kind() == waiter_kind::shape ? next : nullptr;
}

// Name of the task to blame for what this one did not produce.
inline const char* failure_of(frame* f) {
  const char* cause = f->skipped_because.load(std::memory_order_relaxed);
  return cause != nullptr ? cause : f->display_name();
}

}  // namespace weir::flow
