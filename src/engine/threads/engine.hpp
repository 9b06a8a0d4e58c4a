// The engine that runs tasks on threads: workers, the program's own threads as guests, waiting, and giving up on tasks
// that can never run. README.md says who wakes whom.
#pragma once

#include "engine/threads/bulk.hpp"
#include "engine/threads/floors.hpp"
#include "engine/threads/loop_bells.hpp"
#include "engine/threads/loop_groups.hpp"
#include "engine/threads/monitor.hpp"
#include "engine/threads/posted_loops.hpp"
#include "engine/threads/slot.hpp"
#include "engine/threads/substitutes.hpp"
#include "engine/threads/turns.hpp"
#include "flow/flow.hpp"
#include "graph/graph.hpp"
#include "machine/machine.hpp"
#include "place/place.hpp"
#include "sched/sched.hpp"
#include "trace/trace.hpp"

#include <weir/detail/scope_state.hpp>
#include <weir/error.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <array>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::engine {

// Tasks a worker counts for a scope at a time. More: a worker that steals from a scope holds more back until it looks
// for other work, which costs nothing. Fewer: more changes of a word that several workers count in.
inline constexpr std::int64_t credit_batch = 64;

// How often a task's time is taken, powers of two: two looks at the clock, some 50 ns together. On several nodes the
// estimate of a task's time decides how long a worker dozes, and tasks are larger.
inline constexpr std::uint64_t tasks_per_sample = 64, tasks_per_sample_of_several_nodes = 8;

// What a task's uses of pages cost is added up for each until so many in a row had none that is due to move, then for
// one in some, a power of two.
inline constexpr std::uint32_t tasks_at_rest_until_sampled = 64, tasks_per_sample_at_rest = 8;

struct options {
  bool bind = true;
  std::size_t backlog = 0;
  std::uint64_t spin_ns = 0;
  sched::tuning tuned;
  os::stack_size stack = os::usual_stack();  // of each worker
  bool waiting_threads_execute = true;
  bool guests_run_what_they_create = false;
  trace::recorder* recorder = nullptr;  // null: no trace. Outlives the workers
  std::function<void(sched::scheduler&, int worker)> worker_begins;  // by each, before anything else; for tests
};

class engine {
 public:
  // The machine must outlive the engine. `worker_cpus[i]`: index of the CPU of worker i.
  engine(const machine::description&, std::vector<int> worker_cpus, place::chosen, const options&);
  // Stops the workers; no task may be outstanding.
  ~engine();
  // Ends the worker threads. Afterwards only releasing data still works. Idempotent.
  void stop();

  // The calling thread's slot: a worker's own, or a guest's, made on first use.
  slot& current() {
    if (used_last.engine_id == id_) [[likely]] return *used_last.current;
    return guest_slot();
  }
  // The same; null if it can have none, for want of memory or because too many threads have one.
  slot* current_if_any() noexcept {
    if (used_last.engine_id == id_) [[likely]] return used_last.current;
    return guest_slot_if_any();
  }

  frame* create(scope_state*, const detail::task_ops*, const task_options&, detail::frame_size);
  void discard(frame*) noexcept;
  void submit(frame*);
  void queue(frame*);  // as submit(), of a task without data, and it is not run at once
  // As queue(), of a task that the calling thread waits for and does not execute: where that is on several nodes, which
  // is where most of what it has written lies. In a task as submit().
  void submit_control_program(frame*);
  // A task without data and options, by its creator; as create(), submit() and execute(). False: not now.
  bool run_at_once(scope_state*, const detail::task_ops&, void (*run)(void* body), void* body);
  // After something was released outside of tasks: what became ready by it is queued.
  void route_released(slot& s) {
    if (!s.flow.ready.empty()) scheduler_.accept_ready(s.queues, s.flow.ready, false);
  }

