// Matching a task's accesses to versions.
#include "flow/access_group.hpp"
#include "flow/matching.hpp"
#include "flow/planned.hpp"
#include "flow/stages.hpp"
#include "flow/stream.hpp"

#include <algorithm>

namespace weir::flow {
namespace {

using detail::version_kind;

void match_read(access& a) {
  datum& d = *a.wanted;
  d.readers++;
  a.source = d.current;
}

// An update waits until its predecessor is unused and there; at once if that is so already.
void match_update(context& c, access& a, frame* f) {
  datum& d = *a.wanted;
  version& old = *d.current;
  a.source = &old;
  if (succeed_current(c, d, *f->version_at(a.extra()), a)) tell_heir(c, old, a);
}

inputs match_accesses(context& c, frame* f, stream_plan& streams) {
  inputs found;
  std::uint32_t read_depth = 0;
  unsigned windows = 0;
  for (unsigned i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    switch (a.kind()) {
      case waiter_kind::read:
        found.reads++;
        if (found.reads == 1 || a.wanted->depth >= read_depth) {
          read_depth = a.wanted->depth;
          found.deepest_read = &a;
        }
        found.depth = std::max(found.depth, a.wanted->depth);
        match_read(a);
        break;
      case waiter_kind::window: found.satisfied += streams.open_window(c, f, windows++, a); break;
      case waiter_kind::skip:
        skip_ahead(c, *static_cast<stream_state*>(a.stream), a.bytes);
        found.satisfied++;
        break;
      case waiter_kind::covered_read:
      case waiter_kind::covered_update:
      case waiter_kind::covered_overwrite: found.satisfied++; break;  // parts count for themselves
      case waiter_kind::shape: found.satisfied++; break;
      case waiter_kind::update:
      case waiter_kind::overwrite:
        found.updates++;
        found.depth = std::max(found.depth, a.wanted->depth);
        break;
      default: break;
    }
  }
  return found;
}

void announce_versions(context& c, frame* f, const inputs& in, stream_plan* streams) {
  f->live.store(f->versions, std::memory_order_relaxed);
  for (unsigned i = 0; i < f->versions; i++) {
    version& v = *f->version_at(i);
    if (v.kind == version_kind::unused) continue;
    resource* owner = v.owner;
    v.heir = nullptr;
    if (v.kind == version_kind::push) {
      streams->append_push(c, *static_cast<stream_state*>(owner), v);
      continue;
    }
    v.users.store(version::while_current, std::memory_order_relaxed);
    static_cast<datum*>(owner)->depth = in.depth + 1;
    if (v.kind == version_kind::replace) replace_current(c, *static_cast<datum*>(owner), v);
  }
  // Updates come last: they look at what was current before, which cannot be a version of this task.
  for (unsigned i = 0; in.updates > 0 && i < f->accesses; i++) {
    access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::update || a.kind() == waiter_kind::overwrite) match_update(c, a, f);
  }
}

// Stops looking whether they are there at the first that is not: that one is waited for, and the others' lines are
// their producers'.
inline void match_usual_reads(access* a, const access* end, inputs& in) {
  in.there = true;
  in.deepest_read = a;
  while (in.there && a != end) {
    const version& v = match_usual_read(*a++, in);
    in.there = v.published() && !v.failed;
  }
  for (; a != end; a++) match_usual_read(*a, in);
}

// A task that reads and writes whole data and nothing else: most of them, and short. False, and nothing was done: some
// datum has no current version.
[[gnu::always_inline]] inline bool match_usual(context& c, frame* f, inputs& in) {
  matching_right held(c, f);
  const unsigned versions = f->versions;
  access* const reads = f->access_at(0);
  access* const reads_end = reads + f->accesses;
  for (access* a = reads; a != reads_end; a++)
    if (a->wanted->runtime != c.common.runtime || a->wanted->current == nullptr) [[unlikely]] {
      make_usable(c, f, a->wanted);
      return false;
    }
  if (versions == 1) check_runtime(c, f, *static_cast<const datum*>(f->version_at(0)->owner));
  else if (versions > 1) validate(c, f, held);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  match_usual_reads(reads, reads_end, in);
  in.reads = f->accesses;
  if (versions == 1) {
    announce_usual(c, *f->version_at(0), in.depth + 1);
    return true;
  }
  f->live.store(f->versions, std::memory_order_relaxed);
  for (unsigned i = 0; i < versions; i++) announce_usual(c, *f->version_at(i), in.depth + 1);
  return true;
}

bool submit_counted(context&, frame*);

// Such a task, created by a worker.
[[gnu::noinline]] bool submit_usual(context& c, frame* f) {
  {
    const visit here(c);
    inputs in;
    if (match_usual(c, f, in)) [[likely]] return wait_for_reads(c, f, in);
  }
  return submit_counted(c, f);
}

// The version that a task's only update leaves behind, if the task has no other outputs.
inline void announce_update(datum& d, version& v, std::uint32_t depth) {
  v.heir = nullptr;
  v.users.store(version::while_current, std::memory_order_relaxed);
  d.depth = depth;
}

// True: it is ready.
[[gnu::always_inline]] inline bool match_lone_update(context& c, frame* f, access& a, matching_right& held) {
  datum& d = *a.wanted;
  if (f->versions > 1) validate(c, f, held);  // it may name the datum twice
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  inputs in;
  in.depth = d.depth;
  if (f->versions == 1) announce_update(d, *f->version_at(0), in.depth + 1);
  else announce_versions(c, f, in, nullptr);
  f->pending.store(1, std::memory_order_relaxed);
  f->state.store(frame_state::waiting, std::memory_order_release);
  version& old = *d.current;
  a.source = &old;
  if (!succeed_current(c, d, *f->version_at(a.extra()), a) || subscribe(c, old, a)) return false;
  note_failure(f, old);
  f->pending.store(0, std::memory_order_relaxed);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  return true;
}

// A task that updates one datum and reads nothing else, created by a worker: short, too. It may run before this
// returns, if it is not ready at once.
[[gnu::noinline]] bool submit_update(context& c, frame* f) {
  {
    const visit here(c);
    matching_right held(c, f);
    access& a = *f->access_at(0);
    if (a.wanted->runtime == c.common.runtime && a.wanted->current != nullptr) [[likely]]
      return match_lone_update(c, f, a, held);
  }
  return submit_counted(c, f);
}

// Of this runtime, as far as it was looked at them.
inline bool names_only_streams(const context& c, frame* f) {
  const access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    if (a->kind() != waiter_kind::window && a->kind() != waiter_kind::skip) return false;
    check_runtime(c, f, *static_cast<const stream_state*>(a->stream));
  }
  const version* v = f->version_at(0);
  for (const version* end = v + f->versions; v != end; v++) {
    if (v->kind != version_kind::push) return false;
    check_runtime(c, f, *static_cast<const stream_state*>(v->owner));
  }
  return true;
}

