// Matching a task's accesses to versions.
#include "flow/address_map.hpp"
#include "flow/stages.hpp"
#include "flow/stream.hpp"
#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

namespace weir::flow {
namespace {

using detail::version_kind;

// All that a task names, locked: the right to match it where there are several creators. Or just listed, by the only
// one.
class resource_set {
 public:
  struct locked {};
  explicit resource_set(frame* f) { collect(f); }
  resource_set(context& c, frame* f, locked) : context_(&c) {
    collect(f);
    if (try_all()) return;
    collect(f);
    lock_in_order();
  }
  ~resource_set() {
    if (context_ == nullptr) return;
    for (resource **r = held_, **end = held_ + count_; r != end; r++) unlock_resource(**r);
  }
  resource_set(const resource_set&) = delete;
  resource_set& operator=(const resource_set&) = delete;
  // Whether two accesses of the task name the same.
  bool any_named_twice() {
    if (context_ != nullptr) return named_twice_;
    std::sort(held_, held_ + count_);
    return std::adjacent_find(held_, held_ + count_) != held_ + count_;
  }

 private:
  void collect(frame* f) {
    const std::size_t most = std::size_t{f->versions} + f->accesses;
    if (most > inline_.size() && many_ == nullptr) {
      many_ = std::make_unique<resource*[]>(most);
      held_ = many_.get();
    }
    resource** to = held_;
    const access* a = f->access_at(0);
    for (const access* end = a + f->accesses; a != end; a++) {
      const waiter_kind kind = a->kind();
      if (kind == waiter_kind::read) *to++ = a->wanted;  // an updated datum comes with its version
      else if (kind == waiter_kind::window || kind == waiter_kind::skip) *to++ = a->stream;
    }
    version* v = f->version_at(0);
    for (const version* end = v + f->versions; v != end; v++) *to++ = v->owner;
    count_ = static_cast<std::size_t>(to - held_);
  }

  // The common case: nobody else is creating tasks on these. Whoever finds one taken lets go of all, so nobody waits
  // while holding.
  bool try_all() {
    const std::size_t named = count_;
    count_ = 0;
    for (std::size_t i = 0; i < named; i++) {
      resource* const r = held_[i];
      const lock_result result = try_lock_resource(*context_, *r);
      if (result == lock_result::locked) [[likely]] {
        held_[count_++] = r;
      } else if (result == lock_result::mine_already) {
        named_twice_ = true;
      } else {
        while (count_ > 0) unlock_resource(*held_[--count_]);
        return false;
      }
    }
    return true;
  }

  // Everybody who waits does so in ascending order of address: no cycle.
  void lock_in_order() {
    std::sort(held_, held_ + count_);
    resource** end = std::unique(held_, held_ + count_);
    named_twice_ = end != held_ + count_;
    count_ = static_cast<std::size_t>(end - held_);
    for (std::size_t i = 0; i < count_; i++) lock_resource(*context_, *held_[i]);
  }

  context* const context_ = nullptr;  // null: nothing is locked
  std::array<resource*, 16> inline_;
  std::unique_ptr<resource*[]> many_;
  resource** held_ = inline_.data();
  std::size_t count_ = 0;
  bool named_twice_ = false;
};

// The right to match a task to the resources it names: of the sole creator, or by locking all of them together. The two
// are apart, so that what is looked at for each task stays in registers.
class matching_right {
 public:
  matching_right(context& c, frame* f) : creating_(c.common.creation, c.as_creator, c.alone) {
    if (!creating_.alone()) [[unlikely]] lock(c, f, locks_);
  }
  // Whether two accesses of the task name the same.
  bool any_named_twice(frame* f) { return locks_ ? locks_->any_named_twice() : resource_set(f).any_named_twice(); }

 private:
  [[gnu::noinline]] static void lock(context& c, frame* f, std::optional<resource_set>& locks) {
    locks.emplace(c, f, resource_set::locked());
  }

  const creating creating_;
  std::optional<resource_set> locks_;
};

std::string described(const frame* f, const datum* d) {
  return std::string("task ") + f->display_name() + ": datum " + (d->name ? d->name : "(unnamed)") + " of " + std::to_string(d->bytes / d->element_bytes) + " elements";
}

// A datum in more than one access of a task: several reads, or reads and one new version, make sense.
void check_twice(frame* f, datum* d) {
  int reads = 0, writes = 0, updates = 0;
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::read && a.wanted == d) reads++;
    if (a.kind() == waiter_kind::update && a.wanted == d) updates++;
  }
  for (unsigned i = 0; i < f->versions; i++)
    if (f->version_at(i)->kind == version_kind::replace && f->version_at(i)->owner == d) writes++;
  if (writes + updates > 1) throw usage_error(described(f, d) + " is written by more than one access; name it in one out() or inout()");
  if (updates > 0 && reads > 0) throw usage_error(described(f, d) + " is read by in() and updated by inout(); use in() and out(), or inout() alone");
}