  // Waits until done() holds; done() must become true through tasks finishing, versions being published or the like. A
  // worker executes other tasks meanwhile, a guest those that it may, in the place of a worker that is not busy.
  // Throws deadlock_error if that can no longer happen; who must not be left before (may_fail is false) waits until
  // others have been given up. `of`: if it is a scope that is waited for. `windows`: none, if what is waited for is in
  // no window of tasks, and the thread will create others afterwards.
  enum class windows_to_wait_for : std::uint8_t { any, none };
  void wait_until(const std::function<bool()>& done, const permission& of_guest, bool may_fail = true,
                  const scope_state* of = nullptr, windows_to_wait_for windows = windows_to_wait_for::any);
  // Throws weir::error if the calling thread cannot wait: in a forked child, and in a task so deep in nested waits
  // that the worker's stack has no room for executing another one, and there is no thread or memory for another stack.
  void throw_if_unable_to_wait() {
    throw_if_forked();
    const slot* const s = current_if_any();
    if (s != nullptr && stack_is_low(*s)) [[unlikely]] throw_if_no_stack_is_left(*s);
  }
  // Runs a parallel loop: the calling thread, if it can, and whoever else has time. Throws as a scope's wait does,
  // after everybody has left it.
  void run_loop(detail::loop_work&);
  // Between chunks. False: it is to be left early.
  bool loop_goes_on(slot&);
  bool loop_awaits(int worker) const;
  // Starts a run of a graph, which was prepared; its scope is complete when it is over.
  void start(detail::graph_state&);
  void start(bulk_run&);
  void check(const detail::graph_state&) const;  // throws usage_error for an affinity that cannot be
  void check(const bulk_places&, std::size_t tasks) const;
  // Whether several workers share a queue, and so can take what has most behind it first.
  bool takes_by_rank() const {
    return scheduler_.worker_count() > 1 && scheduler_.policy().discipline == policy::queues::nodes;
  }
  // Most waits in a recursion: the calling thread has run all the tasks itself.
  bool is_over(const scope_state& scope) const {
    if (!scope.is_over()) return false;
    return scope.maker != nullptr ? running_task() == scope.maker : !forked();
  }
  // Waits for all tasks of a scope; in a task of that scope: for all others.
  void wait_for(scope_state&, bool may_fail = true);
  // The same, but who is in no task leaves them all to workers. `for_others`: than a task without data, which is in no
  // window.
  void wait_for_workers(scope_state&, bool for_others);
  // Tells threads of the program that sleep to look again.
  void notify_waiters();
  // As notify_waiters, and workers that wait inside a task look again, too.
  void notify_all();
  static void notify(void* self) { static_cast<engine*>(self)->notify_all(); }

  // Every task ever spawned is done.
  bool quiescent() const;
  bool in_task() const;
  bool blocks_in_task() const { return blocks_in_task_of == id_; }

  // Before and after the calling thread may block (blocking.cpp). Null: it is in no task, or there is no memory for
  // this.
  class away;
  static away* leave_to_block() noexcept;
  static void come_back(away*) noexcept;

  // A hint: no worker executes a task, as far as one look at a shared line tells.
  bool nobody_busy() const {
    const sched::sleep_control<>& s = scheduler_.sleep;
    return s.searching() + s.sleeping() + s.places_kept() >= scheduler_.worker_count();
  }
  void throw_if_forked() const {
    if (forked()) [[unlikely]] throw_forked();
  }

  const machine::description& machine() const { return machine_; }
  sched::scheduler& scheduler() { return scheduler_; }
  const sched::scheduler& scheduler() const { return scheduler_; }
  flow::shared& shared() { return shared_; }
  const flow::shared& shared() const { return shared_; }
  scope_state& root() { return root_; }
  const scope_state& root() const { return root_; }

