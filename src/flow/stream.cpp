// Matching stream windows to pushes, in creation order per stream.
#include "flow/stream.hpp"

#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

namespace weir::flow {
namespace {

using detail::stream_segment;

struct overlap {
  std::uint64_t from, to;
  bool empty() const { return from >= to; }
};
overlap overlap_of(const stream_window& w, std::uint64_t start, std::uint64_t bytes) { return {std::max(w.start, start), std::min(w.start + w.bytes, start + bytes)}; }

// Segments that every later window starts behind.
void drop_passed(context& c, stream_state& s) {
  while (!s.segments.empty() && s.segments.first()->start + s.segments.first()->bytes <= s.read) {
    const std::unique_ptr<stream_segment> passed(s.segments.pop());
    drop_users(c, *passed->source);
  }
}

template <class F>
void for_each_stream_access(frame* f, F&& what) {
  for (unsigned i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::window || a.kind() == waiter_kind::skip) what(a, *static_cast<stream_state*>(a.stream));
  }
}
template <class F>
void for_each_push(frame* f, F&& what) {
  for (unsigned i = 0; i < f->versions; i++)
    if (version& v = *f->version_at(i); v.kind == detail::version_kind::push) what(v, *static_cast<stream_state*>(v.owner));
}

template <class T>
void delete_all(detail::linked_queue<T>& q) {
  while (const T* const t = q.pop()) delete t;
}

}  // namespace

stream_plan::stream_plan(frame* f) {
  if ((f->unusual & frame::has_streams) == 0) return;
  const auto begin = [](stream_state& s) {
    s.planned_written = s.written;
    s.planned_read = s.read;
    s.planned_windows = 0;
  };
  for_each_stream_access(f, [&](const access&, stream_state& s) { begin(s); });
  for_each_push(f, [&](const version&, stream_state& s) { begin(s); });
  try {
    for_each_stream_access(f, [&](const access& a, const stream_state&) { plan_window(f, a); });
    for_each_push(f, [&](const version& v, const stream_state&) { plan_push(v); });
  } catch (...) {
    clear();
    throw;
  }
}

void stream_plan::clear() noexcept {
  delete_all(windows_);
  delete_all(segments_);
  delete_all(pieces_);
}

void stream_plan::plan_window(frame* f, const access& a) {
  auto& s = *static_cast<stream_state*>(a.stream);
  const std::uint64_t start = s.planned_read;
  s.planned_read += a.kind() == waiter_kind::skip ? a.bytes : a.offset();
  if (a.kind() == waiter_kind::skip) return;
  auto* const w = new stream_window;
  windows_.push(*w);
  w->task = f;
  w->stream = &s;
  w->start = start;
  w->bytes = a.bytes;
  std::size_t pieces = 0;
  for (const stream_segment* g = s.segments.first(); g != nullptr; g = g->next)
    if (!overlap_of(*w, g->start, g->bytes).empty()) pieces++;
  add_pieces(pieces);
  s.planned_windows++;
}

void stream_plan::plan_push(const version& v) {
  auto& s = *static_cast<stream_state*>(v.owner);
  auto* const g = new stream_segment{nullptr, s.planned_written, v.bytes, nullptr};
  segments_.push(*g);
  std::size_t pieces = s.planned_windows;
  for (const stream_window* w = s.unmatched.first(); w != nullptr; w = w->next)
    if (!overlap_of(*w, g->start, g->bytes).empty()) pieces++;
  add_pieces(pieces);
  s.planned_written += v.bytes;
}

void stream_plan::add_pieces(std::size_t n) {
  for (; n > 0; n--) pieces_.push(*new stream_window::piece);
}

// The part of the window that lies in this segment becomes one more piece, and one more thing to wait for.
void stream_plan::attach(context& c, stream_window& w, const stream_segment& s) {
  const overlap part = overlap_of(w, s.start, s.bytes);
  if (part.empty()) return;
  stream_window::piece& p = *pieces_.pop();
  p.source = s.source;
  p.offset = part.from - s.start;
  p.position = part.from - w.start;
  p.bytes = part.to - part.from;
  p.wait.target = reinterpret_cast<std::uintptr_t>(w.task) | static_cast<std::uintptr_t>(waiter_kind::dependence);
  w.add(p);
  w.matched += p.bytes;
  s.source->users.fetch_add(version::one_user, std::memory_order_relaxed);  // the segment holds one itself
  w.task->pending.fetch_add(1, std::memory_order_relaxed);                  // the match as such is still pending
  if (!subscribe(c, *s.source, p.wait)) satisfy(c, p.wait, s.source->failed ? failure_of(s.source->producer()) : nullptr);
}

