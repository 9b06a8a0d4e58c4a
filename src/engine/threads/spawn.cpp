// Where tasks come from: frames, counts, and what becomes of those that are ready when they are created.
#include "engine/threads/in_place.hpp"

#include <algorithm>
#include <string>

namespace weir::engine {
namespace {

// Short tasks left in the creator's deque for others before it runs further ones at once. More: they are cold when they
// run at last. Fewer: creator and thieves meet in the deque's lines, and others may find too little.
constexpr std::size_t short_tasks_kept = 64;
constexpr std::size_t kept_per_searcher = 8;  // of workers that are looking for tasks, or are being woken for them
// How often their number is looked at, in tasks created: it is in a line that thieves write.
constexpr std::uint32_t spawns_per_look = 16;
constexpr std::uint32_t spawns_per_look_at_cpu = 32;  // so that a look at the clock costs a task little

// What was in the deque when the creator began is of an outer level of a recursion, and larger than what comes; a loop that
// creates large tasks finds nothing there. So many of these, and one more for each worker that is not busy, are left to
// others. More: more of a recursion goes through queues. Fewer: who comes for one finds it gone.
constexpr std::int64_t older_tasks_kept = 2;

const char* name_of(const task_options& o) { return o.name != nullptr ? o.name : "(unnamed)"; }

// With the node in place of what was said by near().
task_options with_node(flow::context& c, const task_options& o) {
  const bool of_memory = o.affinity.datum == nullptr;
  if (o.affinity.node != (of_memory ? placement::of_memory : placement::of_datum) || o.affinity.required)
    throw usage_error(std::string("task ") + name_of(o) + ": affinity names " + (of_memory ? "memory" : "a datum") +
                      " by near(), and a node or `required` beside it; expected one of them");
  task_options placed = o;
  placed.affinity = prefer(of_memory ? flow::node_near(c, o.affinity.memory, o.affinity.memory_bytes)
                                     : flow::node_near(c, *o.affinity.datum, name_of(o)));
  return placed;
}

}  // namespace

void engine::check_affinity(const task_options& o) const {
  if (o.affinity.node >= machine_.node_count() || o.affinity.node < -1)
    throw usage_error(std::string("task ") + name_of(o) + ": affinity names node " + std::to_string(o.affinity.node) +
                      ", the machine has " + std::to_string(machine_.node_count()) + " nodes (0 and up)");
  if (o.affinity.required && !scheduler_.node_has_worker(o.affinity.node))
    throw usage_error(std::string("task ") + name_of(o) + ": require(" + std::to_string(o.affinity.node) +
                      ") can never be met, that node has no worker");
}

// Nothing is called on the way that most tasks take, so no register is saved for it.
frame* engine::create(scope_state* scope, const detail::task_ops* ops, const task_options& o, detail::frame_size size) {
  const bool runs_anywhere = o.affinity.node == -1 && !o.affinity.required;
  if (used_last.engine_id == id_ && runs_anywhere) [[likely]] {
    slot& s = *used_last.current;
    if (s.spawns_until_check != 0) [[likely]] {
      if (void* const memory = s.flow.frames.allocate_at_hand(size.bytes, s.flow.node); memory != nullptr) [[likely]] {
        s.spawns_until_check--;
        return flow::make_frame(s.flow, memory, scope, ops, o, size);
      }
    }
  }
  return create_with_care(scope, ops, o, size);
}

frame* engine::create_with_care(scope_state* scope, const detail::task_ops* ops, const task_options& o,
                                detail::frame_size size) {
  slot& s = current();
  if (s.spawns_until_check-- == 0) look_around_before_creating(s);
  if (o.affinity.node != -1 || o.affinity.required) {
    if (o.affinity.names_memory()) return flow::create_frame(s.flow, scope, ops, with_node(s.flow, o), size);
    check_affinity(o);
  }
  return flow::create_frame(s.flow, scope, ops, o, size);
}

// By a thread of the program more often than it looks at all others.
void engine::look_around_before_creating(slot& s) {
  if (s.depth > 0) return throttle(s);
  refresh_node(s);
  claim_cpu(s);
  if (s.spawns_until_throttle > 0) {
    s.spawns_until_throttle--;  // the task that it is about to create
  } else {
    throttle(s);
    s.spawns_until_throttle = s.spawns_until_check;
  }
  s.spawns_until_check = std::min(s.spawns_until_throttle, spawns_per_look_at_cpu);
  s.spawns_until_throttle -= s.spawns_until_check;
}

void engine::discard(frame* f) noexcept { flow::free_frame(slot_to_release(*this)->flow, f); }

// Counts a task in its scope. True: on credit.
inline bool engine::count_created(slot& s, scope_state* scope) {
  if (scope == nullptr) return false;
  if (s.depth == 0 || scope != s.scope) {
    scope->outstanding.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (s.credits == 0) {
    scope->outstanding.fetch_add(credit_batch, std::memory_order_relaxed);
    s.credits = credit_batch;
  }
  WEIR_ASSERT(s.credits > 0);
  s.credits--;
  return true;
}

// As if it had never been created. Who has seen the task counted waits for it.
[[gnu::noinline]] void engine::uncount_refused(slot& s, scope_state* scope, bool on_credit) {
  s.refused.add(1);
  s.queues.finished.add(1);
  if (on_credit) s.credits++;
  else if (scope != nullptr) scope->outstanding.fetch_sub(1, std::memory_order_relaxed);
  notify_all();
}

// Matches a task to its data. True: it is ready, and nothing else is; what else became ready has been placed.
inline bool engine::match(slot& s, frame* f, scope_state* scope, bool on_credit) {
  bool ready = false;
  try {
    ready = flow::submit(s.flow, f);
  } catch (...) {
    uncount_refused(s, scope, on_credit);
    throw;
  }
  if (s.flow.ready.empty()) [[likely]] return ready;
  if (ready) s.flow.ready.push(f);
  scheduler_.accept_ready(s.queues, s.flow.ready, false);
  return false;
}

void engine::submit(frame* f) {
  slot& s = current();
  scope_state* const scope = f->scope;
  const bool on_credit = count_created(s, scope);
  s.queues.spawned.add(1);
  if (f->has_no_data()) f->state.store(detail::frame_state::ready, std::memory_order_relaxed);
  else if (windows_ != nullptr && windows_->wants(*f) && joins_window(s, *f)) [[unlikely]]
    return submit_in_window(s, f, scope, on_credit);
  else if (!match(s, f, scope, on_credit)) return;
  route_one(s, f);
}

[[gnu::noinline]] bool engine::joins_window(slot& s, frame& f) {
  const bool known = windows_->recognise(f, s.known);
  s.recognised.add(known ? 1 : 0);
  if (known) return false;
  bool wake = false;
  const bool joins = windows_->joins(f, wake);
  if (wake) scheduler_.sleep.wake_any();
  return joins;
}

// It is kept, as soon as it is ready, until the policy has placed it.
[[gnu::noinline]] void engine::submit_in_window(slot& s, frame* f, scope_state* scope, bool on_credit) {
  const std::uint64_t signature = s.known.signature;
  place::windows::mark(*f);
  const bool ready = match(s, f, scope, on_credit);
  if (windows_->add(*f, signature, s.queues.node, s.flow.ready)) scheduler_.sleep.wake_any();
  if (ready) s.flow.ready.push(f);
  if (!s.flow.ready.empty()) scheduler_.accept_ready(s.queues, s.flow.ready, false);
}

inline slot& engine::admit(frame* f) {
  slot& s = current();
  static_cast<void>(count_created(s, f->scope));
  s.queues.spawned.add(1);
  f->state.store(detail::frame_state::ready, std::memory_order_relaxed);
  return s;
}

inline void engine::keep_or_tell(slot& s, frame* f, sched::routing r) {
  if (r == sched::routing::awaited) return;
  if (r == sched::routing::stays) scheduler_.push_own(s.queues, f);
  scheduler_.published(s.queues);
}

void engine::queue(frame* f) {
  slot& s = admit(f);
  keep_or_tell(s, f, scheduler_.route(s.queues, f));
}

// The calling thread is about to sleep, and leaves its CPU to that one's worker.
void engine::submit_control_program(frame* f) {
  if (in_task()) return submit(f);
  slot& s = admit(f);
  sched::routing r = sched::routing::stays;
  if (shared_.several_nodes) r = scheduler_.push_near(s.queues, f, node_of_calling_cpu(), worker_of_calling_cpu());
  if (r == sched::routing::stays) r = scheduler_.route(s.queues, f);
  keep_or_tell(s, f, r);
}

// On the stack of its creator, whose scope it has. What becomes ready by it waits: the creator is to go on. It is not
// counted in the scope while it runs, for it is over before its creator: so of all that lie on top of one another on a
// stack only the lowest is counted, and who waits for its own scope knows how many not to wait for.
inline void engine::run_in_own_scope(slot& s, frame* f) {
  scope_state* const outer_scope = s.scope;
  if (f->scope != outer_scope) enter_scope(s, f->scope);
  if (f->scope != nullptr) s.credits++;
  run_one(s, f);
  if (!s.flow.ready.empty()) scheduler_.accept_ready(s.queues, s.flow.ready, false);
  s.queues.finished.add(1);
  look_after_creators(s);
  if (s.scope != outer_scope) enter_scope(s, outer_scope);
}

// The same of a task of another scope.
void engine::run_created(slot& s, frame* f) {
  scope_state* const outer_scope = s.scope;
  if (f->scope != outer_scope) enter_scope(s, f->scope);
  {
    const run_by_creator inside(s, scope_of(*s.queues.running), f->scope != nullptr);
    run_one(s, f);
  }
  if (!s.flow.ready.empty()) scheduler_.accept_ready(s.queues, s.flow.ready, false);
  finished_one(s);
  if (s.scope != outer_scope) enter_scope(s, outer_scope);
}

// A task that is ready when it is created.
inline void engine::route_one(slot& s, frame* f) {
  const sched::routing r = scheduler_.route(s.queues, f);
  if (r == sched::routing::stays) {
    if (s.depth == 0) {
      if (f->priority >= 0 && guest_runs_task(s, *f->ops) && run_in_place(s, f)) return;
    } else if (f->priority >= 0 && creator_runs_task(s, *f->ops)) {
      const frame& creator = *s.queues.running;
      if (f->scope == creator.scope) return run_in_own_scope(s, f);
      if (may_lie_on(creator, f->scope)) return run_created(s, f);
    }
  }
  keep_or_tell(s, f, r);
}

// Whether a task that is ready when it is created is run by its creator there and then: everything it needs is in the
// caches, and it goes through no queue. Not if that may keep others waiting: there is more in the deque than they take
// meanwhile, larger tasks of outer levels, or many short ones. And not before one like it has finished: it may wait for what
// its creator does next.
inline bool engine::creator_runs_task(slot& s, const detail::task_ops& ops) const {
  if (static_cast<const char*>(__builtin_frame_address(0)) < s.floors.spawns) return false;
  if (!s.queues.nothing_urgent_comes()) return false;
  if (one_worker_) return ops.has_run_before() || ops.is_one_of_many();  // nobody else will find out what they are like
  if (!ops.has_run_before()) return false;
  const auto searching = static_cast<std::size_t>(std::max(scheduler_.sleep.searching(), 0));
  const int not_busy = static_cast<int>(searching) + std::max(scheduler_.sleep.sleeping(), 0);
  if (s.queues.normal.left_before(s.older_tasks_end) >= older_tasks_kept + not_busy) return true;
  if (!s.queues.hunts.sizes().none_long()) return false;
  if (++s.looks_at_own_queue % spawns_per_look == 0) s.queues.normal.look_again();
  return s.queues.normal.size_at_most() >= short_tasks_kept + kept_per_searcher * searching;
}

// As long as there are many others for workers to take.
bool engine::guest_runs_task(slot& s, const detail::task_ops& ops) const {
  if (!guests_run_what_they_create_ || !ops.is_short() || !s.queues.nothing_urgent()) return false;
  const auto searching = static_cast<std::size_t>(std::max(scheduler_.sleep.searching(), 0));
  if (++s.looks_at_own_queue % spawns_per_look == 0) s.queues.normal.look_again();
  return s.queues.normal.size_at_most() >= short_tasks_kept + kept_per_searcher * searching;
}

// A task of its creator's own scope is not counted there: that cannot be complete before the creator.
bool engine::run_at_once(scope_state* scope, const detail::task_ops& ops, void (*run)(void* body), void* body) {
  slot& s = current();
  if (tasks_need_frames_) return false;
  if (s.depth == 0) return guest_runs_task(s, ops) && run_in_place(s, scope, ops, run, body);
  if (!creator_runs_task(s, ops)) return false;
  const frame& creator = *s.queues.running;
  if (scope == creator.scope) {
    run_body_at_once(s, scope, ops, run, body);
    return true;
  }
  if (scope == nullptr) {
    run_of_root_at_once(s, creator, ops, run, body);
    return true;
  }
  if (!may_lie_on(creator, scope)) return false;
  scope->begin_at_once();
  {
    const run_by_creator inside(s, scope_of(creator), true);
    run_body_at_once(s, scope, ops, run, body);
  }
  tell_if_any(scope->end_at_once(), scope);
  return true;
}

[[gnu::noinline]] void engine::run_of_root_at_once(slot& s, const frame& creator, const detail::task_ops& ops,
                                                   void (*run)(void* body), void* body) {
  const run_by_creator inside(s, scope_of(creator), false);
  run_body_at_once(s, nullptr, ops, run, body);
}

inline void engine::run_counted_at_once(slot& s, scope_state* scope, const detail::task_ops& ops, void (*run)(void* body), void* body) {
  if (scope != nullptr) scope->outstanding.fetch_add(1, std::memory_order_relaxed);
  run_body_at_once(s, scope, ops, run, body);
  if (scope != nullptr) finish_in(*scope, 1);
}

// Null: all are busy, or the stack is no place for tasks.
inline slot* engine::come_to_place(slot& guest) {
  if (!knows_stack(guest)) [[unlikely]] return nullptr;
  slot* const kept = enter_kept_place(guest);
  return kept != nullptr ? kept : take_place_to_create(guest);
}

// It has no frame but what others may ask of a running task: its scope.
inline void engine::run_body_at_once(slot& s, scope_state* scope, const detail::task_ops& ops, void (*run)(void* body), void* body) {
  s.queues.spawned.add(1);
  frame here{};  // in one piece: nobody looks at it from outside
  here.scope = scope;
  if (ends_early(s, here)) [[unlikely]] {
    record_skipped(&here, of_ended_scope);
  } else {
    frame* const outer = s.queues.running;
    s.queues.running = &here;
    s.depth++;
    const bool timed =
        !one_worker_ && ((s.queues.finished.read() & (tasks_per_sample - 1)) == 0 || s.queues.hunts.sizes().probing());
    const std::uint64_t begin = timed ? os::now_ns() : 0;
    try {
      run(body);
    } catch (...) {
      record_failure(&here, std::current_exception());
    }
    if (timed) note_time(s, ops, begin, os::now_ns());
    if (timed && s.outside != nullptr)
      s.queues.hunts.sizes().note_wait();  // its creator will wait for the scope that it has made
    WEIR_ASSERT(s.queues.running == &here && s.depth > 0);
    s.queues.running = outer;
    s.depth--;
  }
  s.queues.finished.add(1);
}

// By a thread of the program, which creates more than others take.
bool engine::run_in_place(slot& guest, frame* f) {
  slot* const place = come_to_place(guest);
  if (place == nullptr) return false;
  {
    const in_place here(*this, *place, guest.floors);
    place->older_tasks_end = place->queues.end_of_older();
    if (f->scope != place->scope) enter_scope(*place, f->scope);
    run_one(*place, f);
    if (!place->flow.ready.empty()) scheduler_.accept_ready(place->queues, place->flow.ready, false);
    finished_one(*place);
    return_credits(*place, 0);
  }
  leave_after_creating(guest, *place);
  return true;
}

bool engine::run_in_place(slot& guest, scope_state* scope, const detail::task_ops& ops, void (*run)(void* body), void* body) {
  slot* const place = come_to_place(guest);
  if (place == nullptr) return false;
  {
    const in_place here(*this, *place, guest.floors);
    place->older_tasks_end = place->queues.end_of_older();
    run_counted_at_once(*place, scope, ops, run, body);
    return_credits(*place, 0);  // of a task that created others in the scope that the place's last one had, too
  }
  leave_after_creating(guest, *place);
  return true;
}

}  // namespace weir::engine