  // Tasks of the scope, and of those that are waited for in its tasks, are skipped if they have not started. One of
  // scope_state's reasons.
  void end_early(scope_state& s, std::uint32_t reason) noexcept {
    // First, so that who forgets the reason takes away no more than was added.
    watched_.fetch_add(1, std::memory_order_relaxed);
    if (s.reasons_to_skip.fetch_or(reason, std::memory_order_release) != 0)
      watched_.fetch_sub(1, std::memory_order_relaxed);
  }
  void begin_anew(scope_state& s) noexcept { forget(s, scope_state::was_cancelled | scope_state::has_failed); }
  // Who has waited will be told of a failure. For one of the scope's own tasks it stays cancelled, for others it is
  // new.
  void end_of_wait(scope_state& s) noexcept {
    if (s.reasons_to_skip.load(std::memory_order_relaxed) == 0) [[likely]] return;
    if (in_task_of(s)) forget(s, scope_state::has_failed);
    else begin_anew(s);
  }
  // For a task of the scope that runs, or is about to run, on this thread.
  bool ends_early(const slot& s, const scope_state& of) const { return any_ends_early() && of.ends_early(s.outside); }
  bool ends_early(const slot& s, const frame& f) const {
    return any_ends_early() && scope_of(f).ends_early(s.outside);
  }
  // Null: the calling thread is in no task of this engine. Any thread may ask, also of a child process.
  const frame* running_task() const {
    const slot* const s = running_slot();
    return s != nullptr ? s->queues.running : nullptr;
  }
  bool in_task_of(const scope_state& scope) const {
    const frame* const f = running_task();
    return f != nullptr && f->scope == &scope;
  }
  scope_outside where_running_task_is() {
    const slot* const s = running_slot();
    const frame* const f = s != nullptr ? s->queues.running : nullptr;
    return {f == nullptr ? nullptr : &scope_of(*f), f == nullptr ? nullptr : s->outside};
  }
  scope_state& scope_of(const frame& f) { return f.scope != nullptr ? *f.scope : root_; }
  const scope_state& scope_of(const frame& f) const { return f.scope != nullptr ? *f.scope : root_; }
  bool bound() const { return bound_; }
  bool bind_refused() const { return bind_refused_.load(std::memory_order_relaxed) != 0; }
  template <class F> void for_each_slot(F&& f) const;

  atomic<std::int32_t> open_ends{0};

  // Windows that the policy has seen, tasks in them, and how long it took to place those; tasks that were recognised.
  struct planned {
    std::uint64_t windows = 0, tasks = 0, ns = 0, recognised = 0;
  };
  planned planned_so_far() const;
  // In a wait for everything: where pages move then, and what has moved.
  void move_at_barrier() {
    if (migration_ != nullptr) migration_->barrier();
  }
  memory::migration::counts moved_so_far() const {
    return migration_ != nullptr ? migration_->so_far() : memory::migration::counts{};
  }

  // The worker's slot if the calling thread is one, whatever the engine; else null.
  static slot* this_worker() { return as_worker.current; }
  bool forked() const { return os::fork_generation() != fork_generation_; }

