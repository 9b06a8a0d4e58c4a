// weir::runtime: workers, queues and memory pools. One is enough; several may exist, one after the other or at once.
#pragma once

#include <weir/detail/build.hpp>
#include <weir/detail/wrong_call.hpp>
#include <weir/error.hpp>
#include <weir/graph.hpp>
#include <weir/scope.hpp>
#include <weir/statistics.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir {

struct runtime_options {
  int workers = 0;          // 0: one per CPU the process may use (cpuset and cgroup quota respected)
  std::string policy = {};  // "": WEIR_POLICY if set, else "auto". NAME or NAME:parameter=value,...
  // Workers are bound: each to a CPU of its own where a node has as many as it has CPUs, else to the CPUs of its node.
  // Threads that are not weir's are never bound; the system lets those that a task starts inherit its worker's CPUs.
  bool bind = true;
  // "": WEIR_MACHINE if set, else the host ("host"). Else a machine file, the bare name of one that comes with weir, or
  // a synthetic description: nodes are then pretended.
  std::string machine = {};
  // A thread of the program that waits executes tasks meanwhile, in the place of a worker of its node that is not busy: in
  // scope::wait(), parallel loops and runs of graphs those that it waits for and that these wait for, in runtime::wait()
  // any, in read() the one that writes the datum. false: it sleeps, for programs whose own threads must not run a task (a
  // GUI's, one that holds Python's lock, MPI_THREAD_FUNNELED); a wait then takes as long as it takes to wake two threads.
  bool waiting_threads_execute = true;
  // Outside of tasks, too, spawn() may run a small task there and then, if one with the same function has finished
  // before and many wait in the caller's queue; needs waiting_threads_execute. Only for programs in which no task
  // waits for what its creator does after spawning it: such a task never ends.
  bool spawn_executes_outside_tasks = false;
  // Microseconds an idle worker looks for work before it sleeps; -1: WEIR_SPIN if set, else 2000, or 0 where workers
  // share CPUs or the cgroup limits CPU time. Waking a worker takes some 5 to 50 us: longer than a short task.
  std::int64_t spin = -1;
  // File for a trace of the run: every task, where it ran, what it read and wrote, as ui.perfetto.dev shows it. Written
  // when the runtime ends. "": WEIR_TRACE if set, else none; no_trace: none.
  std::string trace = {};
  static constexpr const char* no_trace = "none";
  static constexpr int most_workers = 32767;  // more `workers` are a typing error
  // Tasks that creators may be ahead of execution; 0: 4096 + 1024 per worker. A soft limit: a creator goes on if nothing is
  // ready and somebody idle, and, some thousand tasks a second, if no task finishes, until tasks fill an eighth of the memory.
  // A creator in a task executes some instead; of those like which none has finished only if it is twice as far ahead.
  std::size_t backlog = 0;
  // Bytes of each worker's stack. Tasks that wait for tasks deeper than that go on on other stacks of this size, until
  // those that are used up are an eighth of the memory; then wait() throws error. 0: WEIR_STACK_BYTES if set, else 256
  // MiB, and the system's default (ulimit -s) where addresses are limited (ulimit -v) or count as memory
  // (vm.overcommit_memory is 2). Only what is used becomes memory, except in a program that locks its memory
  // (mlockall).
  std::size_t stack_bytes = 0;
};

class runtime;
namespace detail {
runtime_state& state_of(runtime&) noexcept;

template <class T> inline constexpr bool holds_values = false;
template <class T> inline constexpr bool holds_values<std::vector<T>> = true;
template <class T> inline constexpr bool holds_values<std::span<const T>> = true;

// What make_data<T>() takes; T is void where the program does not say it.
template <class T, class First, class... Name>
consteval bool makes_data() {
  if (sizeof...(Name) > 1 || !(std::is_convertible_v<Name, const char*> && ...)) return false;
  if constexpr (std::is_void_v<T>) return holds_values<First>;
  else if constexpr (std::is_convertible_v<First, std::size_t>) return true;
  else return std::is_convertible_v<First, std::span<const T>>;
}

}  // namespace detail

