// Waiting: workers help, guests sleep; and creators that are too far ahead wait, too.
#include "engine/threads/engine.hpp"

#include <optional>
#include <string>
#include <system_error>

namespace weir::engine {
namespace {

// How often a creator looks whether it is too far ahead, in spawns. Less often: the bound is overshot by more.
constexpr std::int64_t least_spawns_between_checks = 64, most_spawns_between_checks = 1024;
// Tasks that a worker executes when it has created too many, before it creates again.
constexpr std::int64_t most_helped = 128;
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
  if (s.depth == 0) refresh_node(s);
  s.queues.robbed = -1;
  const std::int64_t room = static_cast<std::int64_t>(backlog_limit_) - backlog_now();
  // All threads together create half of what there is room for until they look again.
  s.spawns_until_check = static_cast<std::uint32_t>(std::clamp(room / (2 * scheduler_.slot_count()), least_spawns_between_checks, most_spawns_between_checks));
  if (room >= 0) return;
  if (s.depth == 0) {
    const auto low_water = static_cast<std::int64_t>(backlog_limit_ / 4 * 3);
    // When everybody sleeps, what is ready may depend on what is still to be created: go on.
    sleep_until([&] {
      atomic_fence(std::memory_order_seq_cst);
      return backlog_now() <= low_water || (scheduler_.sleep.sleeping() >= scheduler_.worker_count() && scheduler_.all_queues_empty());
    });
    return;
  }
  if (s.depth > max_helping_creators) return;
  // A worker goes back and forth at no cost. In small steps, so that its tasks do not wait while it creates others.
  const std::int64_t enough = static_cast<std::int64_t>(backlog_limit_) - std::min<std::int64_t>(most_helped, static_cast<std::int64_t>(backlog_limit_) / 4);
  const std::int64_t excess = backlog_now() - enough;
  const std::uint64_t end = s.queues.finished.read() + static_cast<std::uint64_t>(std::max<std::int64_t>(excess, 0));
  while (s.queues.finished.read() < end) {
    frame* f = scheduler_.take_own(s.queues);
    if (f == nullptr) f = scheduler_.steal_round(s.queues, sched::scheduler::manners::patient, true);
    if (f == nullptr) return;
    execute(s, f);
  }
}

void engine::notify_waiters() {
  atomic_fence(std::memory_order_seq_cst);
  if (monitor_waiters_.load(std::memory_order_relaxed) == 0) return;
  // Empty section: a waiter that saw its condition false is either before its look or already on the condition
  // variable.
  { std::lock_guard guard(monitor_mutex_); }
  monitor_.notify_all();
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

void engine::sleep_until(const std::function<bool()>& done) {
  monitor_waiters_.fetch_add(1, std::memory_order_seq_cst);
  atomic_fence(std::memory_order_seq_cst);
  {
    std::unique_lock lock(monitor_mutex_);
    monitor_.wait(lock, [&] { return done(); });
  }
  monitor_waiters_.fetch_sub(1, std::memory_order_relaxed);
}

bool engine::stack_is_low(const slot& s) {
  char here;
  return s.depth > 0 && &here < s.floors.waits;
}

void engine::throw_if_unable_to_wait() {
  throw_if_forked();
  const slot* const s = current_if_any();
  if (s != nullptr && stack_is_low(*s))
    throw error(std::string("task ") + (s->queues.running ? s->queues.running->display_name() : "(unnamed)") + " waits " + std::to_string(s->depth) +
                " tasks deep, and the worker's stack of " + std::to_string(s->floors.stack_bytes) +
                " bytes has no room for another one; expected less recursion, or a larger stack (runtime_options::stack_bytes, WEIR_STACK_BYTES)");
}

// What this worker has just spawned comes first; most waits are over with that.
void engine::wait_for(scope_state& scope) {
  slot* const s = current_if_any();
  if (s != nullptr && s->depth > 0) {
    s->queues.sizes.note_wait();
    while (!scope.complete()) {
      frame* f = scheduler_.take_own(s->queues);
      if (f == nullptr) break;
      execute(*s, f);
    }
  }
  if (scope.complete()) return;
  scope.outstanding.fetch_add(scope_state::one_waiter, std::memory_order_acq_rel);
  const auto done_waiting = [&scope] { scope.outstanding.fetch_sub(scope_state::one_waiter, std::memory_order_relaxed); };
  try {
    wait_until([&scope] { return scope.complete(); });
  } catch (...) {
    done_waiting();
    throw;
  }
  done_waiting();
}

// Another thread takes the worker's place until what is waited for has happened; this one sleeps meanwhile, so the
// worker is still one thread at a time.
void engine::wait_on_any_stack(scope_state& scope) {
  slot* const s = current_if_any();
  if (s == nullptr || !stack_is_low(*s)) {
    wait_for(scope);
    return;
  }
  const stack_floors floors = s->floors;
  std::optional<os::thread> second;
  try {
    const auto bound_to = bound_ ? os::affinity_of_this_thread() : std::nullopt;
    second.emplace(stack_, [this, s, &scope, bound_to](os::stack_bounds stack) {
      if (bound_to) os::bind_this_thread(*bound_to);
      become_worker(*s, stack);
      wait_for(scope);
    });
  } catch (const std::exception&) {  // no thread or no memory for one: with what is left of this stack
    wait_for(scope);
    return;
  }
  second->join();
  s->floors = floors;
}

void engine::help_until(slot& s, const std::function<bool()>& done) {
  s.nested_waits.store(s.nested_waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  nested_waiters_.fetch_add(1, std::memory_order_seq_cst);
  while (!done()) {
    frame* f = scheduler_.take_own(s.queues);
    if (f == nullptr) f = idle(s, &done);
    if (f != nullptr) execute(s, f);
  }
  nested_waiters_.fetch_sub(1, std::memory_order_relaxed);
  s.nested_waits.store(s.nested_waits.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

void engine::wait_until(const std::function<bool()>& done) {
  throw_if_forked();
  slot* const s = current_if_any();  // a thread that can have none may wait all the same
  if (s != nullptr && s->depth > 0) {
    help_until(*s, done);
    return;
  }
  if (s != nullptr) s->flow.buffers.flush_counts();
  std::string deadlock;
  while (!done()) {
    sleep_until([&] { return done() || stuck(); });
    if (done()) break;
    std::string listed = cancel_stuck(*slot_to_release(*this));
    if (deadlock.empty()) deadlock = std::move(listed);
  }
  if (!deadlock.empty()) throw deadlock_error(deadlock);
}

}  // namespace weir::engine
