// Matching a task's accesses to versions.
#include "flow/address_map.hpp"
#include "flow/stream.hpp"
#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace weir::flow {
namespace {

using detail::version_kind;

// The resources a task names, locked together.
class resource_set {
 public:
  resource_set(context& c, frame* f) : context_(c), task_(f) {
    const std::size_t most = std::size_t{f->versions} + f->accesses;
    if (most > inline_.size()) {
      many_ = std::make_unique<resource*[]>(most);
      held_ = many_.get();
    }
    if (!try_all()) lock_in_order();
  }
  ~resource_set() {
    for (std::size_t i = 0; i < count_; i++) unlock_resource(*held_[i]);
  }
  resource_set(const resource_set&) = delete;
  resource_set& operator=(const resource_set&) = delete;
  bool named_twice() const { return named_twice_; }

 private:
  template <class F> bool for_each(F&& f) {
    for (unsigned i = 0; i < task_->accesses; i++) {
      access& a = *task_->access_at(i);
      switch (a.kind()) {
        case waiter_kind::read:
        case waiter_kind::update:
          if (!f(static_cast<resource*>(a.wanted))) return false;
          break;
        case waiter_kind::window:
        case waiter_kind::skip:
          if (!f(a.stream)) return false;
          break;
        default: break;
      }
    }
    for (unsigned i = 0; i < task_->versions; i++)
      if (!f(task_->version_at(i)->owner)) return false;
    return true;
  }

  // The common case: nobody else is creating tasks on these. Whoever finds one taken lets go of all, so nobody waits
  // while holding.
  bool try_all() {
    const bool all = for_each([&](resource* r) {
      const lock_result result = try_lock_resource(context_, *r);
      if (result == lock_result::locked) held_[count_++] = r;
      named_twice_ |= result == lock_result::mine_already;
      return result != lock_result::busy;
    });
    if (all) [[likely]] return true;
    while (count_ > 0) unlock_resource(*held_[--count_]);
    return false;
  }

  // Everybody who waits does so in ascending order of address: no cycle.
  void lock_in_order() {
    for_each([&](resource* r) {
      held_[count_++] = r;
      return true;
    });
    std::sort(held_, held_ + count_);
    resource** end = std::unique(held_, held_ + count_);
    named_twice_ = end != held_ + count_;
    count_ = static_cast<std::size_t>(end - held_);
    for (std::size_t i = 0; i < count_; i++) lock_resource(context_, *held_[i]);
  }

