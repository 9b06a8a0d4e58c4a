// Where the bytes of a task are: what placement decides by and what statistics count.
#pragma once

#include "flow/stream.hpp"
#include "flow/task.hpp"

#include <weir/access.hpp>

#include <algorithm>

namespace weir::flow {

// The program's own memory among what a task names (names_range() of frames.hpp): all that is known here of how such
// an access looks. Its address is offset(), its length `bytes`; of a tile (shape_of()) that is where it begins, and
// all of its bytes.
inline bool names_user_memory(const frame* t) { return (t->unusual & frame::has_ranges) != 0; }
inline bool reads_user_memory(const access& a) {
  return a.kind() != waiter_kind::overwrite && a.kind() != waiter_kind::covered_overwrite;
}
inline bool writes_user_memory(const access& a) {
  return a.kind() != waiter_kind::read && a.kind() != waiter_kind::covered_read;
}

// Calls f(access) for each.
template <class F>
void for_each_user_memory(frame* t, F&& f) {
  for (unsigned i = 0; i < t->accesses; i++)
    if (const access& a = *t->access_at(i); names_range(*t, a)) f(a);
}

// More rows of a tile are not looked at, as it would take longer than many a task; neighbours mostly lie together.
inline constexpr std::uint64_t most_rows_looked_at = 16;

// Calls f(first, bytes, times) for bytes that stand for so many times as many of the access: all of a range, or rows
// of a tile.
template <class F>
void for_each_piece(const access& a, F&& f) {
  const access* const shape = shape_of(a);
  if (shape == nullptr || shape->width() == shape->stride()) [[likely]]
    return f(a.offset(), a.bytes, std::uint64_t{1});
  const std::uint64_t rows = a.bytes / shape->width();
  const std::uint64_t step = (rows + most_rows_looked_at - 1) / most_rows_looked_at;
  for (std::uint64_t row = 0; row < rows; row += step) {
    const std::uint64_t times = std::min(step, rows - row);
    f(a.offset() + (row + times / 2) * shape->stride(), shape->width(), times);
  }
}

// Calls f(bytes, node) for what is known of where it lies. `known` is null where nobody keeps that.
template <class F>
void for_each_part(const memory::regions* known, const access& a, F&& f) {
  if (known == nullptr) return f(std::uint64_t{a.bytes}, static_cast<int>(detail::node_unknown));
  for_each_piece(a, [&](std::uint64_t first, std::uint64_t bytes, std::uint64_t times) {
    known->for_each_part(first, bytes, [&](std::uint64_t part, int node) { f(times * part, node); });
  });
}

// A task that names user memory is about to be placed: what is not known of where that lies is asked for.
void find_user_memory(memory::regions&, frame*);
// It has run, on this node.
void note_user_memory(memory::regions&, frame*, int node);

// What an input weighs for where its task should run: an update writes its bytes back where they are, too.
inline std::uint64_t moved_bytes(const access& a) { return a.kind() == waiter_kind::update ? 2 * a.bytes : a.bytes; }

template <class BytesOf, class F>
void visit_data_inputs(frame* t, BytesOf&& bytes_of, F&& f) {
  const bool names_others = names_user_memory(t);
  for (unsigned i = 0; i < t->accesses; i++) {
    access& a = *t->access_at(i);
    if (names_others && names_range(*t, a)) [[unlikely]]
      continue;
    switch (a.kind()) {
      case waiter_kind::read:
      case waiter_kind::update: f(bytes_of(a), static_cast<int>(a.source->node)); break;
      case waiter_kind::window:
        a.window->for_each_piece([&](const stream_window::piece& p) { f(p.bytes, static_cast<int>(p.source->node)); });
        break;
      default: break;  // skips read nothing
    }
  }
}

template <class F>
void for_each_user_input(const memory::regions* known, frame* t, F&& f) {
  if (names_user_memory(t)) [[unlikely]]
    for_each_user_memory(t, [&](const access& a) {
      if (reads_user_memory(a)) for_each_part(known, a, f);
    });
}

template <class F>
void for_each_input(const memory::regions* known, frame* t, F&& f) {
  visit_data_inputs(
      t, [](const access& a) { return std::uint64_t{a.bytes}; }, f);
  for_each_user_input(known, t, f);
}
// With moved_bytes(). User memory that is written is here, too: new versions will lie where the task runs, but that
// stays where it is.
template <class F>
void for_each_moved_input(const memory::regions* known, frame* t, F&& f) {
  visit_data_inputs(t, moved_bytes, f);
  if (names_user_memory(t)) [[unlikely]]
    for_each_user_memory(t, [&](const access& a) {
      const std::uint64_t times = reads_user_memory(a) && writes_user_memory(a) ? 2 : 1;
      for_each_part(known, a, [&](std::uint64_t bytes, int node) { f(times * bytes, node); });
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
void for_each_output(const memory::regions* known, frame* t, F&& f) {
  for (unsigned i = 0; i < t->versions; i++) {
    const version& v = *t->version_at(i);
    f(v.bytes, static_cast<int>(v.node));
  }
  if (names_user_memory(t)) [[unlikely]]
    for_each_user_memory(t, [&](const access& a) {
      if (writes_user_memory(a)) for_each_part(known, a, f);
    });
}

// As for_each_output, of bytes that will lie where the task runs: it is the first to write them.
template <class F>
void for_each_unplaced_output(const memory::regions* known, frame* t, F&& f) {
  for_each_output(known, t, [&](std::uint64_t bytes, int node) {
    if (node == detail::node_unknown) f(bytes);
  });
}

}  // namespace weir::flow
