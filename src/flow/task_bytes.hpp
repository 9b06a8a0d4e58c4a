// Where the bytes of a task are: what placement decides by and what statistics count.
#pragma once

#include "flow/access_group.hpp"
#include "flow/stream.hpp"
#include "flow/task.hpp"

#include <weir/access.hpp>

namespace weir::flow {

// What is updated in place: its bytes are written where they are.
inline bool is_updated(const access& a) {
  return a.kind() == waiter_kind::update || (a.kind() == waiter_kind::read && is_of_group(a));
}
// What an input weighs for where its task should run: an update writes its bytes back where they are, too.
inline std::uint64_t moved_bytes(const access& a) { return is_updated(a) ? 2 * a.bytes : a.bytes; }

// Calls f(bytes, node, access).
template <class F>
void for_each_data_input(frame* t, F&& f) {
  const bool names_others = names_user_memory(t);
  for (unsigned i = 0; i < t->accesses; i++) {
    access& a = *t->access_at(i);
    if (names_others && names_range(*t, a)) [[unlikely]]
      continue;
    switch (a.kind()) {
      case waiter_kind::read:
      case waiter_kind::update: f(std::uint64_t{a.bytes}, static_cast<int>(a.source->node), a); break;
      case waiter_kind::window:
        a.window->for_each_piece([&](const stream_window::piece& p) {
          f(std::uint64_t{p.bytes}, static_cast<int>(p.source->node), a);
        });
        break;
      default: break;  // skips read nothing
    }
  }
}

template <class F>
void for_each_user_input(const whereabouts& known, frame* t, F&& f) {
  for_each_user_part(known, t, [&](std::uint64_t bytes, int node, bool reads, bool) {
    if (reads) f(bytes, node);
  });
}

template <class F>
void for_each_input(const whereabouts& known, frame* t, F&& f) {
  for_each_data_input(t, [&](std::uint64_t bytes, int node, const access&) { f(bytes, node); });
  for_each_user_input(known, t, f);
}
// As moved_bytes(). User memory that is written is here, too: new versions will lie where the task runs, but that
// stays where it is.
template <class F>
void for_each_moved_input(const whereabouts& known, frame* t, F&& f) {
  for_each_data_input(t, [&](std::uint64_t bytes, int node, const access& a) {
    f(is_updated(a) ? 2 * bytes : bytes, node);
  });
  for_each_user_part(known, t, [&](std::uint64_t bytes, int node, bool reads, bool writes) {
    f(reads && writes ? 2 * bytes : bytes, node);
  });
}

// As for_each_input, with no look at where the bytes are.
template <class F>
void for_each_input_bytes(frame* t, F&& f) {
  const bool names_others = names_user_memory(t);
  const access* const first = t->access_at(0);
  for (const access* a = first; a != first + t->accesses; a++)
    if (names_others && names_range(*t, *a)) [[unlikely]] {
      if (reads_user_memory(*a)) f(a->bytes);
    } else if (a->kind() <= waiter_kind::window) {  // read, update, window
      f(a->bytes);
    }
}

template <class F>
void for_each_group_output(frame* t, F&& f) {
  if ((t->unusual & frame::has_groups) != 0) [[unlikely]]
    for (unsigned i = 0; i < t->accesses; i++)
      if (const access& a = *t->access_at(i); is_updated(a) && is_of_group(a) && !names_range(*t, a))
        f(a.bytes, static_cast<int>(a.source->node));
}

// Of data alone.
template <class F>
void for_each_data_output(frame* t, F&& f) {
  for (unsigned i = 0; i < t->versions; i++) {
    const version& v = *t->version_at(i);
    f(v.bytes, place_of(v));
  }
  for_each_group_output(t, f);
}

template <class F>
void for_each_output(const whereabouts& known, frame* t, F&& f) {
  for_each_data_output(t, f);
  for_each_user_part(known, t, [&](std::uint64_t bytes, int node, bool, bool writes) {
    if (writes) f(bytes, node);
  });
}

// As for_each_output, of a task that is ready, and where its outputs are going to be: an update's with the datum, one that
// has no memory yet where that is planned.
template <class F>
void for_each_output_to_be(const whereabouts& known, frame* t, F&& f) {
  for (unsigned i = 0; i < t->versions; i++)
    if (const version& v = *t->version_at(i); v.kind != detail::version_kind::update) f(v.bytes, planned_place_of(v));
  if ((t->unusual & frame::has_updates) != 0)
    for (unsigned i = 0; i < t->accesses; i++)
      if (const access& a = *t->access_at(i); a.kind() == waiter_kind::update)
        if (const version& v = *t->version_at(a.extra()); v.kind == detail::version_kind::update)
          f(v.bytes, static_cast<int>(a.source->node));
  for_each_group_output(t, f);
  for_each_user_part(known, t, [&](std::uint64_t bytes, int node, bool, bool writes) {
    if (writes) f(bytes, node);
  });
}

// As for_each_output, of bytes that will lie where the task runs: it is the first to write them.
template <class F>
void for_each_unplaced_output(const whereabouts& known, frame* t, F&& f) {
  for_each_output(known, t, [&](std::uint64_t bytes, int node) {
    if (node == detail::node_unknown) f(bytes);
  });
}

}  // namespace weir::flow
