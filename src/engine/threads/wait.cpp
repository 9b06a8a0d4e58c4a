// Waiting: workers help, guests sleep if they can do nothing (borrow.cpp); and creators that are too far ahead wait, too.
#include "engine/threads/engine.hpp"

#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <system_error>

namespace weir::engine {
namespace {

// How often a creator looks whether it is too far ahead, in spawns. Less often: the bound is overshot by more.
constexpr std::int64_t least_spawns_between_checks = 64, most_spawns_between_checks = 1024;
// Tasks that a worker executes when it has created too many, before it creates again.
constexpr std::int64_t most_helped = 128;
// A creator that is too far ahead goes on if no task has finished for so long. Longer: a program in which tasks wait for their
// creator takes longer. Shorter: more tasks are created ahead of tasks that take longer than this.
constexpr std::chrono::milliseconds patience_with_others(10);
// Creators help at most this deep: a task that creates inside a task that creates inside ... goes on creating.
constexpr std::uint32_t max_helping_creators = 4;

}  // namespace

bool engine::quiescent() const {
  // Finished first: both sums only grow, and no task is finished before it is counted as spawned. Equal sums in this
  // order mean that at the moment between them nothing was outstanding.
  std::uint64_t finished = 0, spawned = 0;
  atomic_fence(std::memory_order_seq_cst);
  for_each_slot([&](const slot& s) { finished += s.queues.finished.read(); });
  atomic_fence(std::memory_order_seq_cst);
  for_each_slot([&](const slot& s) { spawned += s.queues.spawned.read(); });
  WEIR_ASSERT(finished <= spawned);
  return finished == spawned;
}

std::int64_t engine::backlog_now() const {
  std::uint64_t finished = 0, spawned = 0;
  for_each_slot([&](const slot& s) {
    finished += s.queues.finished.read();
    spawned += s.queues.spawned.read() + s.recorded.read();
  });
  return static_cast<std::int64_t>(spawned - finished);
}

void engine::throttle(slot& s) {
  throw_if_forked();
  s.queues.hunts.creates_tasks();
  const std::int64_t room = static_cast<std::int64_t>(backlog_limit_) - backlog_now();
  // All threads together create half of what there is room for until they look again.
  s.spawns_until_check = static_cast<std::uint32_t>(std::clamp(room / (2 * scheduler_.slot_count()), least_spawns_between_checks, most_spawns_between_checks));
  if (room >= 0) return;
  cut_window();
  if (s.depth == 0) return wait_to_create(s);
  if (s.depth > max_helping_creators || is_below(s.floors.others)) return;
  // A worker goes back and forth at no cost. In small steps, so that others get tasks while this one executes some.
  // The only one executes all that are ready: what it creates next then finds its data there, and can be executed at
  // once.
  const bool alone = scheduler_.worker_count() == 1;
  const std::int64_t enough = static_cast<std::int64_t>(backlog_limit_) - std::min<std::int64_t>(most_helped, static_cast<std::int64_t>(backlog_limit_) / 4);
  const std::int64_t excess = backlog_now() - enough;
  const std::uint64_t end = s.queues.finished.read() + static_cast<std::uint64_t>(std::max<std::int64_t>(excess, 0));
  const older_tasks_kept_in_mind creators(s);
  while ((alone || s.queues.finished.read() < end) && !s.turns.is_due()) {
    frame* f = scheduler_.take_own(s.queues);
    if (f == nullptr) f = scheduler_.steal(s.queues, sched::thief::reach::far, os::now_ns());
    s.queues.hunts.stops_searching();  // it has something to do
    if (f == nullptr) return;
    // One like which has not finished yet may wait for what this creator does next. But where nobody else finds out,
    // for instance with one worker, all would be created before the first is executed.
    const bool may_run = f->ops->has_run_before() || backlog_now() > 2 * static_cast<std::int64_t>(backlog_limit_);
    if (f->ops->is_apart() || (!may_run && !frames_fill_their_share())) return scheduler_.push_own(s.queues, f);
    execute(s, f);
  }
}

// The limit is a soft one, up to a share of the memory. What runs, or is not ready, may wait for what this thread creates or
// does next: so it goes on if somebody is idle and nothing is ready, and, slowly, if nobody gets on.
void engine::wait_to_create(slot& s) {
  give_up_kept_place(s);
  const auto low_water = static_cast<std::int64_t>(backlog_limit_ / 4 * 3);
  const bool full = frames_fill_their_share();
  const int idle = full ? scheduler_.worker_count() : 1;
  bool nothing_is_ready = false;
  for (std::uint64_t before = finished_now();;) {
    const bool may_go_on = too_far_ahead_.sleep_for(nullptr, patience_with_others, [&] {
      atomic_fence(std::memory_order_seq_cst);
      if (backlog_now() <= low_water) return true;
      nothing_is_ready = scheduler_.sleep.sleeping() >= idle && scheduler_.all_queues_empty();
      return nothing_is_ready;
    });
    if (may_go_on) {
      s.times_nobody_got_on = 0;
      if (nothing_is_ready) s.spawns_until_check = most_spawns_between_checks;  // to look is expensive
      return;
    }
    const std::uint64_t now = finished_now();
    if (now == before && !full) break;
    before = now;
  }
  s.spawns_until_check = static_cast<std::uint32_t>(std::min(least_spawns_between_checks << std::min(s.times_nobody_got_on++, 16u), most_spawns_between_checks));
}

bool engine::frames_fill_their_share() const {
  std::uint64_t bytes = 0;
  shared_.frames.for_each_chunk([&](char*, std::size_t chunk_bytes, std::size_t) { bytes += chunk_bytes; });
  return bytes >= most_frame_bytes_;
}

std::uint64_t engine::finished_now() const {
  std::uint64_t finished = 0;
  for_each_slot([&](const slot& s) { finished += s.queues.finished.read(); });
  return finished;
}

void engine::notify_waiters() {
  waiting_.wake_all();
  too_far_ahead_.wake_all();
}

void engine::notify_all() {
  notify_waiters();
  wake_nested_waiters();
}

void engine::wake_nested_waiters() {
  atomic_fence(std::memory_order_seq_cst);
  if (nested_waiters_.load(std::memory_order_relaxed) == 0) return;
  for (int w = 0; w < scheduler_.worker_count(); w++) {
    slot* s = slot_at(w);
    if (s != nullptr && s->nested_waits.load(std::memory_order_relaxed) > 0) scheduler_.sleep.wake(w);
  }
}

void engine::tell(std::int32_t who, const scope_state* of) {
  if (who == scope_state::everybody) notify_all();
  else if (who == scope_state::no_worker) waiting_.wake_those_about(of);
  else scheduler_.sleep.wake(who);
}

// A stack that is used up is all in memory. An endless recursion is to end with this before it has taken the machine's.
void engine::throw_if_no_stack_is_left(const slot& s) {
  const bool room = used_up_bytes_.load(std::memory_order_relaxed) + s.floors.stack_bytes <= most_used_up_bytes_;
  if (s.floors.of_guest || (room && substitutes_.prepare())) return;
  const frame* const running = s.queues.running;
  throw error(std::string("task ") + (running ? running->display_name() : "(unnamed)") + " waits " +
              std::to_string(s.depth) + " tasks deep, and the worker's stack of " +
              std::to_string(s.floors.stack_bytes) +
              " bytes has no room for another one; expected less recursion, or a larger stack "
              "(runtime_options::stack_bytes, WEIR_STACK_BYTES)");
}

// By who is about to wait: what it waits for may be in the window, and it creates nothing meanwhile.
class engine::waits_for_window {
 public:
  explicit waits_for_window(engine& e, windows_to_wait_for which = windows_to_wait_for::any)
      : in_(which == windows_to_wait_for::any ? e.windows_ : nullptr) {
    if (in_ == nullptr) [[likely]] return;
    in_->add_waiting(1);
    e.cut_window_now();
  }
  ~waits_for_window() {
    if (in_ != nullptr) [[unlikely]] in_->add_waiting(-1);
  }
  waits_for_window(const waits_for_window&) = delete;
  waits_for_window& operator=(const waits_for_window&) = delete;