class runtime {
 public:
  // Starts the workers. WEIR_POLICY, WEIR_WORKERS, WEIR_SPIN, WEIR_MACHINE, WEIR_STACK_BYTES and WEIR_BIND=0 give
  // defaults where the options leave them open; with WEIR_STATS=1 the destructor prints statistics on standard error.
  // Throws configuration_error (unknown policy or parameter, negative workers, a trace file that cannot be written), machine_error.
  explicit runtime(const runtime_options& options = {});
  template <class T>
    requires(!std::is_convertible_v<const T&, runtime_options> && !std::is_base_of_v<runtime, T>)
  explicit runtime(const T&) : runtime() {
    static_assert(detail::never<T>,
                  "weir: a weir::runtime takes options by name, as in weir::runtime rt({.workers = 4, .policy = "
                  "\"local\"})");
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  // Waits for what is left, without throwing, and stops the workers. A failure that wait() has not thrown is said on
  // standard error. Data and streams must not be used afterwards.
  ~runtime();
  // What the destructor does, but throws what went wrong: what wait() throws, or error if the trace could not be
  // written. Everything is ended all the same; afterwards the runtime may only be destroyed. Outside tasks.
  void end();

  // A datum of `elements` elements; no memory until a task writes it. Elements may be 0.
  // Throws usage_error if elements * sizeof(T) overflows. `name` is for messages and not copied.
  template <class T>
  data<T> make_data(std::size_t elements, const char* name = nullptr) {
    return data<T>(detail::create_datum(*state_, elements, sizeof(T), name));
  }
  // A datum whose first version holds these values (copied, onto the calling thread's node).
  template <class T>
  data<T> make_data(std::span<const T> values, const char* name = nullptr) {
    data<T> d = make_data<T>(values.size(), name);
    detail::fill_datum(d.datum_, values.data());
    return d;
  }
  template <class T>
  data<T> make_data(const std::vector<T>& values, const char* name = nullptr) {
    return make_data(std::span<const T>(values), name);
  }
  template <class T = void, class First, class... Name>
    requires(!detail::makes_data<T, First, Name...>())
  detail::refused make_data(const First&, const Name&...) {
    static_assert(detail::never<T>,
                  "weir: make_data<T>() takes a number of elements, or a std::vector<T> or std::span<const T> of "
                  "values for the first version; then a name, if any");
    return {};
  }
  template <class T>
  stream<T> make_stream(const char* name = nullptr) {
    return stream<T>(detail::create_stream(*state_, sizeof(T), name));
  }

  // Creates a task: accesses, then a callable that gets one argument per access. May be called from any thread and
  // from tasks; the task starts when its inputs are there. The order of spawns is the order of versions.
  // Inside a task, one that is ready may be run there and then, on the caller's stack, as a call would: do not hold a lock
  // over spawn() that the new task takes, and let no task wait for what its creator does after spawning it.
  // Costs one allocation from a pool; where creators are runtime_options::backlog tasks ahead of execution it waits for
  // others (inside a task it executes some). Throws usage_error; then no task was created.
  template <class... Args>
    requires(!detail::starts_with_options<Args...>)
  void spawn(Args&&... args) {
    if constexpr (detail::correct_task<Args...>)
      detail::spawn_without_options(*state_, nullptr, std::forward<Args>(args)...);
    else detail::refuse_task<Args...>();
  }
  template <class... Args>
  void spawn(const task_options& options, Args&&... args) {
    detail::spawn(*state_, nullptr, options, std::forward<Args>(args)...);
  }

  // Runs `body` as a task and waits for it and, if it takes a weir::scope&, for every task it spawned through that.
  // The way to run a control program on a worker instead of beside the workers: the calling thread never executes it,
  // however small its stack. It is offered first to a worker of the node that the calling thread is on, where most of
  // what that has written lies, unless the policy has queues of its own.
  template <class F>
  void run(F&& body) {
    using program_type = std::decay_t<F>;
    constexpr bool takes_scope = std::is_invocable_v<program_type&, scope&>;
    constexpr bool callable = takes_scope || std::is_invocable_v<program_type&>;
    constexpr bool kept = std::is_constructible_v<program_type, F>;
    static_assert(callable,
                  "weir: run() takes one callable, which takes nothing or a weir::scope&; accesses are for spawn()");
    static_assert(!callable || kept,
                  "weir: run() keeps a copy of its callable, and this one cannot be copied; hand it over with "
                  "std::move, or capture a reference, as in run([&f] { f(); })");
    scope s(*this);
    if constexpr (takes_scope && kept)
      s.spawn_control_program([&s, program = program_type(std::forward<F>(body))]() mutable { program(s); });
    else if constexpr (callable && kept) s.spawn_control_program(std::forward<F>(body));
    s.wait_for_workers(takes_scope);
  }
  template <class Call = void>
  void run(detail::anything, detail::anything, detail::anything = 0, detail::anything = 0) {
    static_assert(detail::never<Call>,
                  "weir: run() takes one callable, which takes nothing or a weir::scope&; accesses and options are "
                  "for spawn()");
  }

  // Returns when every task is done; the calling thread executes tasks meanwhile
  // (runtime_options::waiting_threads_execute). Do not hold a lock over it that a task takes: this thread may execute that
  // task. Throws the first failure since the last wait (task_failed, task_cancelled), or
  // deadlock_error listing the tasks that can never run; those are then cancelled. Must not be called in a task
  // (usage_error): wait for a scope there.
  void wait();

  // Tasks spawned so far that have not started are skipped, and so is what depends on them. Returns at once.
  void cancel() noexcept;

  // While one of these exists, wait() does not take waiting tasks for stuck: some thread will still feed them.
  class open_end {
   public:
    explicit open_end(runtime& rt);
    ~open_end();
    open_end(const open_end&) = delete;
    open_end& operator=(const open_end&) = delete;

   private:
    detail::runtime_state* state_;
  };

  int workers() const noexcept;
  int nodes() const noexcept;
  // Node that a worker is meant for, 0 <= worker < workers(); it is bound to CPUs there if binding is on and allowed.
  // Ascending: workers are numbered node by node, and a node may have none. Some nanoseconds. Throws usage_error if there
  // is no such worker.
  int node_of_worker(int worker) const;
  // CPUs (the system's numbers, ascending) that a worker is bound to; none if binding is off or refused, or the machine
  // is not the host. A thread of the program that executes in its place while it waits is not bound. Throws usage_error as
  // node_of_worker().
  std::vector<int> cpus_of_worker(int worker) const;
  const std::string& policy() const noexcept;
  weir::statistics stats() const;
  void reset_statistics();

 private:
  friend class coarse_graph;
  friend detail::runtime_state& detail::state_of(runtime&) noexcept;
  friend class graph;
  friend class scope;
  std::unique_ptr<detail::runtime_state, void (*)(detail::runtime_state*)> state_;
};

namespace this_task {

// Index of the worker executing the caller, and of its node; -1 outside tasks.
int worker() noexcept;
int node() noexcept;
// True once the task's scope ends early (scope.hpp), or has failed: a long body may return early.
bool cancelled() noexcept;

}  // namespace this_task
}  // namespace weir