// Returns how many of the accesses are no longer waited for.
inline std::uint32_t match_streams(context& c, frame* f, stream_plan& streams) {
  std::uint32_t satisfied = 0;
  unsigned windows = 0;
  access* a = f->access_at(0);
  for (const access* end = a + f->accesses; a != end; a++) {
    if (a->kind() == waiter_kind::window) {
      satisfied += streams.open_window(c, f, windows++, *a);
    } else {
      skip_ahead(c, *static_cast<stream_state*>(a->stream), a->bytes);
      satisfied++;
    }
  }
  f->live.store(f->versions, std::memory_order_relaxed);
  version* v = f->version_at(0);
  for (const version* end = v + f->versions; v != end; v++)
    streams.append_push(c, *static_cast<stream_state*>(v->owner), *v);
  return satisfied;
}

// A task that names streams and nothing else, created by a worker. The creator holds one of what it waits for until it
// is matched.
[[gnu::noinline]] bool submit_streams(context& c, frame* f) {
  const visit here(c);
  matching_right held(c, f);
  stream_plan streams(f);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  f->pending.store(1 + f->accesses, std::memory_order_relaxed);
  f->state.store(frame_state::waiting, std::memory_order_release);
  const std::uint32_t satisfied = 1 + match_streams(c, f, streams);
  return satisfy_created(c, f, satisfied);
}

// What needs memory comes first: after that nothing fails.
template <class Right>
void match_with(context& c, frame* f, inputs& in, Right& held) {
  validate(c, f, held);
  stream_plan streams(f);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  in = match_accesses(c, f, streams);
  announce_versions(c, f, in, &streams);
}

void match_parts(context& c, frame* f, frame* parts, inputs& in) {
  const part_inputs more = match_part_reads(parts);
  f->pending.fetch_add(more.awaited(), std::memory_order_relaxed);
  in.satisfied += match_part_writes(c, parts, f, std::max(in.depth, more.depth) + 1);
  if (!more.there && await_part_reads(c, parts)) in.satisfied++;
}

[[gnu::noinline]] void match(context& c, frame* f, inputs& in) {
  matching_right held(c, f);
  match_with(c, f, in, held);
}

// Streams and user memory.
void match_with_ranges(context& c, frame* f, inputs& in) {
  ranges_right held(c, f);
  if (held.any_group_is_open()) [[unlikely]] close_groups_of(c, f, held.parts());
  match_with(c, f, in, held);
  if (frame* const parts = held.take_parts(); parts != nullptr) match_parts(c, f, parts, in);
}

// It is matched, and starts when all that is left has come.
inline bool start_counted(context& c, frame* f, const inputs& in) {
  // Who sees it waiting sees what was made ready before.
  f->state.store(frame_state::waiting, std::memory_order_release);
  // All reads together count as one.
  const bool reads_there = in.reads > 0 && start_reads(c, f, in);
  drop_pending(c, f, frame::being_created + in.satisfied + (in.reads == 0 ? 0 : in.reads - 1 + (reads_there ? 1 : 0)));
  return c.ready.take_if_only(f);
}

