// weir::scope: the tasks spawned through it, waited for together. Scopes nest: a task may open one and wait in it.
#pragma once

#include <weir/detail/build.hpp>

#include <memory>
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
  ~scope();

  // As runtime::spawn, but the task belongs to this scope.
  template <class First, class... Rest>
    requires(!std::is_same_v<std::remove_cvref_t<First>, task_options>)
  void spawn(First&& first, Rest&&... rest) {
    detail::spawn(*runtime_, state_.get(), task_options{}, std::forward<First>(first), std::forward<Rest>(rest)...);
  }
  template <class... Args>
  void spawn(const task_options& options, Args&&... args) {
    detail::spawn(*runtime_, state_.get(), options, std::forward<Args>(args)...);
  }

  // Returns when every task of the scope is done; inside a task it executes other tasks meanwhile.
  // Throws the scope's first failure (task_failed, task_cancelled), or deadlock_error, once.
  void wait();

  // Tasks of the scope that have not started are skipped, and so is what depends on them. Returns at once.
  void cancel() noexcept;
  bool cancelled() const noexcept;

 private:
  detail::runtime_state* runtime_;
  std::shared_ptr<detail::scope_state> state_;
};

}  // namespace weir
