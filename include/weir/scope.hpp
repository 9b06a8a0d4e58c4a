// weir::scope: the tasks spawned through it, waited for together. Scopes nest: a task may open one and wait in it.
//
// A scope ends early when it is cancelled, when one of its tasks throws, and when the scope of the task that waits for it
// ends early: those of its tasks that have not started are then skipped, and so is what depends on them. After wait() it
// may be used again.
#pragma once

#include <weir/detail/build.hpp>
#include <weir/detail/scope_state.hpp>

#include <type_traits>
#include <utility>

namespace weir {

class runtime;

// Among which tasks weir::ref orders. Data and streams order all tasks that name them, wherever these were created.
enum class dependences : std::uint8_t {
  shared,  // all tasks of the runtime but those of scopes with their own
  own,  // the tasks of one scope. They wait for none outside, so not for the task that waits for them either, even if
        // it has named the same memory; as the children of a task in OpenMP and OmpSs-2
};

class scope {
 public:
  explicit scope(runtime& rt);
  // With dependences of its own it has a table of what its tasks name: some 3 KiB for a few ranges. Throws
  // std::bad_alloc.
  scope(runtime& rt, dependences among);
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  // Waits for what is left, without throwing. A failure that wait() has not thrown is said on standard error.
  ~scope() {
    if (!state_.complete() || state_.reasons_to_skip.load(std::memory_order_relaxed) != 0) end();
    if (state_.ranges != nullptr) [[unlikely]] end_ranges();
  }

  // As runtime::spawn, but the task belongs to this scope. Who destroys a scope that another thread's task has made, and
  // spawns through, has to know that its spawn() has returned.
  template <class... Args>
    requires(!detail::starts_with_options<Args...>)
  void spawn(Args&&... args) {
    if constexpr (detail::correct_task<Args...>)
      detail::spawn_without_options(*runtime_, &state_, std::forward<Args>(args)...);
    else detail::refuse_task<Args...>();
  }
  template <class... Args>
  void spawn(const task_options& options, Args&&... args) {
    detail::spawn(*runtime_, &state_, options, std::forward<Args>(args)...);
  }

  // Returns when every task of the scope is done. Inside a task it executes other tasks meanwhile, elsewhere tasks of
  // this scope and of those that they wait for (runtime_options::waiting_threads_execute); so do not hold a lock over
  // it that a task takes. In a task of this very scope it returns when all others are done; two such tasks would wait
  // for each other, and one gets a deadlock_error: a recursion makes a scope in each of its tasks. So does a task that
  // waits for one that needs what it keeps itself, for instance an inout() of the same datum. Throws the scope's first
  // failure (task_failed, task_cancelled), or deadlock_error, once; task_cancelled, too, if tasks were skipped because
  // the scope of the calling task has ended early.
  void wait();

  // Ends it early, which is no failure. Returns at once.
  void cancel() noexcept;
  bool cancelled() const noexcept { return state_.cancelled(); }

 private:
  friend class runtime;
  void end() noexcept;
  void end_ranges() noexcept;
  template <class WaitFor>
  void wait_by(WaitFor&&);
  // Of runtime::run(): a task that the calling thread does not execute, unless it is a worker.
  template <class F>
  void spawn_control_program(F&& program) {
    static constexpr task_options none;
    detail::spawn_tuple<&detail::submit_control_program>(
        *runtime_, &state_, none, std::forward_as_tuple(std::forward<F>(program)), std::index_sequence<>());
  }
  // In no task the calling thread executes nothing meanwhile. `for_others`: than one task without data.
  void wait_for_workers(bool for_others);

  detail::runtime_state* runtime_;
  detail::scope_state state_;
};

}  // namespace weir