 private:
  place::windows* const in_;
};

// Who waits for a scope is counted there, so that whoever finishes its last task tells this thread. A guest that is in a task
// is woken as the worker is whose place it has.
class counted_waiter {
 public:
  enum class as { member, waiter };
  counted_waiter(scope_state& scope, as kind, const slot* s)
      : scope_(scope), kind_(kind), who_(s != nullptr && s->depth > 0 ? scope_state::number_of_worker(s->index()) : scope_state::no_worker),
        before_(kind == as::member ? scope.add_member(who_) : scope.add_waiter(who_)) {
    if (before_ < 0) throw error("more waits for one weir::scope at once than can be counted");
  }
  ~counted_waiter() {
    if (kind_ == as::member) scope_.remove_member(who_);
    else scope_.remove_waiter(who_);
  }
  counted_waiter(const counted_waiter&) = delete;
  counted_waiter& operator=(const counted_waiter&) = delete;
  bool is_first() const { return before_ == 0; }

 private:
  scope_state& scope_;
  const as kind_;
  const std::int32_t who_;
  const std::int64_t before_;
};

// A task waits for the scope it belongs to: for all others in it. Should another one do the same, they wait for each other,
// and the one that came later fails. (Were both to go on, a parent might go on before its child has.)
void engine::wait_for_others(slot& s, scope_state& scope, bool may_fail) {
  if (s.outside != nullptr && scope.at_once.load(std::memory_order_relaxed) != 0) scope.count_at_once();
  const counted_waiter member(scope, counted_waiter::as::member, &s);
  if (scope.maker != nullptr) heavy_fence();
  wait_until([&scope, first = member.is_first()] { return scope.only_members_left_for_others() && (scope.members() == 1 || !first); }, permission::for_none(), may_fail, &scope);
  if (scope.members() > 1)
    throw deadlock_error(std::string("task ") + s.queues.running->display_name() + " waits for the weir::scope it belongs to, and so does another task of that scope: each waits for the other; "
                         "expected at most one such task, and a scope of its own in each of the others");
}

// What this worker has just spawned comes first; most waits are over with that.
void engine::wait_for(scope_state& scope, bool may_fail) {
  slot* const s = current_if_any();
  if (s != nullptr && s->depth > 0) {
    s->queues.hunts.sizes().note_wait();
    if (s->queues.running->scope == &scope) [[unlikely]] return wait_for_others(*s, scope, may_fail);
  }
  if (scope.maker != nullptr && running_task() != scope.maker) [[unlikely]] return wait_for_scope_of_others(s, scope, may_fail);
  if (!scope.complete()) help_until_complete(s, scope, may_fail);
}

// Its maker may be running one of its tasks, which is not counted unless it knows that somebody else waits.
void engine::wait_for_scope_of_others(const slot* s, scope_state& scope, bool may_fail) {
  const counted_waiter counted(scope, counted_waiter::as::waiter, s);
  heavy_fence();
  wait_until([&scope] { return scope.complete_for_others(); }, permission::for_scope(scope), may_fail, &scope);
}

void engine::wait_for_workers(scope_state& scope, bool for_others) {
  if (in_task()) return wait_for(scope);
  const auto windows = for_others ? windows_to_wait_for::any : windows_to_wait_for::none;
  if (!scope.complete()) sleep_until_complete(current_if_any(), scope, true, windows);
}

void engine::help_until_complete(slot* s, scope_state& scope, bool may_fail) {
  const waits_for_window here(*this);
  const auto complete = [&scope] { return scope.complete(); };
  if (s != nullptr && s->depth > 0) {
    const permission of_scope = permission::for_scope(scope);
    const older_tasks_kept_in_mind creators(*s);
    while (!scope.complete() && !s->turns.is_due() && !stack_is_low(*s)) {
      frame* f = scheduler_.take_own(s->queues);
      if (f == nullptr) break;
      if (!may_execute(*s, *f, of_scope)) {
        scheduler_.push_own(s->queues, f);
        break;
      }
      execute(*s, f);
    }
  } else if (s != nullptr) {
    if (execute_while_waiting(*s, complete, permission::for_scope(scope))) {
      static_cast<void>(take_unheard());  // the scope itself has been told
      return;
    }
  }
  if (!scope.complete()) sleep_until_complete(s, scope, may_fail);
}

// Who is in a task executes others meanwhile.
void engine::sleep_until_complete(const slot* s, scope_state& scope, bool may_fail, windows_to_wait_for windows) {
  const counted_waiter counted(scope, counted_waiter::as::waiter, s);
  wait_until([&scope] { return scope.complete(); }, permission::for_none(), may_fail, &scope, windows);
}

namespace {

// A worker waits inside a task; such waits nest. Only its own thread writes these.
class nested_wait {
 public:
  nested_wait(slot& s, atomic<std::int32_t>& all, bool may_fail) : slot_(s), all_(all), outer_(s.failing_wait.load(std::memory_order_relaxed)), number_(++s.waits_begun) {
    change_by(1);
    s.failing_wait.store(may_fail ? number_ : 0, std::memory_order_relaxed);
    all_.fetch_add(1, std::memory_order_seq_cst);
  }
  ~nested_wait() {
    all_.fetch_sub(1, std::memory_order_relaxed);
    slot_.failing_wait.store(outer_, std::memory_order_relaxed);
    WEIR_ASSERT(slot_.nested_waits.load(std::memory_order_relaxed) > 0);
    change_by(-1);
  }
  nested_wait(const nested_wait&) = delete;
  nested_wait& operator=(const nested_wait&) = delete;
  bool is_given_up() const { return slot_.given_up_wait.load(std::memory_order_acquire) == number_; }