  context& context_;
  frame* task_;
  std::array<resource*, 16> inline_;
  std::unique_ptr<resource*[]> many_;
  resource** held_ = inline_.data();
  std::size_t count_ = 0;
  bool named_twice_ = false;
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

void validate(frame* f, const resource_set& held) {
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if ((a.kind() == waiter_kind::read || a.kind() == waiter_kind::update) && a.wanted->current == nullptr) [[unlikely]] throw_unwritten(f, a.wanted);
  }
  if (!held.named_twice()) return;
  for (unsigned i = 0; i < f->accesses; i++)
    if (f->access_at(i)->kind() == waiter_kind::update) check_twice(f, f->access_at(i)->wanted);
  for (unsigned i = 0; i < f->versions; i++)
    if (f->version_at(i)->kind == version_kind::replace) check_twice(f, static_cast<datum*>(f->version_at(i)->owner));
}

void allocate_outputs(context& c, frame* f) {
  try {
    for (unsigned i = 0; i < f->versions; i++)
      if (f->version_at(i)->kind != version_kind::update) allocate_buffer(c, *f->version_at(i));
  } catch (...) {
    for (unsigned i = 0; i < f->versions; i++) release_buffer(c, *f->version_at(i));
    throw;
  }
}

void match_read(access& a) {
  datum& d = *a.wanted;
  d.readers++;
  a.source = d.current;
}

// An update waits until its predecessor is unused; then unused() satisfies it, at once if that is so already.
void match_update(context& c, access& a, frame* f) {
  datum& d = *a.wanted;
  version& old = *d.current;
  a.source = &old;
  succeed_current(c, d, *f->version_at(a.version_index), a);
}

// Placement then need not look at every input's version, each of which is a cache line of another task's.
void find_main_input(frame* f) {
  std::uint64_t all = 0, most = 0;
  unsigned main = 0;
  for (unsigned i = 0; i < f->accesses; i++) {
    const access& a = *f->access_at(i);
    if (a.kind() > waiter_kind::window) continue;
    all += a.bytes;
    if (a.bytes > most) {
      most = a.bytes;
      main = i;
    }
  }
  if (2 * most > all && f->access_at(main)->kind() != waiter_kind::window) f->main_input = static_cast<std::uint16_t>(main);
}

// What matching found out about a task's inputs.
struct inputs {
  std::uint32_t depth = 0;      // longest path of tasks up to one of its data
  std::uint32_t reads = 0, updates = 0;
  std::uint32_t satisfied = 0;  // of the others
  unsigned deepest_read = 0;    // the one that will probably be there last
};

inputs match_accesses(context& c, frame* f) {
  inputs found;
  for (unsigned i = 0; i < f->accesses; i++) {
    access& a = *f->access_at(i);
    switch (a.kind()) {
      case waiter_kind::read:
        found.reads++;
        if (a.wanted->depth >= found.depth) {
          found.depth = a.wanted->depth;
          found.deepest_read = i;
        }
        match_read(a);
        break;
      case waiter_kind::window: found.satisfied += open_window(c, *static_cast<stream_state*>(a.stream), a, f); break;
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

void announce_versions(context& c, frame* f, const inputs& in) {
  for (unsigned i = 0; i < f->versions; i++) {
    version& v = *f->version_at(i);
    resource* owner = v.owner;
    v.heir = nullptr;
    const std::uint64_t until_passed = v.kind == version_kind::push ? version::one_user : version::while_current;
    v.users.store(version::one_user + until_passed, std::memory_order_relaxed);  // the producer's, and that
    if (v.kind != version_kind::push) static_cast<datum*>(owner)->depth = in.depth + 1;
    if (v.kind == version_kind::replace) replace_current(c, *static_cast<datum*>(owner), v);
    if (v.kind == version_kind::push) append_segment(c, *static_cast<stream_state*>(owner), v);
  }
  // Updates come last: they look at what was current before, which cannot be a version of this task.
  for (unsigned i = 0; in.updates > 0 && i < f->accesses; i++)
    if (f->access_at(i)->kind() == waiter_kind::update) match_update(c, *f->access_at(i), f);
}

// The read that will probably be there last is waited for first: most others are there then.
bool start_reads(frame* f, const inputs& in) {
  f->next_read = 0;
  access& last = *f->access_at(in.deepest_read);
  return (last.source->published() || !subscribe(*last.source, last)) && await_reads(f);
}

// A task that only reads and writes data: nobody but its creator, and then whoever it waits for, knows of it, so nothing
// is counted.
void wait_for_reads(context& c, frame* f, const inputs& in) {
  f->pending.store(1, std::memory_order_relaxed);
  f->state.store(frame_state::waiting, std::memory_order_release);
  if (in.reads == 0 || start_reads(f, in)) {
    f->pending.store(0, std::memory_order_relaxed);
    make_ready(c, f);
  }
}

void match(context& c, frame* f, inputs& in) {
  const resource_set held(c, f);
  validate(f, held);
  if (c.common.mode != allocation::deferred) allocate_outputs(c, f);
  if (c.common.several_nodes) find_main_input(f);
  in = match_accesses(c, f);
  announce_versions(c, f, in);
  if (f->claims_addresses) c.common.addresses->claim(c, f);
}

}  // namespace

void submit(context& c, frame* f) {
  // Every access counts, and being_created keeps the task from starting while it is being matched.
  f->pending.store(frame::being_created + f->accesses, std::memory_order_relaxed);
  f->live.store(f->versions, std::memory_order_relaxed);
  inputs in;
  if (f->accesses + f->versions > 0) match(c, f, in);
  if (c.seen_busy && in.reads == f->accesses) return wait_for_reads(c, f, in);
  f->state.store(frame_state::waiting, std::memory_order_release);  // who sees it waiting sees what was made ready before
  // All reads together count as one.
  const bool reads_there = in.reads > 0 && start_reads(f, in);
  drop_pending(c, f, frame::being_created + in.satisfied + (in.reads == 0 ? 0 : in.reads - 1 + (reads_there ? 1 : 0)));
}

}  // namespace weir::flow
