// A worker's work: take a task, run it, publish what it wrote, place what became ready.
#include "engine/threads/engine.hpp"

#include <string>

#include <sched.h>

namespace weir::engine {
namespace {

// Rounds of looking everywhere before a worker goes to sleep, some 10-20 us. Fewer: short dips in parallelism cost a
// wake-up each. More: an idle runtime burns CPU, and takes it from the program's own threads.
constexpr int rounds_before_sleep = 48;
constexpr int rounds_between_yields = 8;

void pause_between_rounds(int round) {
  for (int i = 0; i < 16; i++) cpu_pause();
  if (round % rounds_between_yields == rounds_between_yields - 1) sched_yield();
}

}  // namespace

frame* engine::create(scope_state* scope, const detail::task_ops* ops, const task_options& o, std::size_t versions, std::size_t accesses, std::size_t closure_bytes, std::size_t closure_alignment) {
  slot& s = current();
  if (s.spawns_until_check-- == 0) throttle(s);
  if (o.affinity.node >= machine_.node_count() || o.affinity.node < -1)
    throw usage_error(std::string("task ") + (o.name ? o.name : "(unnamed)") + ": affinity names node " + std::to_string(o.affinity.node) + ", the machine has " + std::to_string(machine_.node_count()) + " nodes (0 and up)");
  if (o.affinity.required && !scheduler_.node_has_worker(o.affinity.node))
    throw usage_error(std::string("task ") + (o.name ? o.name : "(unnamed)") + ": require(" + std::to_string(o.affinity.node) + ") can never be met, that node has no worker");
  return flow::create_frame(s.flow, scope, ops, o, versions, accesses, closure_bytes, closure_alignment);
}

void engine::discard(frame* f) noexcept { flow::free_frame(current().flow, f); }

void engine::submit(frame* f) {
  slot& s = current();
  scope_state* scope = f->scope;
  if (scope != nullptr) scope->outstanding.fetch_add(1, std::memory_order_relaxed);
  s.spawned.add(1);
  try {
    flow::submit(s.flow, f);
  } catch (...) {
    s.finished.add(1);
    if (scope != nullptr) scope->outstanding.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  if (!s.flow.ready.empty()) route_ready(s, false);
}

// Places everything that became ready; returns one task to run next if asked to keep one.
frame* engine::route_ready(slot& s, bool keep_one) {
  frame* kept = nullptr;
  bool queued = false;
  while (frame* f = s.flow.ready.pop()) {
    if (scheduler_.route(s.queues, f)) {
      queued = true;
    } else if (keep_one && (kept == nullptr || f->priority > kept->priority)) {
      if (kept != nullptr) {
        scheduler_.push_own(s.queues, kept);
        queued = true;
      }
      kept = f;
    } else {
      scheduler_.push_own(s.queues, f);
      queued = true;
    }
  }
  if (queued) scheduler_.published(s.queues);
  return kept;
}

frame* engine::next_task(slot& s) {
  if (frame* f = scheduler_.take_own(s.queues)) return f;
  return idle(s, nullptr);
}

// Looks everywhere, sleeps, looks again. Null: the engine stops, or the nested condition holds.
frame* engine::idle(slot& s, const std::function<bool()>* nested_condition) {
  sched::sleep_control<>& sleep = scheduler_.sleep;
  sleep.start_searching();
  const auto found = [&](frame* f) {
    if (sleep.stop_searching()) sleep.wake_any();
    return f;
  };
  for (int round = 0;; round++) {
    if (nested_condition != nullptr ? (*nested_condition)() : stopping_.load(std::memory_order_acquire) != 0) return found(nullptr);
    if (frame* f = scheduler_.take_own(s.queues)) return found(f);
    if (frame* f = scheduler_.steal_round(s.queues, round)) return found(f);
    if (round == 0 && monitor_waiters_.load(std::memory_order_relaxed) > 0 && quiescent()) notify_waiters();
    if (round < rounds_before_sleep) {
      pause_between_rounds(round);
      continue;
    }
    s.flow.buffers.flush_counts();
    sleep.sleep(
        s.index(),
        [&] { return scheduler_.any_work_for(s.queues) || (nested_condition != nullptr ? (*nested_condition)() : stopping_.load(std::memory_order_relaxed) != 0); },
        [&] { notify_waiters(); });
  }
}

void engine::execute(slot& s, frame* f) {
  while (f != nullptr) {
    frame* const outer = s.queues.running;
    scope_state* const scope = f->scope;
    s.queues.running = f;
    s.depth++;
    f->state.store(detail::frame_state::running, std::memory_order_relaxed);
    const char* cause = run_body(s, f);
    flow::complete(s.flow, f, cause);
    s.queues.running = outer;
    s.depth--;
    frame* next = s.flow.ready.empty() ? nullptr : route_ready(s, true);
    finished_one(s, scope);
    if (next != nullptr && !s.queues.urgent.empty() && next->priority <= 0) {
      scheduler_.push_own(s.queues, next);
      next = scheduler_.take_own(s.queues);
    }
    f = next;
  }
}

// Null if the outputs are good, else the name of the task that is to blame.
const char* engine::run_body(slot& s, frame* f) {
  scope_state& scope = f->scope != nullptr ? *f->scope : root_;
  const char* cause = f->skipped_because.load(std::memory_order_relaxed);
  if (cause == nullptr && scope.cancelled.load(std::memory_order_relaxed) != 0) cause = "a cancelled scope";
  if (cause != nullptr) {
    if (scope.cancelled.load(std::memory_order_relaxed) == 0 && scope.failed.load(std::memory_order_acquire) == 0)
      record_failure(f, cause, nullptr);
    f->ops->destroy(f);
    return cause;
  }
  if (!bound_) refresh_node(s);
  try {
    const flow::traffic bytes = flow::prepare(s.flow, f);
    f->ops->run(f);
    if (!shared_.several_nodes) {
      s.read_bytes[0].add(bytes.read);
      s.written_bytes[0].add(bytes.written);
    } else {
      count_bytes(s, f);
    }
  } catch (...) {
    cause = f->display_name();
    record_failure(f, cause, std::current_exception());
  }
  f->ops->destroy(f);
  return cause;
}

// By distance from where the task ran to where its data are.
void engine::count_bytes(slot& s, frame* f) {
  flow::find_out_places(s.flow, f);
  const int here = s.queues.node;
  const auto count = [&](std::array<counter, sched::max_distance_classes>& by_class, std::uint64_t bytes, int node) {
    if (node >= 0) {
      by_class[static_cast<std::size_t>(scheduler_.distance_class(here, node))].add(bytes);
    } else if (node == memory::place_interleaved) {
      // Page by page over all nodes: an equal share on each.
      const auto nodes = static_cast<std::uint64_t>(machine_.node_count());
      for (int n = 0; n < machine_.node_count(); n++) by_class[static_cast<std::size_t>(scheduler_.distance_class(here, n))].add(bytes / nodes);
    } else {
      by_class[0].add(bytes);  // the system does not tell: first touch by this very task, as far as anybody knows
    }
  };
  flow::for_each_input(f, [&](std::uint64_t bytes, int node) { count(s.read_bytes, bytes, node); });
  flow::for_each_output(f, [&](std::uint64_t bytes, int node) { count(s.written_bytes, bytes, node); });
}

void engine::record_failure(frame* f, const char* name, std::exception_ptr cause) {
  scope_state& scope = f->scope != nullptr ? *f->scope : root_;
  std::lock_guard guard(scope.lock);
  if (scope.failed.load(std::memory_order_relaxed) != 0) return;
  if (cause == nullptr) {
    scope.first_failure = std::make_exception_ptr(task_cancelled(std::string("task ") + f->display_name() + " was skipped: its input should have come from task " + name + ", which failed"));
  } else {
    std::string message = std::string("task ") + name + " failed: ";
    try {
      std::rethrow_exception(cause);
    } catch (const std::exception& e) {
      message += e.what();
    } catch (...) {
      message += "an exception that is no std::exception";
    }
    scope.first_failure = std::make_exception_ptr(task_failed(message, cause));
  }
  scope.failed.store(1, std::memory_order_release);
}

// The last thing about a task. Its scope may be gone as soon as the count says so.
void engine::finished_one(slot& s, scope_state* scope) {
  s.finished.add(1);
  if (scope != nullptr && scope->outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    notify_all();
  }
  // Creators that sleep because they were too far ahead: looked at now and then, as often as they look themselves.
  if ((s.finished.read() & 255) == 0 && monitor_waiters_.load(std::memory_order_relaxed) > 0 && backlog_now() <= static_cast<std::int64_t>(backlog_limit_ / 4 * 3)) notify_waiters();
}

}  // namespace weir::engine