 private:
  friend class bulk_worker;
  friend class slot_to_release;
  // Of the calling thread, if it is one of this engine's workers.
  const slot* running_slot() const {
    const slot* const s = this_worker();
    return s != nullptr && &s->owner == this ? s : nullptr;
  }
  [[noreturn]] static void throw_forked();
  void throw_if_no_stack_is_left(const slot&);
  bool count_created(slot&, scope_state*);
  void uncount_refused(slot&, scope_state*, bool on_credit);
  bool match(slot&, frame*, scope_state*, bool on_credit);
  bool joins_window(slot&, frame&);
  void keep_or_tell(slot&, frame*, sched::routing);
  slot& admit(frame*);  // a task without data, which is ready
  void submit_in_window(slot&, frame*, scope_state*, bool on_credit);
  // Windows of tasks that the policy wants to see together (windows.cpp).
  void cut_window() {
    if (windows_ != nullptr) [[unlikely]] cut_window_now();
  }
  [[gnu::noinline]] void cut_window_now();
  class waits_for_window;
  // `look_again_ns`: if it is not, when somebody is to look again.
  bool window_is_due(std::uint64_t& look_again_ns) const;
  bool window_is_due() const {
    std::uint64_t unused = 0;
    return windows_ != nullptr && window_is_due(unused);
  }
  // Likewise, by this worker.
  bool is_to_plan(slot&, std::uint64_t& look_again_ns);
  bool plan_window(slot&);
  bool look_ahead(slot&, std::uint64_t& look_again_ns);
  // Where many waited for one version (telling.cpp).
  [[gnu::noinline]] void finish_large(slot&);
  void tell_rest(slot&);
  void tell_some(slot&, flow::waiter* some);
  void help_to_tell(slot&, flow::waiter* some);
  // Null: there are none to tell.
  flow::waiter* take_untold() { return untold_.any() ? untold_.take(told_alone_) : nullptr; }
  void look_around_before_creating(slot&);
  frame* create_with_care(scope_state*, const detail::task_ops*, const task_options&, detail::frame_size);
  bool any_ends_early() const { return watched_.load(std::memory_order_relaxed) != watched_always_; }
  void forget(scope_state& s, std::uint32_t reasons) noexcept {
    if ((s.reasons_to_skip.load(std::memory_order_relaxed) & reasons) == 0) return;
    const std::uint32_t before = s.reasons_to_skip.fetch_and(~reasons, std::memory_order_acquire);
    if (before != 0 && (before & ~reasons) == 0) watched_.fetch_sub(1, std::memory_order_relaxed);
  }
  void start_workers(const std::vector<int>& cpus);  // throws error, and then none is left
  void worker_main(int worker, const std::vector<int>& os_cpus, os::stack_bounds);
  slot& make_worker(int worker);
  void become_worker(slot&, os::stack_bounds);
  frame* next_task(slot&);
  frame* idle(slot&, const std::function<bool()>* nested_condition);
  void rest(slot&, const sched::decision&, const std::function<bool()>& over);
  void execute(slot&, frame*);
  [[gnu::noinline]] frame* leave_in_queue(slot&, frame*);
  static void run_batch(frame*);
  template <bool Watched>
  const char* run_body(slot&, frame*);
  const char* run_watched(slot&, frame*);
  const char* run_logged(slot&, frame*);
  void tell_policy(slot&, policy::event::kind, frame* task) noexcept;
  void count_bytes(slot&, frame*);
  void bring_memory(slot&, frame*) noexcept;
  std::unique_ptr<memory::migration> make_migration();
  void note_time(slot&, const detail::task_ops&, std::uint64_t begin_ns, std::uint64_t end_ns);
  void seek_solitude(slot&, std::uint64_t now_ns);
  // Stands for the name of the task that is to blame.
  static constexpr char of_ended_scope[] = "(of a scope that has ended early)";
  // What the task's scope is told (failure.cpp). `name`: null for the frame's own.
  void record_failure(frame*, const std::exception_ptr&, const char* name = nullptr) noexcept;
  void record_skipped(frame*, const char* cause) noexcept;
  void finished_one(slot&);
  void look_after_creators(slot&);
  void enter_scope(slot&, scope_state*);
  void return_credits(slot&, std::int64_t keep);
  void route_one(slot&, frame*);
  bool creator_runs_task(slot&, const detail::task_ops&) const;
  bool guest_runs_task(slot&, const detail::task_ops&) const;
  // Whether a task that is not of its creator's scope may lie on top of it: else it may wait for a scope that cannot
  // end before its creator does.
  static bool may_lie_on(const frame& creator, const scope_state* scope) { return scope == nullptr || scope->maker == &creator; }
  void run_created(slot&, frame*);
  void run_in_own_scope(slot&, frame*);
  void run_body_at_once(slot&, scope_state*, const detail::task_ops&, void (*run)(void* body), void* body);
  void run_of_root_at_once(slot&, const frame& creator, const detail::task_ops&, void (*run)(void* body), void* body);
  void run_counted_at_once(slot&, scope_state*, const detail::task_ops&, void (*run)(void* body), void* body);
  void run_one(slot&, frame*);
  void wait_for_others(slot&, scope_state&, bool may_fail);
  void help_until(slot&, const std::function<bool()>& done, bool may_fail, const permission& deep_down);
  static bool is_below(const char* floor) { return static_cast<const char*>(__builtin_frame_address(0)) < floor; }
  static bool stack_is_low(const slot& s) { return s.depth > 0 && is_below(s.floors.waits); }
  // A thread of the program in the wait that it executes in, and what becomes ready there.
  static bool may_go_on_with(const slot& s, const frame& f) {
    return s.floors.only == nullptr || s.floors.only->allows(f);
  }
  // In a wait. `deep_down`: what may be executed where little of the stack is left, and of tasks that must not lie on
  // top of those that created them.
  static bool may_execute(const slot& s, const frame& f, const permission& deep_down) {
    return may_go_on_with(s, f) && ((!is_below(s.floors.others) && !f.ops->is_apart()) || deep_down.allows(f));
  }
  [[gnu::noinline]] void help_until_complete(slot*, scope_state&, bool may_fail);
  void wait_for_scope_of_others(const slot*, scope_state&, bool may_fail);
  void sleep_until_complete(const slot*, scope_state&, bool may_fail,
                            windows_to_wait_for windows = windows_to_wait_for::any);
  // For threads that have their turn in a place, at a boundary between two tasks. True: another one had it meanwhile.
  class part_of_thread;
  void gives_place_away(slot&);
  bool let_others_go_on(slot&, const std::function<bool()>* when);
  bool let_another_stand_in(slot&, const std::function<bool()>& until);
  void stand_in(slot&);
  static void give_held_tasks(slot&);
  void substitute_main(substitute&, os::stack_bounds);
  static void give_up_kept_places();
  void pause_spinning(slot&, int round);
  void lend_to_who_wants(slot&);

