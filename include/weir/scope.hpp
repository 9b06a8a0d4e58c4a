// weir::scope: the tasks spawned through it, waited for together. Scopes nest: a task may open one and wait in it.
#pragma once

#include <weir/detail/build.hpp>
#include <weir/detail/scope_state.hpp>

#include <type_traits>
#include <utility>

namespace weir {

class runtime;

class scope {
 public:
  explicit scope(runtime& rt);
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  // Waits for what is left, without throwing.
  ~scope() {
    if (!state_.complete()) end();
  }

  // As runtime::spawn, but the task belongs to this scope.
  template <class First, class... Rest>
    requires(!std::is_same_v<std::remove_cvref_t<First>, task_options>)
  void spawn(First&& first, Rest&&... rest) {
    detail::spawn_without_options(*runtime_, &state_, std::forward<First>(first), std::forward<Rest>(rest)...);
  }
  template <class... Args>
  void spawn(const task_options& options, Args&&... args) {
    detail::spawn(*runtime_, &state_, options, std::forward<Args>(args)...);
  }

  // Returns when every task of the scope is done; inside a task it executes other tasks meanwhile.
  // Throws the scope's first failure (task_failed, task_cancelled), or deadlock_error, once.
  void wait();

  // Tasks of the scope that have not started are skipped, and so is what depends on them. Returns at once.
  void cancel() noexcept { state_.cancelled.store(1, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return state_.cancelled.load(std::memory_order_relaxed) != 0; }

 private:
  void end() noexcept;

  detail::runtime_state* runtime_;
  detail::scope_state state_;
};

}  // namespace weir
