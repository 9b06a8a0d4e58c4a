// What most stages of pipelines do with streams: open a window that one push feeds, which is there, and push what
// nobody waits for. Inline, because these few lines are most of what such a task costs.
#pragma once

#include "flow/stream.hpp"
#include "flow/versions.hpp"

namespace weir::flow {

// Whether the next window is one piece of the first push, and that is published. The stream is locked.
inline bool lies_in_first_push(const stream_state& s, std::uint64_t bytes) {
  const version* const v = s.pushes.first();
  if (v == nullptr || bytes == 0 || s.read + bytes > s.first_start + v->bytes) return false;
  return v->published() && !v->failed;
}

// Such a window. What it is the last to see it uses instead of the stream.
inline void open_ready_window(context& c, frame* f, stream_state& s, access& a) {
  version& v = *s.pushes.first();
  stream_window& w = *new (f->window_memory(0)) stream_window(f, s.read, a.bytes);
  a.window = &w;
  w.last = &w.first;
  w.matched = a.bytes;
  w.first.source = &v;
  w.first.offset = s.read - s.first_start;
  w.first.bytes = a.bytes;
  s.read += a.offset();
  if (s.first_start + v.bytes > s.read) {
    implementation::add_users(c, v, version::one_user);
    return;
  }
  s.pushes.pop();
  s.first_start += v.bytes;
  const version* const next = s.pushes.first();
  if (next != nullptr && next->bytes == 0) [[unlikely]] skip_ahead(c, s, 0);  // passed, too
  WEIR_ASSERT(s.front_is_unread());
}

// A push that no window waits for. Whoever knows the version finds its users: one, as long as the stream has it.
inline void append_unawaited_push(context& c, stream_state& s, version& v) {
  const std::uint64_t start = s.written, end = start + v.bytes;
  const bool passed = end <= s.read;
  s.written = end;
  v.users.store(version::one_user, std::memory_order_relaxed);
  if (s.pushes.empty()) s.first_start = passed ? end : start;
  if (passed) drop_users(c, v);
  else s.pushes.push(v);
  WEIR_ASSERT(s.front_is_unread());
}

}  // namespace weir::flow