void stream_plan::append_segment(context& c, stream_state& s, version& v) {
  stream_segment& added = *segments_.pop();
  added.source = &v;
  s.written += v.bytes;
  s.segments.push(added);
  for (stream_window* w = s.unmatched.first(); w != nullptr; w = w->next) attach(c, *w, added);
  // Windows need not complete in order: a short peek may lie inside a long one.
  s.unmatched.remove_if([&](stream_window& w) {
    if (w.matched < w.bytes) return false;
    drop_pending(c, w.task, 1);
    return true;
  });
  drop_passed(c, s);
}

bool stream_plan::open_window(context& c, stream_state& s, access& a) {
  stream_window& w = *windows_.pop();
  const std::uint64_t advance = a.offset();
  a.window = &w;
  retain(s);
  for (const stream_segment* g = s.segments.first(); g != nullptr; g = g->next) attach(c, w, *g);
  const bool complete = w.matched == w.bytes;
  if (!complete) s.unmatched.push(w);
  skip_ahead(c, s, advance);
  return complete;
}

void skip_ahead(context& c, stream_state& s, std::uint64_t bytes) {
  s.read += bytes;
  drop_passed(c, s);
}

void gather(context& c, stream_window& w) {
  if (w.first == nullptr || w.first->next == nullptr) return;
  const memory::block b = c.buffers.allocate(w.bytes, c.node);
  w.gathered = b.data;
  w.gathered_place = c.node;
  w.for_each_piece([&](const stream_window::piece& p) { std::memcpy(static_cast<char*>(b.data) + p.position, static_cast<const char*>(p.source->buffer) + p.offset, p.bytes); });
}

void close_window(context& c, stream_window* w) {
  if (w->gathered != nullptr) c.buffers.release({w->gathered, w->gathered_place, w->gathered_place}, w->bytes);
  w->for_each_piece([&](const stream_window::piece& p) { drop_users(c, *p.source); });
  release(c, w->stream);
  delete w;
}

// In ascending order of address, as every task that names several. A stream whose last handle is just going away is
// still in the registry as long as that is locked.
locked_streams::locked_streams(context& c) : context_(c), creating_(c.common.creation, c.as_creator, c.alone) {
  stream_registry& r = *c.common.streams;
  r.lock.lock();
  if (creating_.alone()) return;
  for (stream_state* s : r.all) lock_resource(c, *s);
}

locked_streams::~locked_streams() {
  stream_registry& r = *context_.common.streams;
  if (!creating_.alone())
    for (stream_state* s : r.all) unlock_resource(*s);
  r.lock.unlock();
}

void locked_streams::abandon_windows(const char* cause) {
  for (stream_state* s : context_.common.streams->all) {
    s->unmatched.remove_if([&](stream_window& w) {
      if (w.task->skipped_because.load(std::memory_order_relaxed) != cause) return false;
      drop_pending(context_, w.task, 1);
      return true;
    });
  }
}

void retain(stream_state& s) { s.handles.fetch_add(1, std::memory_order_relaxed); }

void release(context& c, stream_state* s) {
  if (s->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  c.common.streams->remove(*s);
  if (s->written > s->read)
    std::fprintf(stderr, "weir: stream %s%s%s: %llu elements that no task consumed were dropped\n", s->name ? "\"" : "", s->name ? s->name : "(unnamed)", s->name ? "\"" : "",
                 static_cast<unsigned long long>((s->written - s->read) / s->element_bytes));
  {
    const visit here(c);
    while (stream_segment* const g = s->segments.pop()) {
      drop_users(c, *g->source);
      delete g;
    }
  }
  if (s->retire != nullptr) s->retire(s);
  delete s;
}

}  // namespace weir::flow