[[noreturn]] void throw_unwritten(frame* f, datum* d) {
  throw usage_error(described(f, d) + " is read, but no task writes it before; write it with out(), or make it from values");
}

[[noreturn, gnu::noinline]] void throw_foreign(const char* task, const char* kind, const char* name) {
  throw usage_error(std::string("task ") + task + ": " + kind + " " + (name != nullptr ? name : "(unnamed)") +
                    " belongs to another weir::runtime; a task may name what was made by the runtime that it is spawned in");
}

inline void check_runtime(const context& c, const frame* f, const datum& d) {
  if (d.runtime != c.common.runtime) [[unlikely]] throw_foreign(f->display_name(), "datum", d.name);
}
inline void check_runtime(const context& c, const frame* f, const stream_state& s) {
  if (s.runtime != c.common.runtime) [[unlikely]] throw_foreign(f->display_name(), "stream", s.name);
}

[[noreturn, gnu::noinline]] void throw_unusable(const context& c, frame* f, datum* d) {
  check_runtime(c, f, *d);
  throw_unwritten(f, d);
}

void validate(const context& c, frame* f, matching_right& held) {
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() == waiter_kind::read && a.wanted->runtime != c.common.runtime) [[unlikely]] throw_unusable(c, f, a.wanted);
    if (a.kind() <= waiter_kind::update && a.wanted->current == nullptr) [[unlikely]] throw_unusable(c, f, a.wanted);
    if (a.kind() == waiter_kind::window || a.kind() == waiter_kind::skip) check_runtime(c, f, *static_cast<const stream_state*>(a.stream));
  }
  for (unsigned i = 0; i < f->versions; i++) {
    const version& v = *f->version_at(i);
    if (v.kind == version_kind::push) check_runtime(c, f, *static_cast<const stream_state*>(v.owner));
    else check_runtime(c, f, *static_cast<const datum*>(v.owner));
  }
  // In and out of the same datum, the common reason to name one twice, is right.
  const bool may_be_wrong = f->versions > 1 || ((f->unusual & frame::has_updates) != 0 && f->accesses > 1);
  if (!may_be_wrong || !held.any_named_twice(f)) return;
  for (unsigned i = 0; i < f->accesses; i++)
    if (f->access_at(i)->kind() == waiter_kind::update) check_twice(f, f->access_at(i)->wanted);
  for (unsigned i = 0; i < f->versions; i++)
    if (f->version_at(i)->kind == version_kind::replace) check_twice(f, static_cast<datum*>(f->version_at(i)->owner));
}

void release_outputs(context& c, frame* f) noexcept {
  for (unsigned i = 0; i < f->versions; i++) release_buffer(c, *f->version_at(i));
}

void allocate_outputs(context& c, frame* f) {
  try {
    for (unsigned i = 0; i < f->versions; i++)
      if (f->version_at(i)->kind != version_kind::update) allocate_buffer(c, *f->version_at(i));
  } catch (...) {
    release_outputs(c, f);
    throw;
  }
}

void claim_addresses(context& c, frame* f) {
  try {
    c.common.addresses->claim(c, f);
  } catch (...) {
    release_outputs(c, f);
    throw;
  }
}

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

// What matching found out about a task's inputs.
struct inputs {
  std::uint32_t depth = 0;      // longest path of tasks up to one of its data
  std::uint32_t reads = 0, updates = 0;
  std::uint32_t satisfied = 0;  // of the others
  access* deepest_read = nullptr;  // the one that will probably be there last; only if there are reads
  bool there = false;              // all that it waits for is there, as was seen while it was matched
};

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
      case waiter_kind::address: found.satisfied++; break;  // claims count for themselves
      case waiter_kind::update:
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
  for (unsigned i = 0; in.updates > 0 && i < f->accesses; i++)
    if (f->access_at(i)->kind() == waiter_kind::update) match_update(c, *f->access_at(i), f);
}

// The read that will probably be there last is waited for first: most others are there then.
inline bool start_reads(context& c, frame* f, const inputs& in) {
  access& last = *in.deepest_read;
  f->next_read = f->access_at(0);
  return (last.source->published() || !subscribe(c, *last.source, last)) && await_reads(c, f);
}

// A task that only reads and writes data: nobody but its creator, and then whoever it waits for, knows of it, so nothing
// is counted. True: it is ready.
inline bool wait_for_reads(context& c, frame* f, const inputs& in) {
  if (!in.there) {
    f->pending.store(1, std::memory_order_relaxed);
    f->state.store(frame_state::waiting, std::memory_order_release);
    if (in.reads != 0 && !start_reads(c, f, in)) return false;
    f->pending.store(0, std::memory_order_relaxed);
  }
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  return true;
}