  // Guests that execute (borrow.cpp).
  class in_place;
  enum class leaving : std::uint8_t { for_a_while, for_good, searching, to_own_thread };
  static bool knows_stack(slot& guest);
  bool execute_while_waiting(slot& guest, const std::function<bool()>& done, const permission&);
  slot* come_to_place(slot& guest);
  int own_cpus_worker_elsewhere(const slot& guest) const;
  slot* enter_kept_place(slot& guest);
  slot* move_to_own_cpu(slot& guest);
  slot* enter_with_care(slot& guest);
  slot* take_place_to_create(slot& guest);
  void claim_cpu(slot& guest);
  bool renews_kept_place(slot& guest);
  void end_claim(slot& guest);
  void drop_claim(slot&);
  void sleep_while_claimed(slot&);
  int workers_away() const;
  bool others_get_on(slot& guest, std::uint64_t now_ns);
  // A thread of the program needs this worker's CPU, and whatever it would do others can.
  bool is_away(const slot& s) const {
    return s.queues.claim.is_made() && s.holds_no_task() && !scheduler_.anything_required_of(s.queues);
  }
  void has_place(slot& guest, int worker);
  void leave_for_a_while(slot& guest, const slot& place);
  void leave_after_creating(slot& guest, slot& place);
  int borrow_place(const std::function<bool()>& done);
  template <class Borrow>
  int borrow_near(Borrow&& borrows);
  int borrow_place_now();
  // The guest has it then, and is busy. Null: all are busy.
  slot* take_place_now(slot& guest);
  slot* has_place_busy(slot& guest, int worker, bool was_last);
  int worker_of_calling_cpu() const;
  leaving execute_in_place(slot& place, slot& guest, const std::function<bool()>& done, const permission&, bool searches_at_first);
  void stop_searching_in_place(slot& place);
  void look_in_searchers_place(slot& place);
  void leave_place(slot& guest, leaving);
  void give_up_kept_place(slot& guest);
  [[gnu::noinline]] bool run_in_place(slot& guest, frame*);
  [[gnu::noinline]] bool run_in_place(slot& guest, scope_state*, const detail::task_ops&, void (*run)(void* body), void* body);

  // Parallel loops (loops.cpp).
  class in_loop;
  using loop_post = posted_loops::post;
  enum class loop_search : std::uint8_t { nothing, ran_one, forbidden };
  struct called_loop {
    loop_post* post = nullptr;    // on which it is, or was; null: nobody was called
    std::uint64_t since_ns = 0;   // 0: of no interest
  };
  template <class Serve>
  bool serve_with(slot&, detail::loop_work&, const loop_post*, bool helps, Serve&&);
  static void nothing_is_left(detail::loop_work&);
  std::uint64_t look_or_help(slot&, detail::loop_work&, const loop_post&);
  std::uint64_t help(slot&, detail::loop_work&, const loop_post&);
  loop_post* share(slot& poster, detail::loop_work&, int worker);
  called_loop serve_own(slot&, slot& poster, detail::loop_work&);
  void run_loop_in_task(slot&, detail::loop_work&);
  void run_loop_of_guest(slot& guest, detail::loop_work&);
  called_loop serve_in_place(slot& guest, slot& place, detail::loop_work&);
  called_loop leave_to_others(slot& guest, detail::loop_work&);
  void is_left(slot& poster, const detail::loop_work&, const called_loop&);
  slot* place_for_loop(slot& guest);
  bool nobody_is_left(const loop_post&) const;
  void announce(const slot&, slot& poster, detail::loop_work&);
  void fetch_loop(const slot& poster, const slot& comes) const;
  void call_sleepers(const slot&, detail::loop_work&);
  static bool are_wanted(const detail::loop_work&);
  void counts_as_busy_in_loops(slot&);
  static bool may_help(const slot& s) { return s.depth == 0 || (s.floors.only == nullptr && !is_below(s.floors.others)); }
  // Who was looking for tasks all the time has heard of what was posted meanwhile; but others look for it now and
  // then.
  static constexpr int rounds_per_look_for_loops = 8;
  bool looks_for_loops(const slot& s, int round) const {
    return round % rounds_per_look_for_loops == rounds_per_look_for_loops - 1 || s.queues.bell_rings();
  }
  loop_search look_for_loops(slot&);
  loop_search help_with_loops(slot&, const permission*);
  loop_search help_with_loops_of(slot& poster, slot&, const permission*);
  loop_search visit_loop(loop_post&, slot&, const permission*, std::uint64_t& again_ns);
  bool any_work_in_next_place(slot&, std::uint64_t now_ns);
  bool goes_on_with_loops(slot&);
  bool waits_beside(slot&, const loop_post&, std::uint64_t until_ns, std::uint64_t& looks_for_work_at_ns);
  void tell_poster(std::int32_t who, const scope_state* of);
  bool any_loop_is_up() const;
  bool any_loop_for(const slot&) const;
  static bool is_in(const slot&, const loop_post&);

