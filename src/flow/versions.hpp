// The life of a version: announced, published, read, unused, dead. README.md has the states and the proof.
//
// Inline, because these few lines are most of what a task costs.
#pragma once

#include "flow/context.hpp"
#include "flow/frames.hpp"

#include <atomic>

namespace weir::flow {

// A thread outside the runtime that waits for a version.
struct external_wait : waiter {
  explicit external_wait(void (*wake)(void*), void* argument) : wake_(wake), argument_(argument) { target = static_cast<std::uintptr_t>(waiter_kind::external); }
  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  // After the store the waiting thread may return and this object be gone: the rest is read first.
  void signal() {
    void (*wake)(void*) = wake_;
    void* argument = argument_;
    done_.store(1, std::memory_order_release);
    wake(argument);
  }

 private:
  atomic<std::uint32_t> done_{0};
  void (*wake_)(void*);
  void* argument_;
};

// Under allocation::at_consumer a version has a place before it has memory: planned by its task's creator, until the
// first reader's says otherwise, or the task begins. Creators of readers and the task's worker may do so at the same
// time: creators only change what the task's creator planned, and the worker takes that away before it allocates. What
// comes between is without effect. Nothing else depends on this word, so all is relaxed.
constexpr std::int16_t least_plan = 16;  // beyond all places that pools know by negative numbers
constexpr std::int16_t planned_by_creator(int node) { return static_cast<std::int16_t>(-least_plan - node); }
constexpr bool is_planned_by_creator(int place) { return place <= -least_plan; }
inline std::atomic_ref<std::int16_t> place_word(const version& v) {
  return std::atomic_ref(const_cast<std::int16_t&>(v.node));
}
// Negative: nowhere yet, or on several nodes.
inline int place_of(const version& v) { return place_word(v).load(std::memory_order_relaxed); }
inline int planned_place_of(const version& v) {
  const int place = place_of(v);
  return is_planned_by_creator(place) ? -least_plan - place : place;
}
inline void plan_for_reader(version& v, int node) {
  std::int16_t before = place_word(v).load(std::memory_order_relaxed);
  if (is_planned_by_creator(before))  // if this fails another reader was first, or it has begun
    place_word(v).compare_exchange_strong(before, static_cast<std::int16_t>(node), std::memory_order_relaxed,
                                          std::memory_order_relaxed);
}

// The system decides where buffers are. All come from one pool then, and go back to that.
inline bool is_first_touch(const context& c) {
  return c.common.several_nodes && c.common.mode == allocation::first_touch;
}

// Gives a version memory, in the way the runtime's policy says. Throws std::bad_alloc.
inline void allocate_buffer(context& c, version& v) {
  if (v.bytes == 0) return;
  int pool = c.node;
  if (c.common.several_nodes) {
    if (c.common.mode == allocation::interleaved) pool = memory::place_interleaved;
    if (c.common.mode == allocation::first_touch) pool = memory::place_unknown;
  }
  const memory::block b = c.buffers.allocate(v.bytes, pool);
  v.buffer = b.data;
  v.node = static_cast<std::int16_t>(b.place);
}

inline void release_buffer(context& c, version& v) noexcept {
  if (v.buffer == nullptr) return;
  c.buffers.release({v.buffer, v.node, is_first_touch(c) ? memory::place_unknown : v.node}, v.bytes);
  v.buffer = nullptr;
}

// With first touch the system decided; ask it once per block. Where it does not tell, the calling worker has just
// touched the block first, so it is taken to be there.
inline void find_out_place(context& c, version& v) {
  if (v.node != detail::node_unknown || v.buffer == nullptr) return;
  const int told = c.common.buffers.node_of(v.buffer);
  v.node = static_cast<std::int16_t>(told != memory::place_unknown ? told : c.node);
}

namespace implementation {

constexpr std::uint64_t low_half(std::uint64_t users) { return users & 0xffffffffu; }
constexpr std::uint64_t views_in(std::uint64_t users) { return (users & ~version::has_heir) / version::one_view; }

// What is one atomic operation among others is a load and a store for who is alone.
inline std::uint64_t add_users(context& c, version& v, std::uint64_t change) {
  if (!c.alone) return v.users.fetch_add(change, std::memory_order_acq_rel) + change;
  const std::uint64_t users = v.users.load(std::memory_order_relaxed) + change;
  v.users.store(users, std::memory_order_relaxed);
  return users;
}
// `before`: what the caller has just read, and for who is alone still what is there.
inline std::uint64_t subtract_users(context& c, version& v, std::uint64_t n, std::uint64_t before) {
  if (!c.alone) before = v.users.fetch_sub(n, std::memory_order_acq_rel);
  else v.users.store(before - n, std::memory_order_relaxed);
  WEIR_ASSERT(low_half(before) >= n);
  return before - n;
}
inline bool replace_waiters(context& c, version& v, waiter*& expected, waiter* with) {
  if (!c.alone) return v.waiters.compare_exchange_weak(expected, with, std::memory_order_release, std::memory_order_acquire);
  v.waiters.store(with, std::memory_order_release);
  return true;
}
inline waiter* take_waiters(context& c, version& v) {
  if (!c.alone) return v.waiters.exchange(version::published_mark(), std::memory_order_acq_rel);
  waiter* const all = v.waiters.load(std::memory_order_relaxed);
  v.waiters.store(version::published_mark(), std::memory_order_release);
  return all;
}
inline bool last_version_of(context& c, frame* f) {
  // Looked at before: once this version is gone the frame may be another's.
  [[maybe_unused]] const std::uint16_t all = f->versions;
  if (all == 1) return true;
  std::uint16_t before = 0;
  if (!c.alone) {
    before = f->live.fetch_sub(1, std::memory_order_acq_rel);
  } else {
    before = f->live.load(std::memory_order_relaxed);
    f->live.store(static_cast<std::uint16_t>(before - 1), std::memory_order_relaxed);
  }
  WEIR_ASSERT(before > 0 && before <= all);
  return before == 1;
}

}  // namespace implementation

// Name of the task to blame for what a version that failed does not hold.
inline const char* failure_of(version& v) { return failure_of(v.producer()); }

// Its successor takes the place of a datum's current version when nobody uses that any more.
inline void announce_in_place(version& v, std::uint32_t depth) {
  static_cast<datum*>(v.owner)->depth = depth;
  v.heir = nullptr;
  v.users.store(version::while_current, std::memory_order_relaxed);
}

// Puts a waiter on the version's list. False if the version is published already: nothing to wait for.
inline bool subscribe(context& c, version& v, waiter& w) {
  waiter* head = v.waiters.load(std::memory_order_acquire);
  do {
    if (head == version::published_mark()) return false;
    WEIR_ASSERT(head != version::unwanted_mark());  // who waits for it uses it
    w.next = head;
  } while (!implementation::replace_waiters(c, v, head, &w));
  return true;
}

// Of a task with commutative accesses: it is ready, or waits for their tokens (tokens.hpp).
[[gnu::cold]] void make_ready_with_tokens(context&, frame*);

inline void make_ready(context& c, frame* f) {
  if ((f->unusual & frame::has_tokens) != 0) [[unlikely]] return make_ready_with_tokens(c, f);
  f->state.store(frame_state::ready, std::memory_order_relaxed);
  c.ready.push(f);
}

// `n` things less that a task waits for. If nothing else was left nobody else counts: then a look is enough.
inline void drop_pending(context& c, frame* f, std::uint32_t n) {
  if (f->pending.load(std::memory_order_acquire) == n) {
    f->pending.store(0, std::memory_order_relaxed);
    make_ready(c, f);
  } else {
    const std::uint32_t before = f->pending.fetch_sub(n, std::memory_order_acq_rel);
    WEIR_ASSERT(before >= n);
    if (before == n) make_ready(c, f);
  }
}

// Waits for the task's reads, one at a time: true if all are there, from `next_read` on. If not, the task waits for
// the first that is missing, whose producer goes on from here; nothing of the frame may be touched then.
//
// One at a time, because a task whose producers all have to tell it costs two atomic operations an input, and moves
// its frame's line between as many caches. Who is told last finds the others there.
inline bool await_reads(context& c, frame* f) {
  access* const end = f->access_at(f->accesses);
  for (access* a = f->next_read; a != end; a++) {
    if (a->kind() != waiter_kind::read) continue;
    version& v = *a->source;
    if (!v.published()) {
      f->next_read = a;  // again this one: whether it failed is seen only now
      if (subscribe(c, v, *a)) return false;
    }
    if (v.failed) [[unlikely]] f->skipped_because.store(failure_of(v.producer()), std::memory_order_relaxed);
  }
  return true;
}

// A waiter has been told that is not simply one of the things its task waits for: of a range that has parts
// (range_parts.hpp); or of a frame that never runs, of a range that was cut (range_cut.hpp), or of a group of accesses
// (access_group.hpp).
void continue_by_kind(context&, const waiter&, const char* cause);

// One thing less that a waiter's task waits for. `cause` is null, or the name of the task whose failure made it
// pointless.
inline void satisfy(context& c, waiter& w, const char* cause) {
  if (w.kind() >= waiter_kind::part_read) [[unlikely]]
    return continue_by_kind(c, w, cause);
  frame* f = w.task();
  if (cause != nullptr && w.kind() != waiter_kind::overwrite)
    f->skipped_because.store(cause, std::memory_order_relaxed);
  drop_pending(c, f, 1);
}

// Nobody but its heir uses the version any more: the heir has one thing less to wait for, once that is published.
inline void tell_heir(context& c, version& v, access& heir) {
  if (!subscribe(c, v, heir)) satisfy(c, heir, v.failed ? failure_of(v.producer()) : nullptr);
}

namespace implementation {

inline void bury(context& c, version& v) {
  release_buffer(c, v);
  frame* f = v.producer();
  // The frame's last version takes the frame along. Frames with one version need no count.
  if (last_version_of(c, f)) free_frame(c, f);
}

// Nobody uses the version, nobody will. If its producer is not done yet, that one buries it.
inline void unwanted(context& c, version& v) {
  if (!v.published()) {
    // Who waits for it uses it: nobody does, or it is published by now.
    waiter* nobody = nullptr;
    while (nobody == nullptr)
      if (replace_waiters(c, v, nobody, version::unwanted_mark())) return;
  }
  bury(c, v);
}

// The low half of `users` just became zero: superseded, and no task reads it any more. An heir keeps the version, and
// has to wait for the producer, too; with views only it may be buried at any moment, by whoever lets go of the last
// one, so nothing of it is looked at.
inline void unused(context& c, version& v, std::uint64_t users) {
  if ((users & version::has_heir) != 0) {
    tell_heir(c, v, *v.heir);
  } else if (users == 0) {
    unwanted(c, v);
  }
}

// One operation: the readers matched since it became current arrive, and it is current no longer. Returns what is
// left; who sees its low half zero goes on with unused().
inline std::uint64_t retire(context& c, version& v, std::uint64_t new_readers, std::uint64_t heir) {
  const std::uint64_t users = add_users(c, v, new_readers * version::one_user + heir - version::while_current);
  WEIR_ASSERT(low_half(users) <= new_readers);
  return users;
}

inline void retire_without_heir(context& c, version& v, std::uint64_t new_readers) {
  const std::uint64_t users = retire(c, v, new_readers, 0);
  if (low_half(users) == 0) unused(c, v, users);
}

// What a version's waiters were waiting for has happened.
inline void tell_one(context& c, waiter& w, const char* cause) {
  if (w.kind() == waiter_kind::read) {
    if (await_reads(c, w.task())) drop_pending(c, w.task(), 1);
  } else if (w.kind() == waiter_kind::external) {
    static_cast<external_wait&>(w).signal();
  } else {
    satisfy(c, w, cause);
  }
}
inline void tell(context& c, waiter* w, const char* cause) {
  while (w != nullptr) tell_one(c, *std::exchange(w, w->next), cause);
}

// Of many some are left to who completes the task (context::rest). Not of one that failed: its name would have to come
// with them.
void tell_several(context&, waiter*, const char* cause);

}  // namespace implementation

// Readers and the stream let go of a version; at the end its buffer returns to its pool. If nobody else is left nobody
// else can come, and a look is enough.
inline void drop_users(context& c, version& v, std::uint64_t n = version::one_user) {
  const std::uint64_t before = v.users.load(std::memory_order_acquire);
  if (before == n && v.published()) return implementation::bury(c, v);
  const std::uint64_t users = implementation::subtract_users(c, v, n, before);
  if (implementation::low_half(users) == 0) implementation::unused(c, v, users);
}

inline void drop_view(context& c, version& v) {
  const std::uint64_t users = implementation::add_users(c, v, std::uint64_t{0} - version::one_view);
  WEIR_ASSERT(implementation::views_in(users + version::one_view) > 0);
  if (users == 0) implementation::unwanted(c, v);
}

// The producer is done: whoever waits is told, or some of them. The version may be gone on return, and with a frame's
// last one the frame.
enum class whom_to_tell : std::uint8_t { all, some };
template <whom_to_tell Whom = whom_to_tell::all>
inline void publish(context& c, version& v, const char* cause) {
  if (cause != nullptr) [[unlikely]] {
    if (v.published()) return drop_view(c, v);  // declare_failed() was before
    v.failed = true;
  }
  waiter* w = implementation::take_waiters(c, v);
  WEIR_ASSERT(w != version::published_mark());
  if (w == version::unwanted_mark()) return implementation::bury(c, v);
  if constexpr (Whom == whom_to_tell::all) return implementation::tell(c, w, cause);
  if (w == nullptr) return;
  w->next != nullptr ? implementation::tell_several(c, w, cause) : implementation::tell_one(c, *w, cause);
}

// Its producer will never run: as publish, but the version stays, as if somebody viewed it, until the producer is
// skipped and publishes it again. What nobody uses is left to that.
inline void declare_failed(context& c, version& v, const char* cause) {
  if (v.published()) return;
  std::uint64_t users = v.users.load(std::memory_order_relaxed);
  do {
    if (users == 0) return;
  } while (!v.users.compare_exchange_weak(users, users + version::one_view, std::memory_order_relaxed, std::memory_order_relaxed));
  v.failed = true;
  implementation::tell(c, implementation::take_waiters(c, v), cause);
}

// The heir is done.
inline void drop_heir(context& c, version& v) {
  const std::uint64_t before = v.users.load(std::memory_order_acquire);
  WEIR_ASSERT((before & version::has_heir) != 0 && implementation::low_half(before) == 0);
  if (before == version::has_heir || implementation::add_users(c, v, std::uint64_t{0} - version::has_heir) == 0)
    implementation::bury(c, v);
}

// By a reader with many inputs: when its outputs are published.
inline void drop_later(context& c, version& v) {
  if (!c.leaves_some || !c.late.add(v)) drop_users(c, v);
}

// A datum without a current version has an open group (access_group.hpp), which so many tasks have joined: nobody
// reads what it leaves behind.
void supersede_group(context&, datum&, std::uint64_t readers);

// A new version takes the place of a datum's current one. The datum is locked.
inline void replace_current(context& c, datum& d, version& v) {
  version* old = d.current;
  const std::uint64_t readers = d.readers;
  d.current = &v;
  d.readers = 0;
  if (old != nullptr) implementation::retire_without_heir(c, *old, readers);
  else if (d.group() != nullptr) [[unlikely]] supersede_group(c, d, readers);
}

// As replace_current, but the successor takes the old version's buffer over once nobody uses it: `heir` then has one
// thing less to wait for. The datum is locked and has a current version. True: nobody uses it any more, which is for
// the caller to tell the heir (tell_heir()).
inline bool succeed_current(context& c, datum& d, version& v, access& heir) {
  version* old = d.current;
  const std::uint64_t readers = d.readers;
  WEIR_ASSERT(old->heir == nullptr);
  old->heir = &heir;
  d.current = &v;
  d.readers = 0;
  return implementation::low_half(implementation::retire(c, *old, readers, version::has_heir)) == 0;
}

// The datum is gone: what is current will have no more readers than those matched, and its group is complete.
inline void let_current_go(context& c, datum& d) {
  const visit here(c);
  if (version* const v = std::exchange(d.current, nullptr); v != nullptr)
    implementation::retire_without_heir(c, *v, d.readers);
  else if (d.group() != nullptr) supersede_group(c, d, d.readers);
}

enum class lock_result { locked, mine_already, busy };
inline lock_result try_lock_resource(context& c, resource& r) {
  std::uint32_t free = 0;
  if (r.owner.compare_exchange_strong(free, c.creator, std::memory_order_acquire, std::memory_order_relaxed)) return lock_result::locked;
  return free == c.creator ? lock_result::mine_already : lock_result::busy;
}

inline void lock_resource(context& c, resource& r) {
  spin_wait wait;
  while (try_lock_resource(c, r) != lock_result::locked) wait.once();
}

inline void unlock_resource(resource& r) { r.owner.store(0, std::memory_order_release); }

// The right to look at one datum's current version, and to change it; inside a visit.
class held_datum {
 public:
  held_datum(context& c, datum& d) : creating_(c.common.creation, c.as_creator, c.alone), datum_(d) {
    if (!creating_.alone()) lock_resource(c, d);
  }
  ~held_datum() {
    if (!creating_.alone()) unlock_resource(datum_);
  }

 private:
  const creating creating_;
  datum& datum_;
};

}  // namespace weir::flow
