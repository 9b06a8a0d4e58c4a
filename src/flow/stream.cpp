// Matching stream windows to pushes, in creation order per stream.
#include "flow/stream.hpp"

#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weir::flow {
namespace {

using detail::stream_window;

// The part of the window that lies in this segment becomes one more piece, and one more thing to wait for.
void attach(context& c, stream_window& w, const stream_state::segment& s) {
  const std::uint64_t from = std::max(w.start, s.start), to = std::min(w.start + w.bytes, s.start + s.bytes);
  if (from >= to) return;
  auto p = std::make_unique<stream_window::piece>();
  p->source = s.source;
  p->offset = from - s.start;
  p->position = from - w.start;
  p->bytes = to - from;
  p->wait.target = reinterpret_cast<std::uintptr_t>(w.task) | static_cast<std::uintptr_t>(waiter_kind::dependence);
  stream_window::piece& piece = *w.pieces.emplace_back(std::move(p));
  w.matched += piece.bytes;
  s.source->users.fetch_add(version::one_user, std::memory_order_relaxed);  // the segment holds one itself
  w.task->pending.fetch_add(1, std::memory_order_relaxed);                  // the match as such is still pending
  if (!subscribe(c, *s.source, piece.wait)) satisfy(c, piece.wait, s.source->failed ? failure_of(s.source->producer()) : nullptr);
}

// Segments that every later window starts behind.
void drop_passed(context& c, stream_state& s) {
  while (!s.segments.empty() && s.segments.front().start + s.segments.front().bytes <= s.read) {
    version* v = s.segments.front().source;
    s.segments.pop_front();
    drop_users(c, *v);
  }
}

}  // namespace

void append_segment(context& c, stream_state& s, version& v) {
  const stream_state::segment added{s.written, v.bytes, &v};
  s.written += v.bytes;
  s.segments.push_back(added);
  for (stream_window* w : s.unmatched) attach(c, *w, added);
  const auto matched = [&](stream_window* w) {
    if (w->matched < w->bytes) return false;
    drop_pending(c, w->task, 1);
    return true;
  };
  // Windows need not complete in order: a short peek may lie inside a long one.
  s.unmatched.erase(std::remove_if(s.unmatched.begin(), s.unmatched.end(), matched), s.unmatched.end());
  drop_passed(c, s);
}

bool open_window(context& c, stream_state& s, access& a, frame* f) {
  auto* w = new stream_window;
  w->task = f;
  w->stream = &s;
  w->start = s.read;
  w->bytes = a.bytes;
  const std::uint64_t advance = a.offset();
  a.window = w;
  retain(s);
  for (const auto& segment : s.segments) attach(c, *w, segment);
  const bool complete = w->matched == w->bytes;
  if (!complete) s.unmatched.push_back(w);
  skip_ahead(c, s, advance);
  return complete;
}

void skip_ahead(context& c, stream_state& s, std::uint64_t bytes) {
  s.read += bytes;
  drop_passed(c, s);
}

void gather(context& c, stream_window& w) {
  if (w.pieces.size() < 2) return;
  const memory::block b = c.buffers.allocate(w.bytes, c.node);
  w.gathered = b.data;
  w.gathered_place = c.node;
  for (const auto& p : w.pieces) std::memcpy(static_cast<char*>(b.data) + p->position, static_cast<const char*>(p->source->buffer) + p->offset, p->bytes);
}

void close_window(context& c, stream_window* w) {
  if (w->gathered != nullptr) c.buffers.release({w->gathered, w->gathered_place, w->gathered_place}, w->bytes);
  for (const auto& p : w->pieces) drop_users(c, *p->source);
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
    std::erase_if(s->unmatched, [&](const stream_window* w) {
      if (w->task->skipped_because.load(std::memory_order_relaxed) != cause) return false;
      drop_pending(context_, w->task, 1);
      return true;
    });
  }
}

void retain(stream_state& s) { s.handles.fetch_add(1, std::memory_order_relaxed); }

void release(context& c, stream_state* s) {
  if (s->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    std::lock_guard guard(c.common.streams->lock);
    c.common.streams->all.erase(s);
  }
  if (s->written > s->read)
    std::fprintf(stderr, "weir: stream %s%s%s: %llu elements that no task consumed were dropped\n", s->name ? "\"" : "", s->name ? s->name : "(unnamed)", s->name ? "\"" : "",
                 static_cast<unsigned long long>((s->written - s->read) / s->element_bytes));
  {
    const visit here(c);
    for (const auto& segment : s->segments) drop_users(c, *segment.source);
  }
  if (s->retire != nullptr) s->retire(s);
  delete s;
}

}  // namespace weir::flow