// The version a read names. Deeper ones are probably there later.
inline const version& match_usual_read(access& a, inputs& in) {
  datum& d = *a.wanted;
  version* const current = d.current;
  if (d.depth > in.depth) {
    in.depth = d.depth;
    in.deepest_read = &a;
  }
  d.readers++;
  a.source = current;
  return *current;
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

inline void announce_usual(context& c, version& v, std::uint32_t depth) {
  datum& d = *static_cast<datum*>(v.owner);
  v.heir = nullptr;
  v.users.store(version::while_current, std::memory_order_relaxed);
  d.depth = depth;
  replace_current(c, d, v);
}

// A task that reads and writes whole data and nothing else: most of them, and short.
[[gnu::always_inline]] inline void match_usual(context& c, frame* f, inputs& in) {
  matching_right held(c, f);
  const unsigned versions = f->versions;
  access* const reads = f->access_at(0);
  access* const reads_end = reads + f->accesses;
  for (access* a = reads; a != reads_end; a++)
    if (a->wanted->runtime != c.common.runtime || a->wanted->current == nullptr) [[unlikely]] throw_unusable(c, f, a->wanted);
  if (versions == 1) check_runtime(c, f, *static_cast<const datum*>(f->version_at(0)->owner));
  else if (versions > 1) validate(c, f, held);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  match_usual_reads(reads, reads_end, in);
  in.reads = f->accesses;
  if (versions == 1) return announce_usual(c, *f->version_at(0), in.depth + 1);
  f->live.store(f->versions, std::memory_order_relaxed);
  for (unsigned i = 0; i < versions; i++) announce_usual(c, *f->version_at(i), in.depth + 1);
}

// Such a task, created by a worker.
[[gnu::noinline]] bool submit_usual(context& c, frame* f) {
  const visit here(c);
  inputs in;
  match_usual(c, f, in);
  return wait_for_reads(c, f, in);
}

// The version that a task's only update leaves behind, if the task has no other outputs.
inline void announce_update(datum& d, version& v, std::uint32_t depth) {
  v.heir = nullptr;
  v.users.store(version::while_current, std::memory_order_relaxed);
  d.depth = depth;
}

// A task that updates one datum and reads nothing else, created by a worker: short, too. It may run before this
// returns, if it is not ready at once.
[[gnu::noinline]] bool submit_update(context& c, frame* f) {
  const visit here(c);
  matching_right held(c, f);
  access& a = *f->access_at(0);
  datum& d = *a.wanted;
  if (d.runtime != c.common.runtime || d.current == nullptr) [[unlikely]] throw_unusable(c, f, &d);
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
  if (old.failed) [[unlikely]] f->skipped_because.store(failure_of(old.producer()), std::memory_order_relaxed);
  f->pending.store(0, std::memory_order_relaxed);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  return true;
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
  if (f->pending.load(std::memory_order_acquire) != satisfied) {
    drop_pending(c, f, satisfied);
    return c.ready.take_if_only(f);
  }
  f->pending.store(0, std::memory_order_relaxed);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  return true;
}

// What needs memory comes first: after that nothing fails.
[[gnu::noinline]] void match(context& c, frame* f, inputs& in) {
  matching_right held(c, f);
  validate(c, f, held);
  stream_plan streams(f);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  if ((f->unusual & frame::has_addresses) != 0) claim_addresses(c, f);
  in = match_accesses(c, f, streams);
  announce_versions(c, f, in, &streams);
}

// Every access counts, and being_created keeps the task from starting while it is being matched.
[[gnu::noinline]] bool submit_counted(context& c, frame* f) {
  const visit here(c);
  f->pending.store(frame::being_created + f->accesses, std::memory_order_relaxed);
  inputs in;
  if (f->unusual == 0) match_usual(c, f, in);
  else match(c, f, in);
  if (c.seen_busy && in.reads == f->accesses) return wait_for_reads(c, f, in);
  f->state.store(frame_state::waiting, std::memory_order_release);  // who sees it waiting sees what was made ready before
  // All reads together count as one.
  const bool reads_there = in.reads > 0 && start_reads(c, f, in);
  drop_pending(c, f, frame::being_created + in.satisfied + (in.reads == 0 ? 0 : in.reads - 1 + (reads_there ? 1 : 0)));
  return c.ready.take_if_only(f);
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
  if (version* const v = d.current; v != nullptr) {
    const bool replaces = v->kind == version_kind::replace;
    if (v->published() || (replaces && c.common.mode == allocation::at_creation)) node = v->node;
    else if (replaces) node = v->producer()->affinity;
  }
  return node >= 0 ? node : d.last_seen;
}

}  // namespace

// Each is all that there is to do for such a task, in one function that this one ends in: which registers they save is
// much of what a small task costs.
bool submit(context& c, frame* f) {
  if (!c.seen_busy) return submit_counted(c, f);
  if (f->unusual == 0) return submit_usual(c, f);
  if (f->unusual == frame::has_updates && f->accesses == 1) return submit_update(c, f);
  if (f->unusual == frame::has_streams) return is_stage(f) ? submit_stage(c, f) : submit_with_streams(c, f);
  return submit_counted(c, f);
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
