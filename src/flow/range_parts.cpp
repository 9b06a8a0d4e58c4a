// Accesses to ranges that several records make up.
#include "flow/range_parts.hpp"

#include "flow/access_group.hpp"
#include "flow/range_cut.hpp"
#include "flow/versions.hpp"

#include <algorithm>

namespace weir::flow {
namespace {

// Accesses of one frame: as many as its counts may be, or fewer, so that its memory comes from a pool.
constexpr std::size_t most_in_frame = 4096;

template <class F>
void for_each_frame_of(frame* parts, F&& f) {
  while (parts != nullptr) {
    frame* const next = parts->next;  // it may go
    f(parts);
    parts = next;
  }
}

template <class F>
void for_each_read(frame* parts, F&& f) {
  for (frame* p = parts; p != nullptr; p = p->next)
    for (access *a = p->access_at(0), *end = a + part_reads(*p); a != end; a++) f(*a);
}

// Calls f(access, version) for each.
template <class F>
void for_each_write(frame* parts, F&& f) {
  for (frame* p = parts; p != nullptr; p = p->next) {
    access* a = p->access_at(part_reads(*p));
    for (version *v = p->version_at(0), *end = v + p->versions; v != end; v++) f(*a++, *v);
  }
}

}  // namespace

void free_parts(context& c, frame* parts) noexcept {
  for_each_frame_of(parts, [&](frame* p) { free_frame(c, p); });
}

parts_builder::parts_builder(context& c, frame* task, std::size_t reads, std::size_t writes)
    : context_(c), task_(task) {
  if (reads + writes > most_in_frame) add_frames(reads, writes);
  else if (reads + writes > 0) reading_ = writing_ = first_ = add_frame(reads, writes);
  if (reads > 0) read_from(reading_);
  if (writes > 0) write_from(writing_);
}

// Reads come first, and so the first frame that has room for a write is the first that has versions.
void parts_builder::add_frames(std::size_t reads, std::size_t writes) try {
  for (frame* last = nullptr; reads + writes > 0;) {
    const std::size_t some = std::min(reads, most_in_frame), written = std::min(writes, most_in_frame - some);
    frame* const p = add_frame(some, written);
    (last == nullptr ? first_ : last->next) = p;
    last = p;
    reads -= some;
    writes -= written;
  }
  reading_ = writing_ = first_;
  while (writing_->versions == 0 && writing_->next != nullptr) writing_ = writing_->next;
} catch (...) {
  free_parts(context_, first_);
  throw;
}

frame* parts_builder::add_frame(std::size_t reads, std::size_t writes) {
  const auto versions = static_cast<std::uint16_t>(writes), accesses = static_cast<std::uint16_t>(reads + writes);
  const std::size_t bytes = detail::closure_offset(versions, accesses, 1);
  frame* const p = create_frame(context_, nullptr, nullptr, {.name = task_->name},
                                {static_cast<std::uint32_t>(bytes), versions, accesses});
  p->state.store(frame_state::done, std::memory_order_relaxed);
  p->live.store(versions, std::memory_order_relaxed);
  p->affinity = task_->affinity;
  return p;
}

// ------------------------------------------------------------------------------------------------------ matching

part_inputs match_part_reads(frame* parts) {
  part_inputs found;
  for_each_read(parts, [&](access& a) {
    datum& d = *a.wanted;
    found.depth = std::max(found.depth, d.depth);
    d.readers++;
    a.source = d.current;
    if (found.there) found.there = a.source->published() && !a.source->failed;
  });
  for_each_write(parts, [&](const access& a, const version&) {
    found.depth = std::max(found.depth, a.wanted->depth);
    found.writes++;
  });
  return found;
}

std::uint32_t match_part_writes(context& c, frame* parts, frame* task, std::uint32_t depth) {
  std::uint32_t satisfied = 0;
  for_each_write(parts, [&](access& a, version& v) {
    datum& d = *a.wanted;
    version& old = *d.current;
    a.source = &old;
    d.depth = depth;
    v.users.store(version::while_current, std::memory_order_relaxed);
    if (!succeed_current(c, d, v, a) || subscribe(c, old, a)) return;
    if (old.failed && a.kind() == waiter_kind::update)
      task->skipped_because.store(failure_of(old), std::memory_order_relaxed);
    satisfied++;
  });
  return satisfied;
}

namespace {

// From one of a frame's reads on.
bool await_reads_from(context& c, frame* p, unsigned first) {
  for (; p != nullptr; p = p->next, first = 0)
    for (unsigned i = first, reads = part_reads(*p); i < reads; i++) {
      access& a = *p->access_at(i);
      version& v = *a.source;
      if (!v.published() && subscribe(c, v, a)) return false;  // again this one: whether it failed is seen only now
      if (v.failed) [[unlikely]] a.task()->skipped_because.store(failure_of(v), std::memory_order_relaxed);
    }
  return true;
}

}  // namespace

bool await_part_reads(context& c, frame* parts) { return await_reads_from(c, parts, 0); }

void continue_by_kind(context& c, const waiter& w, const char* cause) {
  if (w.kind() == waiter_kind::group_enter || w.kind() == waiter_kind::group_leave) return continue_group(c, w, cause);
  if (w.kind() != waiter_kind::part_read) return continue_cut(c, w, cause);
  const auto& a = static_cast<const access&>(w);
  frame* const task = w.task();
  auto* const parts = reinterpret_cast<frame*>(reinterpret_cast<std::uintptr_t>(&a) - a.offset());
  const auto waited_for = static_cast<unsigned>(&a - parts->access_at(0));
  if (await_reads_from(c, parts, waited_for)) drop_pending(c, task, 1);
}

// ---------------------------------------------------------------------------------------------------- completion

void complete_parts(context& c, frame* parts, const frame* task, const char* cause) {
  for_each_frame_of(parts, [&](frame* p) {
    const unsigned reads = part_reads(*p), writes = p->versions;
    for (unsigned i = 0; i < reads; i++) {
      version& v = *p->access_at(i)->source;
      reads > c.few_inputs ? drop_later(c, v) : drop_users(c, v);
    }
    if (writes == 0) return free_frame(c, p);
    p->skipped_because.store(cause, std::memory_order_relaxed);
    p->trace_id = task->trace_id;
    // The frame may go with the last one.
    const access* a = p->access_at(reads);
    version* v = p->version_at(0);
    for (const version* end = v + writes; v != end; v++) {
      drop_heir(c, *a++->source);
      publish<whom_to_tell::some>(c, *v, cause);
    }
  });
}

}  // namespace weir::flow