  void throttle(slot&);
  void check_affinity(const task_options&) const;  // throws usage_error
  void wait_to_create(slot&);
  bool frames_fill_their_share() const;
  std::uint64_t finished_now() const;
  std::int64_t backlog_now() const;
  void wake_nested_waiters();
  // Tasks or credits of the scope are done with. If those were all, who waits for it is told; it may be gone by then.
  void finish_in(scope_state& scope, std::int64_t n) { tell_if_any(scope.finish(n), &scope); }
  void tell_if_any(std::int32_t who, const scope_state* of) {
    if (who != scope_state::nobody) [[unlikely]] tell(who, of);
  }
  [[gnu::noinline]] void tell(std::int32_t who, const scope_state* of);

  // Giving up (give_up.cpp).
  bool everybody_sleeps_for_good() const;
  bool stuck();
  bool anybody_else_visits(const slot& self) const;
  std::string cancel_stuck(slot&);
  void all_asleep();
  std::string take_unheard();
  std::string give_up(slot&);
  bool release_scopes(const std::vector<frame*>& waiting);
  void give_up_a_wait(const std::vector<frame*>& running);

  // Guests: threads of the program. Each is known by a number, and the engine has the number of who has a guest's
  // slot.
  static constexpr std::uint64_t nobody = 0, whoever_lets_go = ~std::uint64_t{0};
  slot& guest_slot();
  slot* guest_slot_if_any() noexcept;
  slot* own_guest_slot() const;
  slot& take_guest_slot();
  int free_guest_slot();
  slot& guest_slot_at(int index);
  slot& make_slot_to_release();
  atomic<std::uint64_t>& guest_at(int index) { return guests_[static_cast<std::size_t>(index - scheduler_.worker_count())]; }
  void forget_guest(std::uint64_t guest);
  static void thread_ends(void*);
  static void make_exit_key();
  void enter_registry();
  void leave_registry();

  slot* slot_at(int index) const { return slots_.at(index); }
  int node_of_calling_cpu() const;
  void refresh_node(slot&);