// Every access counts, and being_created keeps the task from starting while it is being matched.
[[gnu::noinline]] bool submit_counted(context& c, frame* f) {
  const visit here(c);
  f->pending.store(frame::being_created + f->accesses, std::memory_order_relaxed);
  inputs in;
  if (f->unusual == 0) {
    if (!match_usual(c, f, in)) match(c, f, in);
  } else if ((f->unusual & frame::has_ranges) == 0) {
    match(c, f, in);
  } else {
    match_with_ranges(c, f, in);
  }
  if (c.seen_busy && in.reads == f->accesses) return wait_for_reads(c, f, in);
  return start_counted(c, f, in);
}

// A task with commutative or concurrent accesses: reads of the groups that they join.
void match_in_groups(context& c, frame* f, inputs& in) {
  matching_right held(c, f);
  validate_all(c, f, held);
  stream_plan streams(f);
  joined_groups groups(c, f, nullptr);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  groups.join();
  in = match_accesses(c, f, streams);
  announce_versions(c, f, in, &streams);
}

void match_in_groups_of_ranges(context& c, frame* f, inputs& in) {
  ranges_right held(c, f);
  frame* const parts = held.parts();
  validate_all(c, f, held);
  stream_plan streams(f);
  joined_groups groups(c, f, parts);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  static_cast<void>(held.take_parts());
  groups.join();
  in = match_accesses(c, f, streams);
  announce_versions(c, f, in, &streams);
  if (parts != nullptr) match_parts(c, f, parts, in);
}

[[gnu::noinline]] bool submit_in_groups(context& c, frame* f) {
  const visit here(c);
  f->pending.store(frame::being_created + f->accesses, std::memory_order_relaxed);
  inputs in;
  if ((f->unusual & frame::has_ranges) == 0) match_in_groups(c, f, in);
  else match_in_groups_of_ranges(c, f, in);
  return start_counted(c, f, in);
}

inline bool submit_whatever(context& c, frame* f) {
  return (f->unusual & frame::has_groups) != 0 ? submit_in_groups(c, f) : submit_counted(c, f);
}

bool submit_with_streams(context& c, frame* f) {
  return names_only_streams(c, f) ? submit_streams(c, f) : submit_counted(c, f);
}

// A stage of a pipeline is mostly ready at once, and known to nobody before. True: it was. False: nothing has happened.
inline bool match_ready_stage(context& c, frame* f) {
  access* const a = f->accesses != 0 ? f->access_at(0) : nullptr;
  version* const v = f->versions != 0 ? f->version_at(0) : nullptr;
  if (a != nullptr && a->kind() != waiter_kind::window) return false;
  if (v != nullptr && v->kind != version_kind::push) return false;
  auto* const from = a != nullptr ? static_cast<stream_state*>(a->stream) : nullptr;
  auto* const to = v != nullptr ? static_cast<stream_state*>(v->owner) : nullptr;
  const visit here(c);
  matching_right held(c, f);
  if (from != nullptr && (from->runtime != c.common.runtime || !lies_in_first_push(*from, a->bytes))) return false;
  if (to != nullptr && (to->runtime != c.common.runtime || !to->unmatched.empty())) return false;
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  if (from != nullptr) open_ready_window(c, f, *from, *a);
  if (to != nullptr) append_unawaited_push(c, *to, *v);
  return true;
}

// Created by a worker: short, too.
[[gnu::noinline]] bool submit_stage(context& c, frame* f) { return match_ready_stage(c, f) || submit_with_streams(c, f); }

// A version that is not published may get its memory at this moment, unless it had that before anybody knew of it. A
// new one will lie where its writer runs; an update's data are where they were.
std::int16_t node_of_newest(const context& c, const datum& d) {
  std::int16_t node = detail::node_unknown;
  if (version* const v = newest_version(d); v != nullptr) {
    const bool replaces = v->kind == version_kind::replace;
    if (v->published() || (replaces && c.common.mode == allocation::at_creation)) node = v->node;
    else if (replaces) node = static_cast<std::int16_t>(placed_node(*v->producer()));
  }
  return node >= 0 ? node : d.last_seen;
}

}  // namespace

// Each is all that there is to do for such a task, in one function that this one ends in: which registers they save is
// much of what a small task costs.
bool submit(context& c, frame* f) {
  constexpr std::uint8_t others = frame::has_streams | frame::has_groups;
  if (c.seen_busy) [[likely]] {
    if (f->unusual == 0) return submit_usual(c, f);
    if (f->unusual == frame::has_updates && f->accesses == 1) return submit_update(c, f);
  }
  if ((f->unusual & (frame::has_ranges | others)) == frame::has_ranges) return submit_ranges(c, f);
  if (!c.seen_busy) return submit_whatever(c, f);
  if (f->unusual == frame::has_streams) return is_stage(f) ? submit_stage(c, f) : submit_with_streams(c, f);
  return submit_whatever(c, f);
}

int node_near(context& c, datum& d, const char* task) {
  if (d.runtime != c.common.runtime) throw_foreign(task, "datum", d.name);
  if (!c.common.several_nodes) return detail::node_unknown;
  const visit here(c);
  const held_datum held(c, d);
  d.last_seen = node_of_newest(c, d);
  return d.last_seen;
}

}  // namespace weir::flow
