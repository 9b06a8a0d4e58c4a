// Matching stream windows to pushes, in creation order per stream.
#include "flow/stream.hpp"

#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace weir::flow {
namespace {

using piece_queue = detail::linked_queue<stream_window::piece>;

struct overlap {
  std::uint64_t from, to;
  bool empty() const { return from >= to; }
};
overlap overlap_of(const stream_window& w, std::uint64_t start, std::uint64_t bytes) {
  return {std::max(w.start, start), std::min(w.start + w.bytes, start + bytes)};
}

// Calls f(version, start) for the pushes that a window from `from` to `to` sees.
template <class F>
void for_each_push_in(const stream_state& s, std::uint64_t from, std::uint64_t to, F&& f) {
  std::uint64_t start = s.first_start;
  for (version* v = s.pushes.first(); v != nullptr && start < to; start += v->bytes, v = v->next_push)
    if (std::max(start, from) < std::min(start + v->bytes, to)) f(*v, start);
}

// Calls f(window) for the windows that wait for a push from `from` to `to`: they are in order of their starts.
template <class F>
void for_each_window_in(const stream_state& s, std::uint64_t from, std::uint64_t to, F&& f) {
  for (const stream_window* w = s.unmatched.first(); w != nullptr && w->start < to; w = w->next)
    if (!overlap_of(*w, from, to - from).empty()) f(*w);
}

// Takes the pushes out that every later window starts behind. f(version, start): what becomes of the stream's use of
// it.
template <class F>
void pop_passed(stream_state& s, F&& f) {
  for (version* v = s.pushes.first(); v != nullptr && s.first_start + v->bytes <= s.read; v = s.pushes.first()) {
    const std::uint64_t start = s.first_start;
    s.pushes.pop();
    s.first_start += v->bytes;
    f(*v, start);
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
    if (version& v = *f->version_at(i); v.kind == detail::version_kind::push)
      what(v, *static_cast<stream_state*>(v.owner));
}

// A piece of a window whose match as such is still pending.
inline void wait_for(context& c, frame& f, stream_window::piece& p) {
  version& v = *p.source;
  if (!v.published()) {
    f.pending.fetch_add(1, std::memory_order_relaxed);
    if (subscribe(c, v, p.wait)) return;
    f.pending.fetch_sub(1, std::memory_order_relaxed);
  }
  if (v.failed) [[unlikely]] f.skipped_because.store(failure_of(v.producer()), std::memory_order_relaxed);
}

// The part of the window that lies in this push becomes one more piece, and one more thing to wait for. The push has a
// user for it.
inline void attach(context& c, stream_window& w, version& v, std::uint64_t start, piece_queue& pieces) {
  const overlap part = overlap_of(w, start, v.bytes);
  stream_window::piece& p = w.add([&] { return pieces.pop(); });
  p.source = &v;
  p.offset = part.from - start;
  p.position = part.from - w.start;
  p.bytes = part.to - part.from;
  p.wait.target = reinterpret_cast<std::uintptr_t>(w.task) | static_cast<std::uintptr_t>(waiter_kind::dependence);
  w.matched += p.bytes;
  wait_for(c, *w.task, p);
}

// What the window is the last to see it uses instead of the stream.
inline void take_passed(context& c, stream_state& s, stream_window& w, piece_queue& pieces) {
  pop_passed(s, [&](version& v, std::uint64_t start) {
    if (overlap_of(w, start, v.bytes).empty()) drop_users(c, v);
    else attach(c, w, v, start, pieces);
  });
}

// A task's only access, to one push; or its only push, which nobody waits for.
bool needs_no_pieces(frame* f) {
  if (f->versions + f->accesses != 1) return false;
  if (f->versions == 1) return static_cast<stream_state*>(f->version_at(0)->owner)->unmatched.empty();
  const access& a = *f->access_at(0);
  const auto& s = *static_cast<stream_state*>(a.stream);
  return s.pushes.empty() || s.read + a.bytes <= s.first_start + s.pushes.first()->bytes;
}

}  // namespace
}  // namespace weir::flow

namespace weir::detail {

bool stream_state::is_valid() const {
  std::uint64_t end = first_start, last_start = 0;
  for (const version* v = pushes.first(); v != nullptr; v = v->next_push) end += v->bytes;
  if (!front_is_unread() || (!pushes.empty() && end != written)) return false;
  for (const stream_window* w = unmatched.first(); w != nullptr; last_start = w->start, w = w->next) {
    const std::uint64_t has_come = written > w->start ? written - w->start : 0;
    if (w->start < last_start || w->stream != this || w->matched != has_come || has_come >= w->bytes) return false;
  }
  return true;
}

}  // namespace weir::detail

