// What a thread has that creates or executes tasks, and what is kept about those on its stack.
#pragma once

#include "engine/threads/floors.hpp"
#include "engine/threads/loop_bells.hpp"
#include "engine/threads/posted_loops.hpp"
#include "engine/threads/sweep.hpp"
#include "engine/threads/turns.hpp"
#include "flow/flow.hpp"
#include "place/place.hpp"
#include "sched/sched.hpp"
#include "trace/trace.hpp"

#include <weir/detail/scope_state.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weir::engine {

using sched::counter;

using detail::scope_outside;
// As long as a task waits for a scope, that ends early with the task's own.
class waited_for_inside {
 public:
  // `out.scope`: null if it is no task that waits. Several may wait; the first one counts.
  waited_for_inside(scope_state& s, const scope_outside& out) noexcept : scope_(s), out_(out) {
    const scope_outside* nobody = nullptr;
    first_ = out.scope != nullptr && out.scope != &s && s.outer.compare_exchange_strong(nobody, &out_, std::memory_order_release, std::memory_order_relaxed);
  }
  ~waited_for_inside() {
    if (first_) scope_.outer.store(nullptr, std::memory_order_relaxed);
  }
  waited_for_inside(const waited_for_inside&) = delete;
  waited_for_inside& operator=(const waited_for_inside&) = delete;

 private:
  scope_state& scope_;
  const scope_outside out_;
  bool first_;
};

class bulk_worker;
class engine;
// A thread that creates or executes tasks: a worker, or one of the program's own (a guest).
struct alignas(cache_line_bytes) slot {
  slot(engine& e, flow::shared& shared, sched::slot_queues& q, bool worker)
      : queues(q), owner(e), flow(shared, q.node, static_cast<std::uint32_t>(q.index) + 1, worker) {}

  sched::slot_queues& queues;
  engine& owner;
  flow::context flow;
  std::uint32_t depth = 0;              // tasks on this thread's stack
  std::uint32_t spawns_until_check = 0;
  std::uint32_t looks_at_own_queue = 0;  // by a creator of short tasks
  std::uint32_t times_nobody_got_on = 0;  // one after the other, while this creator waited for others
  std::int64_t older_tasks_end = 0;      // of its deque, when the task began that creates or lies below in its scope
  atomic<std::uint32_t> nested_waits{0};
  std::uint64_t waits_begun = 0;
  atomic<std::uint64_t> failing_wait{0};   // number of the innermost nested wait; 0: there is none, or it may not fail
  atomic<std::uint64_t> given_up_wait{0};  // number of one that is to fail
  std::string given_up_because;            // written before that
  stack_floors floors;                  // of its thread's stack; a worker's, too, while another thread has its place
  scope_state* scope = nullptr;         // workers: of the task they execute, or executed last
  const scope_outside* outside = nullptr;  // of the running task, if a creator runs it
  bulk_worker* bulk = nullptr;          // at a frame of a graph in bulk, the uppermost on this thread's stack
  std::int64_t credits = 0;             // of that scope: counted there as outstanding, but no task
  std::uint64_t alone_since_ns = 0;     // when it was last made alone (flow::solitude)
  std::uint64_t alone_pause_ns = 0;     // until that is tried again
  std::uint32_t tasks_at_rest = 0;      // on memory of the program's own, since pages of one were due to move
  trace::log* log = nullptr;            // workers: what they write down, if anything
  place_turns turns;                    // workers: of the threads that have tasks of this one on their stacks
  std::uint32_t elsewhere = 0;          // those of them, and its own thread, that do not have the place now
  std::uint64_t had_since_ticks = 0;    // if a trace is written: when its thread got the place from another one
  sched::sleep_control<>::keeper keeper;
  int kept_place = -1;                  // guests: of the worker whose place it keeps, or has; -1: of none
  served_loop* loop = nullptr;          // that its thread is in, the innermost
  served_loop* loops = nullptr;         // and all that threads are in as this worker
  std::uint32_t loops_posted = 0;       // ever
  loop_trail last_loop;                 // that it has come to
  sweep looks;                          // for work, beside and between loops: see any_work_in()
  posted_loops posted;
  place::recognition::reader known;     // tasks like those that it creates, which a window has placed
  counter recognised;                   // those of its tasks that are
  counter refused;                      // tasks; in queues they count as spawned and as finished
  counter bulk_tasks;                   // tasks of graphs in bulk that it ran, less their frames, which are counted in queues
  counter recorded;                     // tasks of graphs: finished minus started. They exist anyway and are no backlog
  std::array<counter, sched::max_distance_classes> read_bytes, written_bytes;
  int claimed = -1;                     // guests: the worker on whose CPU they create tasks
  std::uint32_t spawns_until_throttle = 0;  // guests: beyond spawns_until_check
  std::uint64_t looked_at_cpu_ns = 0;   // guests: when they last looked whom they share it with
  std::uint64_t looked_at_others_ns = 0;  // guests: when they last looked whether anything gets done meanwhile
  std::uint64_t finished_by_then = 0;     // guests: all tasks
  bool others_get_on = false;             // guests: what they found then
  long times_blocked = 0;               // guests: how often their thread had by then given it away by itself
  std::unique_ptr<char[]> stagger;      // workers: lies before what they look at of each other

