// Where tasks come from: frames, counts, and what becomes of those that are ready when they are created.
#include "engine/threads/engine.hpp"

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

// So many tasks on top of one another are a recursion's, and what waits in the deque is larger than what comes. Less
// deep: a loop that creates large tasks is taken for one, and runs them itself while it should create others. Deeper:
// more of a recursion goes through queues.
constexpr std::uint32_t deep_recursion = 8;
constexpr std::size_t recursion_kept = 2;

}  // namespace

void engine::check_affinity(const task_options& o) const {
  if (o.affinity.node >= machine_.node_count() || o.affinity.node < -1)
    throw usage_error(std::string("task ") + (o.name ? o.name : "(unnamed)") + ": affinity names node " + std::to_string(o.affinity.node) + ", the machine has " + std::to_string(machine_.node_count()) + " nodes (0 and up)");
  if (o.affinity.required && !scheduler_.node_has_worker(o.affinity.node))
    throw usage_error(std::string("task ") + (o.name ? o.name : "(unnamed)") + ": require(" + std::to_string(o.affinity.node) + ") can never be met, that node has no worker");
}

frame* engine::create(scope_state* scope, const detail::task_ops* ops, const task_options& o, detail::frame_size size) {
  slot& s = current();
  if (s.spawns_until_check-- == 0) throttle(s);
  if (o.affinity.node != -1 || o.affinity.required) check_affinity(o);
  return flow::create_frame(s.flow, scope, ops, o, size);
}

void engine::discard(frame* f) noexcept { flow::free_frame(slot_to_release(*this)->flow, f); }

void engine::submit(frame* f) {
  slot& s = current();
  scope_state* scope = f->scope;
  const bool on_credit = scope != nullptr && s.depth > 0 && scope == s.scope;
  if (on_credit) {
    if (s.credits == 0) {
      scope->outstanding.fetch_add(credit_batch, std::memory_order_relaxed);
      s.credits = credit_batch;
    }
    s.credits--;
  } else if (scope != nullptr) {
    scope->outstanding.fetch_add(1, std::memory_order_relaxed);
  }
  s.queues.spawned.add(1);
  if (f->has_no_data()) return route_one(s, f);
  try {
    flow::submit(s.flow, f);
  } catch (...) {
    s.refused.add(1);
    s.queues.finished.add(1);
    if (on_credit) s.credits++;
    else if (scope != nullptr) scope->outstanding.fetch_sub(1, std::memory_order_relaxed);
    notify_all();  // who has seen the task counted waits for it
    throw;
  }
  if (s.flow.ready.empty()) return;
  if (s.flow.ready.holds_only(f)) route_one(s, s.flow.ready.pop());
  else route_ready(s, false);
}

// A task that is ready when it is created.
void engine::route_one(slot& s, frame* f) {
  f->state.store(detail::frame_state::ready, std::memory_order_relaxed);
  if (!scheduler_.route(s.queues, f)) {
    if (f->priority >= 0 && creator_runs_task(s)) {
      const frame& creator = *s.queues.running;
      const bool in_its_scope = f->scope == creator.scope;
      if (in_its_scope || may_lie_on(creator, f->scope)) return run_created(s, f, in_its_scope);
    }
    scheduler_.push_own(s.queues, f);
  }
  scheduler_.published(s.queues);
}

// Whether a task that is ready when it is created is run by its creator there and then: everything it needs is in the
// caches, and it goes through no queue. Not if that may keep others waiting: there is more in the deque than they take
// meanwhile, many short tasks, or the larger ones of a recursion.
inline bool engine::creator_runs_task(slot& s) const {
  if (s.depth == 0 || static_cast<const char*>(__builtin_frame_address(0)) < s.floors.spawns || !s.queues.nothing_urgent()) return false;
  if (one_worker_) return true;
  const auto searching = static_cast<std::size_t>(std::max(scheduler_.sleep.searching(), 0));
  if (s.depth >= deep_recursion) return searching == 0 && s.queues.normal.size() >= recursion_kept && scheduler_.sleep.sleeping() == 0;
  if (!s.queues.sizes.none_long()) return false;
  if (++s.looks_at_own_queue % spawns_per_look == 0) s.queues.normal.look_again();
  return s.queues.normal.size_at_most() >= short_tasks_kept + kept_per_searcher * searching;
}

// It has no frame but what others may ask of a running task: its scope. Traces have frames outlive their tasks.
bool engine::run_at_once(scope_state* scope, void (*run)(void* body), void* body) {
  slot& s = current();
  if (!creator_runs_task(s) || s.log != nullptr) return false;
  frame* const outer = s.queues.running;
  const bool counts = scope != nullptr && scope != outer->scope;  // that of its creator cannot be complete before the creator
  if (counts && scope->maker != outer) return false;
  if (counts) scope->outstanding.fetch_add(1, std::memory_order_relaxed);
  s.queues.spawned.add(1);
  frame here{};  // in one piece: nobody looks at it from outside
  here.scope = scope;
  scope_state& its = scope != nullptr ? *scope : root_;
  const run_by_creator inside(s, scope_of(*outer), its, counts);
  if (ends_early(s, its)) [[unlikely]] {
    record_skipped(&here, of_ended_scope);
  } else {
    s.queues.running = &here;
    s.depth++;
    const bool timed = !one_worker_ && ((s.queues.finished.read() & (tasks_per_sample - 1)) == 0 || s.queues.sizes.probing());
    const std::uint64_t begin = timed ? os::now_ns() : 0;
    try {
      run(body);
    } catch (...) {
      record_failure(&here, std::current_exception());
    }
    if (timed) note_time(s, begin, os::now_ns());
    s.queues.running = outer;
    s.depth--;
  }
  s.queues.finished.add(1);
  if (counts && scope->finish(1)) notify_all();
  return true;
}

}  // namespace weir::engine