 private:
  void change_by(int n) { slot_.nested_waits.store(slot_.nested_waits.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(n), std::memory_order_relaxed); }

  slot& slot_;
  atomic<std::int32_t>& all_;
  const std::uint64_t outer_, number_;
};

}  // namespace

// Where the stack is used up, or the only task at hand is one that must not be executed on it, another thread has the
// place until this wait is over: that task may be one that others depend on, which this wait needs.
void engine::help_until(slot& s, const std::function<bool()>& done, bool may_fail, const permission& deep_down) {
  const nested_wait here(s, nested_waiters_, may_fail);
  const older_tasks_kept_in_mind creators(s);
  const std::function<bool()> over = [&] { return done() || here.is_given_up(); };
  while (!done()) {
    if (here.is_given_up()) throw deadlock_error(s.given_up_because);
    if (s.turns.is_due() && let_others_go_on(s, &over)) continue;
    if (stack_is_low(s) && let_another_stand_in(s, over)) continue;
    frame* f = scheduler_.take_own(s.queues);
    if (f == nullptr) f = idle(s, &over);
    if (f == nullptr) {
      if (!may_help(s) && any_loop_for(s)) static_cast<void>(let_another_stand_in(s, over));
      continue;
    }
    if (!may_execute(s, *f, deep_down)) {
      scheduler_.push_own(s.queues, f);
      if (let_another_stand_in(s, over)) continue;
      f = scheduler_.take_own(s.queues);  // there is no thread for it: better this one than none
      if (f == nullptr) continue;
    }
    execute(s, f);
  }
}

void engine::wait_until(const std::function<bool()>& done, const permission& of_guest, bool may_fail,
                        const scope_state* of, windows_to_wait_for windows) {
  throw_if_forked();
  const waits_for_window here(*this, windows);
  slot* const s = current_if_any();  // a thread that can have none may wait all the same
  if (s != nullptr && s->depth > 0) {
    return help_until(*s, done, may_fail, of != nullptr ? permission::for_scope(*of) : of_guest);
  }
  if (s != nullptr && !of_guest.allows_nothing() && execute_while_waiting(*s, done, of_guest)) {
    if (const std::string list = take_unheard(); !list.empty()) throw deadlock_error(list);
    return;
  }
  if (s != nullptr) s->flow.buffers.flush_counts();
  std::string deadlock;
  while (!done()) {
    if (s != nullptr) give_up_kept_place(*s);
    waiting_.sleep_until(of, [&] { return done() || stuck(); });
    if (done()) break;
    std::string listed = cancel_stuck(*slot_to_release(*this));
    if (deadlock.empty()) deadlock = std::move(listed);
  }
  if (!deadlock.empty()) throw deadlock_error(deadlock);
}

}  // namespace weir::engine