  int index() const { return queues.index; }
  // Else its thread does not have the place for itself, and must not lend it.
  bool holds_no_task() const { return depth == 0 && elsewhere == 0; }
};

// While a worker executes tasks on top of a creator.
class older_tasks_kept_in_mind {
 public:
  explicit older_tasks_kept_in_mind(slot& s) noexcept : slot_(s), end_(s.older_tasks_end) {}
  ~older_tasks_kept_in_mind() { slot_.older_tasks_end = end_; }
  older_tasks_kept_in_mind(const older_tasks_kept_in_mind&) = delete;
  older_tasks_kept_in_mind& operator=(const older_tasks_kept_in_mind&) = delete;

 private:
  slot& slot_;
  const std::int64_t end_;
};

// While a creator runs a task of another scope than its own at once: what is outside of that, other than of a task
// from a queue. A scope that the creator itself has made is waited for by it. The runtime's own has nothing to do with
// it. What is in the deque by now is older than what the task will create.
class run_by_creator {
 public:
  // `made_by_it`: the task's scope was made by its creator. Else it is the runtime's.
  run_by_creator(slot& s, const scope_state& creators, bool made_by_it) noexcept
      : slot_(s), before_(s.outside), out_{&creators, before_}, creators_mark_(s) {
    s.outside = made_by_it ? &out_ : nullptr;
    s.older_tasks_end = s.queues.end_of_older();
  }
  ~run_by_creator() { slot_.outside = before_; }
  run_by_creator(const run_by_creator&) = delete;
  run_by_creator& operator=(const run_by_creator&) = delete;

 private:
  slot& slot_;
  const scope_outside* const before_;
  const scope_outside out_;
  const older_tasks_kept_in_mind creators_mark_;
};

// The slot a thread uses in some engine.
struct thread_binding {
  std::uint64_t engine_id = 0;
  slot* current = nullptr;
};
// Found without a call, for which whoever asks would save registers; that takes 40 of the bytes that the system's
// loader keeps for libraries loaded late.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit thread_binding used_last;  // by the calling thread
// As the worker that it is, while it may use other engines.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit thread_binding as_worker;
// This engine, by weir::blocking(); 0: it does not.
[[gnu::tls_model("initial-exec")]] extern thread_local constinit std::uint64_t blocks_in_task_of;

// The slots of an engine by index, workers first; null: not made yet.
class slot_table {
 public:
  explicit slot_table(std::size_t most) : slots_(most) {}
  ~slot_table() {
    for (auto& s : slots_) delete s.load(std::memory_order_relaxed);
  }
  slot_table(const slot_table&) = delete;
  slot_table& operator=(const slot_table&) = delete;
  slot* at(int index) const { return slots_[static_cast<std::size_t>(index)].load(std::memory_order_acquire); }
  void set(int index, std::unique_ptr<slot> made) { slots_[static_cast<std::size_t>(index)].store(made.release(), std::memory_order_release); }

 private:
  std::vector<atomic<slot*>> slots_;
};

}  // namespace weir::engine