namespace weir::flow {

stream_plan::stream_plan(frame* f) {
  if ((f->unusual & frame::has_streams) == 0 || needs_no_pieces(f)) return;
  plan(f);
}

void stream_plan::plan(frame* f) {
  const auto begin = [](stream_state& s) {
    s.planned_written = s.written;
    s.planned_read = s.read;
    s.planned_windows = 0;
  };
  for_each_stream_access(f, [&](const access&, stream_state& s) { begin(s); });
  for_each_push(f, [&](const version&, stream_state& s) { begin(s); });
  try {
    for_each_stream_access(f, [&](const access& a, const stream_state&) { plan_window(a); });
    for_each_push(f, [&](const version& v, const stream_state&) { plan_push(v); });
  } catch (...) {
    clear();
    throw;
  }
}

void stream_plan::clear() noexcept {
  while (const stream_window::piece* const p = pieces_.pop()) delete p;
}

void stream_plan::plan_window(const access& a) {
  auto& s = *static_cast<stream_state*>(a.stream);
  const std::uint64_t start = s.planned_read;
  s.planned_read += a.kind() == waiter_kind::skip ? a.bytes : a.offset();
  if (a.kind() == waiter_kind::skip) return;
  std::size_t pieces = 0;
  for_each_push_in(s, start, start + a.bytes, [&](const version&, std::uint64_t) { pieces++; });
  if (pieces > 1) add_pieces(pieces - 1);
  s.planned_windows++;
}

// A window that nobody feeds yet has its own piece for the task's first push.
void stream_plan::plan_push(const version& v) {
  auto& s = *static_cast<stream_state*>(v.owner);
  const bool is_first = s.planned_written == s.written;
  std::size_t pieces = s.planned_windows;
  for_each_window_in(s, s.planned_written, s.planned_written + v.bytes, [&](const stream_window& w) {
    if (w.last != nullptr || !is_first) pieces++;
  });
  add_pieces(pieces);
  s.planned_written += v.bytes;
}

void stream_plan::add_pieces(std::size_t n) {
  for (; n > 0; n--) pieces_.push(*new stream_window::piece);
}

// Users are stored before anybody else knows of the version: one for each window, one as long as the stream has it.
void stream_plan::append_push(context& c, stream_state& s, version& v) {
  const std::uint64_t start = s.written, end = start + v.bytes;
  s.written = end;
  std::uint64_t windows = 0;
  for_each_window_in(s, start, end, [&](const stream_window&) { windows++; });
  const bool passed = end <= s.read;
  const bool unseen = passed && windows == 0;
  v.users.store(version::one_user * (windows + (!passed || unseen ? 1 : 0)), std::memory_order_relaxed);
  // Windows need not complete in order: a short peek may lie inside a long one.
  if (windows != 0)
    s.unmatched.remove_if([&](const stream_window& w) { return w.start >= end; }, [&](stream_window& w) {
      if (overlap_of(w, start, v.bytes).empty()) return false;
      attach(c, w, v, start, pieces_);
      if (w.matched < w.bytes) return false;
      drop_pending(c, w.task, 1);
      return true;
    });
  if (s.pushes.empty()) s.first_start = passed ? end : start;
  if (!passed) s.pushes.push(v);
  WEIR_ASSERT(s.front_is_unread());
  if (unseen) drop_users(c, v);
}

bool stream_plan::open_window(context& c, frame* f, unsigned i, access& a) {
  auto& s = *static_cast<stream_state*>(a.stream);
  auto& w = *new (f->window_memory(i)) stream_window(f, s.read, a.bytes);
  s.read += a.offset();
  a.window = &w;
  take_passed(c, s, w, pieces_);
  WEIR_ASSERT(s.front_is_unread());
  for_each_push_in(s, w.start, w.start + w.bytes, [&](version& v, std::uint64_t start) {
    implementation::add_users(c, v, version::one_user);
    attach(c, w, v, start, pieces_);
  });
  if (w.matched == w.bytes) return true;
  retain(s);
  w.stream = &s;
  s.unmatched.push(w);
  return false;
}

void skip_ahead(context& c, stream_state& s, std::uint64_t bytes) {
  s.read += bytes;
  pop_passed(s, [&](version& v, std::uint64_t) { drop_users(c, v); });
}

void gather(context& c, stream_window& w) {
  const memory::block b = c.buffers.allocate(w.bytes, c.node);
  w.gathered = b.data;
  w.gathered_place = c.node;
  w.for_each_piece([&](const stream_window::piece& p) { std::memcpy(static_cast<char*>(b.data) + p.position, static_cast<const char*>(p.source->buffer) + p.offset, p.bytes); });
}

namespace {

bool was_last(context& c, stream_state& s) {
  if (s.handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  WEIR_ASSERT(s.is_valid() && s.unmatched.empty());
  c.common.streams->remove(s);
  return true;
}

// Inside a visit.
void drop_pushes(context& c, stream_state& s) {
  while (version* const v = s.pushes.pop()) drop_users(c, *v);
}

void end(stream_state* s) {
  if (s->written > s->read)
    std::fprintf(stderr, "weir: stream %s%s%s: %llu elements that no task consumed were dropped\n",
                 s->name ? "\"" : "", s->name ? s->name : "(unnamed)", s->name ? "\"" : "",
                 static_cast<unsigned long long>((s->written - s->read) / s->element_bytes));
  if (s->retire != nullptr) s->retire(s);
  delete s;
}

// As release(), inside a visit.
void release_by_window(context& c, stream_state* s) {
  if (!was_last(c, *s)) return;
  drop_pushes(c, *s);
  end(s);
}

}  // namespace

void close_window(context& c, stream_window* w) {
  if (w->gathered != nullptr) c.buffers.release({w->gathered, w->gathered_place, w->gathered_place}, w->bytes);
  w->for_each_piece([&](const stream_window::piece& p) { drop_users(c, *p.source); });
  if (w->stream != nullptr) release_by_window(c, w->stream);
  w->~stream_window();
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
    WEIR_ASSERT(s->is_valid());
    s->unmatched.remove_if([](const stream_window&) { return false; }, [&](const stream_window& w) {
      if (w.task->skipped_because.load(std::memory_order_relaxed) != cause) return false;
      drop_pending(context_, w.task, 1);
      return true;
    });
  }
}

void retain(stream_state& s) { s.handles.fetch_add(1, std::memory_order_relaxed); }

void release(context& c, stream_state* s) {
  if (!was_last(c, *s)) return;
  {
    const visit here(c);
    drop_pushes(c, *s);
  }
  end(s);
}

}  // namespace weir::flow
