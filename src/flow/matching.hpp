// What all ways to match a task share: the right to match it, what is found out meanwhile, and how it waits for its
// reads.
#pragma once

#include "flow/address_domain.hpp"
#include "flow/task.hpp"
#include "flow/versions.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace weir::flow {

// All that a task names, locked: the right to match it where there are several creators. Or just listed, by the only
// one.
class resource_set {
 public:
  struct locked {};
  explicit resource_set(frame* f) { collect(f); }
  // `ranges`: and the records of its ranges, with its parts, which others may use that share their domain.
  resource_set(context& c, frame* f, locked, bool ranges = false, frame* parts = nullptr)
      : context_(&c), ranges_(ranges), parts_(parts) {
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
    std::size_t most = std::size_t{f->versions} + f->accesses;
    for (const frame* p = parts_; p != nullptr; p = p->next) most += p->accesses;
    if (most > inline_.size() && many_ == nullptr) {
      many_ = std::make_unique<resource*[]>(most);
      held_ = many_.get();
    }
    resource** to = held_;
    const access* a = f->access_at(0);
    for (const access* end = a + f->accesses; a != end; a++) {
      const waiter_kind kind = a->kind();
      // An updated datum comes with its version. The lock of their domain is enough for ranges if it is not shared.
      if (kind == waiter_kind::read && (ranges_ || (a->extra() & access::reads_range) == 0)) *to++ = a->wanted;
      else if (kind == waiter_kind::window || kind == waiter_kind::skip) *to++ = a->stream;
    }
    version* v = f->version_at(0);
    for (const version* end = v + f->versions; v != end; v++)
      if (v->kind < detail::version_kind::range || (ranges_ && v->kind == detail::version_kind::range))
        *to++ = v->owner;
    for_each_part(parts_, [&](const access& part) { *to++ = part.wanted; });
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
  const bool ranges_ = false;
  frame* const parts_ = nullptr;
  std::array<resource*, 16> inline_;
  std::unique_ptr<resource*[]> many_;
  resource** held_ = inline_.data();
  std::size_t count_ = 0;
  bool named_twice_ = false;
};

// The right to match a task to the resources it names: of the sole creator, or by locking all of them together. The
// two are apart, so that what is looked at for each task stays in registers.
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

// The same of a task that names user memory: its ranges' records are found, too, in their domain.
class ranges_right {
 public:
  ranges_right(context& c, frame* f);
  ranges_right(const ranges_right&) = delete;
  ranges_right& operator=(const ranges_right&) = delete;
  // What the task accesses beside its records; null: nothing.
  frame* parts() const { return parts_.first; }
  // From now on it goes with the task.
  frame* take_parts() { return std::exchange(parts_.first, nullptr); }
  bool any_named_twice(frame* f) { return locks_ ? locks_->any_named_twice() : resource_set(f).any_named_twice(); }
  bool any_group_is_open() { return domain_.open_groups() != 0; }

 private:
  // As long as there are several creators: of the domain, shared or not.
  class domain_hold {
   public:
    void share(context& c, address_domain& d) {
      d.lock.lock_shared(c.creator);
      domain_ = &d;
      shared_by_ = c.creator;
    }
    void take(address_domain& d) {
      d.lock.lock();
      domain_ = &d;
    }
    void let_go() {
      if (domain_ == nullptr) return;
      shared_by_ != 0 ? domain_->lock.unlock_shared(shared_by_) : domain_->lock.unlock();
      domain_ = nullptr;
      shared_by_ = 0;
    }
    ~domain_hold() { let_go(); }

   private:
    address_domain* domain_ = nullptr;
    std::uint32_t shared_by_ = 0;  // which creator; 0: it is held alone
  };
  void resolve_among_others(frame*);

  context& context_;
  address_domain& domain_;
  const creating creating_;
  domain_hold hold_;
  std::optional<resource_set> locks_;
  struct untaken_parts {
    context& common;
    frame* first = nullptr;
    ~untaken_parts() {
      if (first != nullptr) free_parts(common, first);
    }
  } parts_{context_};
};

// A datum of another runtime, or that has no current version. If it has an open group, that is closed; else throws.
[[gnu::cold]] void make_usable(context&, frame*, datum*);
[[noreturn]] void throw_foreign(const char* task, const char* kind, const char* name);

inline void check_runtime(const context& c, const frame* f, const datum& d) {
  if (d.runtime != c.common.runtime) [[unlikely]] throw_foreign(f->display_name(), "datum", d.name);
}
inline void check_runtime(const context& c, const frame* f, const stream_state& s) {
  if (s.runtime != c.common.runtime) [[unlikely]] throw_foreign(f->display_name(), "stream", s.name);
}
// Whether a task can be matched; throws usage_error if not.
void validate_accesses(context&, frame*);
// Of a task that names something twice.
void validate_repetitions(frame*);
template <class Right>
void validate(context& c, frame* f, Right& held) {
  validate_accesses(c, f);
  // In and out of the same datum, the common reason to name one twice, is right.
  const bool may_be_wrong = f->versions > 1 || ((f->unusual & frame::has_updates) != 0 && f->accesses > 1);
  if (may_be_wrong && held.any_named_twice(f)) validate_repetitions(f);
}

// The same of a task with accesses of groups.
template <class Right>
void validate_all(context& c, frame* f, Right& held) {
  validate_accesses(c, f);
  if (held.any_named_twice(f)) validate_repetitions(f);
}

// Throws std::bad_alloc, and then there are none.
void allocate_outputs(context&, frame*);

// What matching found out about a task's inputs.
struct inputs {
  std::uint32_t depth = 0;      // longest path of tasks up to one of its data
  std::uint32_t reads = 0, updates = 0;
  std::uint32_t satisfied = 0;  // of the others
  access* deepest_read = nullptr;  // the one that will probably be there last; only if there are reads
  bool there = false;              // all that it waits for is there, as was seen while it was matched
};

// The read that will probably be there last is waited for first: most others are there then.
inline bool start_reads(context& c, frame* f, const inputs& in) {
  access& last = *in.deepest_read;
  f->next_read = f->access_at(0);
  return (last.source->published() || !subscribe(c, *last.source, last)) && await_reads(c, f);
}

// A task that only reads and writes data: nobody but its creator, and then whoever it waits for, knows of it, so
// nothing is counted. True: it is ready.
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

inline void announce_usual(context& c, version& v, std::uint32_t depth) {
  datum& d = *static_cast<datum*>(v.owner);
  v.heir = nullptr;
  v.users.store(version::while_current, std::memory_order_relaxed);
  d.depth = depth;
  replace_current(c, d, v);
}

// A task is matched, and so much of what it waits for is there, with what its creator held. True: that is all, and it
// is on no list.
inline bool satisfy_created(context& c, frame* f, std::uint32_t satisfied) {
  if (f->pending.load(std::memory_order_acquire) != satisfied) {
    drop_pending(c, f, satisfied);
    return c.ready.take_if_only(f);
  }
  f->pending.store(0, std::memory_order_relaxed);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  return true;
}

// As a task that waits for it would find out.
inline void note_failure(frame* f, version& there) {
  if (there.failed) [[unlikely]] f->skipped_because.store(failure_of(there.producer()), std::memory_order_relaxed);
}

// As submit(), of a task that names user memory, and neither streams nor groups.
bool submit_ranges(context&, frame*);

}  // namespace weir::flow
