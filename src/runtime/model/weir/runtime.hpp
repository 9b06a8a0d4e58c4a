// Stands in for include/weir/runtime.hpp in the model tests of parallel loops: workers are threads of the model checker,
// tasks lie in one list. What the runtime promises and no more: who runs a task sees what its creator did before, and
// who has waited for a scope sees what its tasks did. The rest of the bookkeeping is no part of the test, so it is in
// ordinary memory: threads of the model change places only at operations of its atomics. Loops are posted as in the
// runtime, one at a time.
#pragma once

#include <weir/detail/loop_work.hpp>
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
#include "sched/sched.hpp"

namespace weir {

class runtime;
namespace detail {
struct runtime_state;
}

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

  // A task for the worker's node, else its own newest, else the oldest, else the posted loop. False: there is none.
  bool execute_one() {
    task* const t = task_for(this_worker());
    if (t == nullptr) return help_with_loop();
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

  // The caller serves the loop, if it is a worker, and then it may begin alone.
  void run_loop(detail::loop_work& l) {
    servers_ = 0;
    if (this_worker() >= 0 && begins_loops_alone && l.begins_alone && begin_alone(l)) return;
    l.line_ns = 1;
    l.parts = parts_.data();
    l.unfinished = unfinished_.data();
    l.number = &number;
    l.caller = this_worker();
    l.ops.share(l);
    post_.put_up(l);
    model::model_atomics::fence(std::memory_order_seq_cst);
    tell();
    if (this_worker() >= 0) serve(l, true);
    else
      for (std::uint32_t seen = changes(); servers_ == 0; seen = changes()) rest(seen);
    post_.take_down();
    while (!post_.everybody_has_left()) model::model_atomics::pause();
    if (const std::exception_ptr failure = l.scope.take_failure(); failure != nullptr) throw task_failed("loop failed", failure);
  }
  // A thread of the model is this worker, and is in no loop.
  bool has_time(int worker) const {
    for (std::size_t t = 0; t < worker_of_.size(); t++)
      if (worker_of_[t] == worker) return serving_[t] == nullptr;
    return false;
  }
  bool loop_goes_on() const { return !is_cancelled(serving_[thread()]->scope); }

  // Each look is later than the one before.
  std::uint64_t now_ns() { return now_ns_ += 100'000; }

  // How often something happened that a thread may rest for. Orders nothing.
  std::uint32_t changes() const { return changes_; }
  void rest(std::uint32_t seen) { model::model_atomics::wait(changed_, seen); }

  int this_worker() const { return worker_of_[thread()]; }
  bool this_scope_is_cancelled() const { return is_cancelled(running_[thread()]->owner->state_); }
  int servers() const { return servers_; }

  static inline runtime* current = nullptr;  // of the current run
  bool begins_loops_alone = false;           // one chunk, or all if there is time
  bool has_time_alone = false;
  std::uint64_t number = 0;                  // of the last loop, as its parts have it

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
  template <class Body>
  static std::exception_ptr run(const Body& body) {
    try {
      body();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }
  // True: it has run all.
  bool begin_alone(detail::loop_work& l) {
    detail::loop_work* const outside = std::exchange(serving_[thread()], &l);
    const std::exception_ptr failure = run([&] {
      l.ops.begin(l, this_worker(), {.alone = true, .alone_ns = 1});
      if (has_time_alone) l.ops.finish(l, this_worker());
    });
    serving_[thread()] = outside;
    if (failure != nullptr) throw task_failed("loop failed", failure);
    return l.elements_begun == l.elements;
  }
  // False: it is to come again.
  bool serve(detail::loop_work& l, bool stays) {
    detail::loop_work* const outside = std::exchange(serving_[thread()], &l);
    detail::served how;
    if (!stays) how = l.ops.look(l, this_worker());
    std::exception_ptr failure;
    if (!how.all && how.comes_again_ns == 0) {
      how = {.all = true};
      failure = run([&] { how = l.ops.serve(l, this_worker(), stays); });
    }
    if (failure != nullptr && l.scope.claim_failure()) l.scope.note_failure(failure);
    serving_[thread()] = outside;
    if (!how.all) return false;
    servers_++;
    l.is_over.store(1, std::memory_order_release);
    tell();
    return true;
  }
  // Who looks after a change sees the loop, as who falls asleep does.
  bool help_with_loop() {
    model::model_atomics::fence(std::memory_order_seq_cst);
    if (!post_.is_up() || serving_[thread()] != nullptr) return false;
    std::int32_t nobody = -1;
    detail::loop_work* const l = post_.come(node_of_worker(this_worker()), nobody);
    if (l == nullptr) return false;
    const bool all = serve(*l, false);
    if (all) post_.has_nothing_left();
    post_.leave(node_of_worker(this_worker()));
    if (!all) model::model_atomics::pause();
    return true;
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
  sched::loop_post<detail::loop_work, model::model_atomics> post_{nodes()};
  std::array<detail::loop_part, model::max_threads> parts_;
  std::array<atomic<std::uint64_t>, 1> unfinished_;
  std::array<detail::loop_work*, model::max_threads> serving_{};
  int servers_ = 0;  // that have come to the loop's end
  std::uint64_t now_ns_ = 0;
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

namespace detail {
inline runtime_state& state_of(runtime& rt) { return reinterpret_cast<runtime_state&>(rt); }
inline void run_loop(runtime_state& rt, loop_work& l) { reinterpret_cast<runtime&>(rt).run_loop(l); }
inline bool loop_goes_on() noexcept { return runtime::current->loop_goes_on(); }
inline std::uint64_t now_ns() noexcept { return runtime::current->now_ns(); }
inline std::uint64_t page_faults_of_this_thread() noexcept { return 0; }
inline bool loop_awaits(const loop_work&, int worker) noexcept { return runtime::current->has_time(worker); }
}  // namespace detail

namespace this_task {
inline int worker() { return runtime::current->this_worker(); }
inline bool cancelled() { return runtime::current->this_scope_is_cancelled(); }
}  // namespace this_task

}  // namespace weir