  const machine::description& machine_;
  const std::uint64_t id_;            // never reused: threads remember their slot by it
  const std::uint32_t fork_generation_;
  std::size_t backlog_limit_;
  const std::uint64_t most_frame_bytes_;  // of tasks, beyond which the limit is no soft one
  const std::uint64_t most_used_up_bytes_;  // of stacks, beyond which a nested wait is an error
  flow::shared shared_;
  const std::uint64_t sample_mask_;  // a worker's task is timed if its count of finished ones has none of these bits
  sched::scheduler scheduler_;
  place::windows* const windows_ = scheduler_.windows();  // null: none
  const std::unique_ptr<memory::migration> migration_ = make_migration();  // null: the program's own memory stays
  atomic<std::uint64_t> planning_ns_{0};  // by one thread at a time
  scope_state root_;
  scope_state given_up_;  // of tasks that their own scope no longer waits for; nobody asks it for failures
  slot_table slots_;
  std::vector<atomic<std::uint64_t>> guests_;  // by index of slot, from the first guest's on
  std::mutex guests_mutex_;
  std::mutex release_mutex_;   // of those who let go and have no slot
  slot& slot_to_release_;
  engine* older_ = nullptr;    // in the registry
  std::vector<int> node_of_os_cpu_;
  std::vector<int> worker_of_os_cpu_;  // one that may be bound there; -1: none
  const bool bound_;
  const bool each_cpu_has_worker_;  // that is bound to it
  const std::uint64_t spin_ns_;
  const bool one_worker_;
  const std::uint32_t told_alone_;  // of those that wait for one version, by the worker that publishes it
  const os::stack_size stack_;
  const bool waiting_threads_execute_, guests_run_what_they_create_;
  trace::recorder* const recorder_;
  const std::function<void(sched::scheduler&, int worker)> worker_begins_;
  const bool tasks_need_frames_;  // for traces, which have them outlive their tasks, and for policies that observe
  // Why workers do more about a task than to run it: run_watched(). One for all that is so as long as the engine lives,
  // and one for each scope that has ended early.
  const std::uint32_t watched_always_;
  atomic<std::uint32_t> watched_{watched_always_};
  atomic<std::uint32_t> bind_refused_{0};
  atomic<std::uint32_t> stopping_{0};
  std::latch workers_to_come_;
  atomic<std::int32_t> worker_without_memory_{-1};  // one that could not be started
  atomic<std::int32_t> nested_waiters_{0};
  atomic<std::uint64_t> used_up_bytes_{0};  // of stacks on which there is no room, and others stand in for their threads
  atomic<std::int32_t> claimed_cpus_{0};  // of workers, by threads that create tasks there
  atomic<std::int32_t> blocking_{0};  // threads that have called weir::blocking() in a task and have not come back

  const std::uint32_t line_ns_ = scheduler_.ns_of_far_line();  // for helpers of loops
  const loop_groups groups_{machine_.node_count(), scheduler_.worker_count()};
  loop_bells bells_{groups_.count()};
  flow::shared_untold untold_;
  // Threads of the program that sleep: those that wait for something, and creators that are too far ahead.
  monitor waiting_, too_far_ahead_;
  std::mutex give_up_mutex_;
  std::string unheard_;  // guarded by it: what no thread outside of places was there to be told
  atomic<std::uint32_t> anything_unheard_{0};
  // Node where a thread of the program found no place; -1: none has, since somebody there offered his.
  alignas(cache_line_bytes) atomic<std::int32_t> place_wanted_on_{-1};
  std::vector<std::vector<int>> worker_cpus_;  // that each is bound to, the system's numbers
  std::vector<os::thread> threads_;
  substitutes substitutes_;
};

// The slot of a thread that lets go of something, which never fails: its own, or, if it can have none, one that all
// such threads share, one after the other. The engine must outlive it.
class slot_to_release {
 public:
  explicit slot_to_release(engine& e) noexcept : slot_(e.current_if_any()) {
    if (slot_ != nullptr) return;
    alone_ = std::unique_lock(e.release_mutex_);
    slot_ = &e.slot_to_release_;
  }
  slot& operator*() const { return *slot_; }
  slot* operator->() const { return slot_; }

 private:
  std::unique_lock<std::mutex> alone_;
  slot* slot_;
};

// The last thing about a task.
// Credits are for the scope of the running task: it cannot be complete while that runs.
inline void engine::enter_scope(slot& s, scope_state* scope) {
  if (s.credits > 0) return_credits(s, 0);
  s.scope = scope;
}

inline void engine::finished_one(slot& s) {
  s.queues.finished.add(1);
  if (s.scope != nullptr && ++s.credits > 2 * credit_batch) return_credits(s, credit_batch);
  look_after_creators(s);
}

// Those that sleep because they were too far ahead: looked at now and then, as often as they look themselves.
inline void engine::look_after_creators(slot& s) {
  if ((s.queues.finished.read() & 255) != 0 || !too_far_ahead_.anybody_sleeps()) return;
  if (backlog_now() <= static_cast<std::int64_t>(backlog_limit_ / 4 * 3)) too_far_ahead_.wake_all();
}

template <class F>
void engine::for_each_slot(F&& f) const {
  const int end = scheduler_.slot_count();
  for (int i = 0; i < end; i++)
    if (slot* s = slot_at(i)) f(*s);
}

}  // namespace weir::engine
