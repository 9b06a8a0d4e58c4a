// Where the bytes of a task are: what placement decides by and what statistics count.
#pragma once

#include "flow/stream.hpp"
#include "flow/task.hpp"

namespace weir::flow {

// What an input weighs for where its task should run: an update writes its bytes back where they are, too.
inline std::uint64_t moved_bytes(const access& a) { return a.kind() == waiter_kind::update ? 2 * a.bytes : a.bytes; }

template <class BytesOf, class F>
void visit_inputs(frame* t, BytesOf&& bytes_of, F&& f) {
  for (unsigned i = 0; i < t->accesses; i++) {
    access& a = *t->access_at(i);
    switch (a.kind()) {
      case waiter_kind::read:
      case waiter_kind::update: f(bytes_of(a), static_cast<int>(a.source->node)); break;
      case waiter_kind::window:
        a.window->for_each_piece([&](const stream_window::piece& p) { f(p.bytes, static_cast<int>(p.source->node)); });
        break;
      default: break;  // skips read nothing, user memory is not ours to place
    }
  }
}

template <class F>
void for_each_input(frame* t, F&& f) {
  visit_inputs(t, [](const access& a) { return std::uint64_t{a.bytes}; }, f);
}
// As for_each_input, with moved_bytes().
template <class F>
void for_each_moved_input(frame* t, F&& f) {
  visit_inputs(t, moved_bytes, f);
}

// As for_each_input, with no look at where the bytes are.
template <class F>
void for_each_input_bytes(frame* t, F&& f) {
  const access* const first = t->access_at(0);
  for (const access* a = first; a != first + t->accesses; a++)
    if (a->kind() <= waiter_kind::window) f(a->bytes);  // read, update, window
}

template <class F>
void for_each_output(frame* t, F&& f) {
  for (unsigned i = 0; i < t->versions; i++) {
    const version& v = *t->version_at(i);
    f(v.bytes, static_cast<int>(v.node));
  }
}

}  // namespace weir::flow
