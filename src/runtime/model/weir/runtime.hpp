// Stands in for include/weir/runtime.hpp in the model tests of parallel loops: workers are threads of the model checker,
// tasks lie in one list. What the runtime promises and no more: who runs a task sees what its creator did before, and
// who has waited for a scope sees what its tasks did. The rest of the bookkeeping is no part of the test, so it is in
// ordinary memory: threads of the model change places only at operations of its atomics.
#pragma once

#include <weir/detail/scope_state.hpp>
#include <weir/error.hpp>
#include <weir/task.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/model/model.hpp"

namespace weir {

class runtime;

class scope {
 public:
  explicit scope(runtime& rt) : runtime_(rt) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope() { await_tasks(); }

  void spawn(const task_options&, std::function<void()> body);
  void cancel() { state_.reasons_to_skip.store(detail::scope_state::was_cancelled, std::memory_order_relaxed); }
  // A worker executes tasks meanwhile.
  void wait() {
    await_tasks();
    if (const std::exception_ptr failure = state_.take_failure(); failure != nullptr) throw task_failed("task failed", failure);
  }

 private:
  friend class runtime;
  void await_tasks();

  runtime& runtime_;
  detail::scope_state state_;
  int unfinished_ = 0;
};

class runtime {
 public:
  // `node_of_worker`: ascending, as the runtime's are.
  explicit runtime(std::vector<int> node_of_worker) : node_of_worker_(std::move(node_of_worker)) { current = this; }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime() { current = nullptr; }

  int workers() const { return static_cast<int>(node_of_worker_.size()); }
  int nodes() const { return node_of_worker_.back() + 1; }
  int node_of_worker(int worker) const { return node_of_worker_[static_cast<std::size_t>(worker)]; }

  // The calling thread is this worker until stop().
  void work(int worker) {
    worker_of_[thread()] = worker;
    while (!stopped_) {
      const std::uint32_t seen = changes();
      if (!execute_one()) rest(seen);
    }
  }
  void stop() {
    stopped_ = true;
    tell();
  }

  // A task for the worker's node, else its own newest, else the oldest. False: there is none.
  bool execute_one() {
    task* const t = task_for(this_worker());
    if (t == nullptr) return false;
    t->waits = false;
    model::require(t->handed_over.exchange(0, std::memory_order_acquire) == 1, "a task was taken twice");
    task* const below = std::exchange(running_[thread()], t);
    const bool skipped = t->owner->state_.cancelled();
    const std::exception_ptr failure = skipped ? nullptr : run(t->body);
    running_[thread()] = below;
    finish(*t->owner, failure);
    return true;
  }
  void add(scope& s, int node, std::function<void()> body) {
    model::require(tasks_ < list_.size(), "more tasks than a loop makes");
    task& t = list_[tasks_++];
    t.owner = &s;
    t.body = std::move(body);
    t.node = node;
    t.creator = this_worker();
    s.unfinished_++;
    s.state_.outstanding.fetch_add(1, std::memory_order_relaxed);
    t.handed_over.store(1, std::memory_order_release);
    t.waits = true;
    tell();
  }

  // How often something happened that a thread may rest for. Orders nothing.
  std::uint32_t changes() const { return changes_; }
  void rest(std::uint32_t seen) { model::model_atomics::wait(changed_, seen); }

  int this_worker() const { return worker_of_[thread()]; }
  bool this_scope_is_cancelled() const { return is_cancelled(running_[thread()]->owner->state_); }
  std::size_t tasks() const { return tasks_; }

  static inline runtime* current = nullptr;  // of the current run

 private:
  struct task {
    atomic<std::uint8_t> handed_over{0};
    bool waits = false;
    int node = -1, creator = -1;
    scope* owner = nullptr;
    std::function<void()> body;
  };

  static std::size_t thread() { return static_cast<std::size_t>(model::this_thread()); }
  static bool is_cancelled(const detail::scope_state& s) { return s.cancelled() || s.failed(); }

  task* task_for(int worker) {
    const auto end = list_.begin() + static_cast<std::ptrdiff_t>(tasks_);
    const int node = node_of_worker(worker);
    const auto near = std::find_if(list_.begin(), end, [&](const task& t) { return t.waits && t.node == node; });
    if (near != end) return &*near;
    for (std::size_t i = tasks_; i-- > 0;)
      if (list_[i].waits && list_[i].creator == worker) return &list_[i];
    const auto any = std::find_if(list_.begin(), end, [](const task& t) { return t.waits; });
    return any != end ? &*any : nullptr;
  }
  // Threads must not change places in a handler: the exceptions being handled are the kernel thread's.
  static std::exception_ptr run(const std::function<void()>& body) {
    try {
      body();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  // The scope may be gone when it knows that this was all.
  void finish(scope& s, const std::exception_ptr& failure) {
    if (failure != nullptr && s.state_.claim_failure()) s.state_.note_failure(failure);
    s.unfinished_--;
    s.state_.finish(1);
    tell();
  }
  void tell() {
    changed_.fetch_add(1, std::memory_order_relaxed);
    changes_++;
    model::model_atomics::wake_all(changed_);
  }

  static constexpr std::array<int, model::max_threads> no_workers() {
    std::array<int, model::max_threads> none{};
    none.fill(-1);
    return none;
  }

  const std::vector<int> node_of_worker_;
  std::array<task, 12> list_;
  std::size_t tasks_ = 0;
  std::array<int, model::max_threads> worker_of_ = no_workers();
  std::array<task*, model::max_threads> running_{};
  bool stopped_ = false;
  model::atomic<std::uint32_t> changed_{0};
  std::uint32_t changes_ = 0;  // the newest value of changed_
};

inline void scope::spawn(const task_options& o, std::function<void()> body) { runtime_.add(*this, o.affinity.node, std::move(body)); }

inline void scope::await_tasks() {
  for (;;) {
    const std::uint32_t seen = runtime_.changes();
    if (state_.complete()) return;
    if (runtime_.this_worker() >= 0 && runtime_.execute_one()) continue;
    if (unfinished_ > 0) runtime_.rest(seen);
    else model::model_atomics::pause();  // they have finished, and this thread is about to see it
  }
}

namespace this_task {
inline int worker() { return runtime::current->this_worker(); }
inline bool cancelled() { return runtime::current->this_scope_is_cancelled(); }
}  // namespace this_task

}  // namespace weir
