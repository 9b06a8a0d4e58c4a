// Several threads may have tasks of one worker on their stacks: those that call weir::blocking() in one, and those that
// stand in for them. One of them has the worker's place at a time; the others wait for their turn.
#pragma once

#include "engine/threads/floors.hpp"

#include <cstdint>
#include <functional>
#include <mutex>

namespace weir::engine {

// On the stack of a thread that waits for a place. What it has of the slot there is kept elsewhere (slot::part).
class turn {
 public:
  // It goes on at the next boundary between two tasks after `when` holds; null: at the next one. Any thread calls it.
  explicit turn(const std::function<bool()>* when = nullptr) : when_(when) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

  // It has no task on its stack: it goes on if a substitute would have to stay for its sake.
  bool has_no_task = false;
  std::uint64_t failing_wait = 0;  // as slot::failing_wait, of its thread
  const frame* running = nullptr;

  // By who has the place, and gives it away: the slot is the other thread's from now on.
  void come() {
    come_.store(1, std::memory_order_release);
    real_atomics::wake_one(come_);
  }
  void wait() {
    while (come_.load(std::memory_order_acquire) == 0) real_atomics::wait(come_, 0);
  }

 private:
  friend class place_turns;
  bool is_ready() const { return !has_no_task && (when_ == nullptr || (*when_)()); }

  const std::function<bool()>* const when_;
  turn* next_ = nullptr;
  atomic<std::uint32_t> come_{0};
};

// Of one place, first come first served.
class place_turns {
 public:
  place_turns() = default;
  place_turns(const place_turns&) = delete;
  place_turns& operator=(const place_turns&) = delete;

  // By who has the place, between two tasks: it should look whether somebody is ready who has a task on its stack. Of
  // many that wait for a condition most are not, so then it looks as much less often. One load if nobody waits.
  bool is_due() {
    const std::int32_t waiting = waiting_.load(std::memory_order_relaxed);
    if (waiting == 0) [[likely]] return false;
    return back_.load(std::memory_order_relaxed) != 0 || ++tasks_since_look_ >= waiting;
  }
  bool anybody_ready() {
    if (waiting_.load(std::memory_order_relaxed) == 0) [[likely]] return false;
    const std::lock_guard guard(mutex_);
    return *find([](const turn& t) { return t.is_ready(); }) != nullptr;
  }
  // Or somebody without a task.
  bool anybody_comes() {
    if (in_list_.load(std::memory_order_relaxed) == 0) [[likely]] return false;
    const std::lock_guard guard(mutex_);
    return *find([](const turn& t) { return t.is_ready() || t.has_no_task; }) != nullptr;
  }
  void add(turn& t) {
    const std::lock_guard guard(mutex_);
    append(t);
  }
  // By who has the place; these take the turn out of the list, and the caller calls come(). Null: there is none.
  turn* take_ready_for(turn& mine) {
    const std::lock_guard guard(mutex_);
    tasks_since_look_ = 0;
    turn* const next = take([](const turn& t) { return t.is_ready(); });
    if (next != nullptr) append(mine);
    return next;
  }
  turn* take_any() {
    const std::lock_guard guard(mutex_);
    return take_first_that_comes();
  }
  // `mine` waits, whether or not there is another one.
  turn* take_any_for(turn& mine) {
    const std::lock_guard guard(mutex_);
    turn* const next = take_first_that_comes();
    append(mine);
    return next;
  }
  void remove(turn& t) {
    const std::lock_guard guard(mutex_);
    static_cast<void>(take([&t](const turn& other) { return &other == &t; }));
  }
  ~place_turns() { WEIR_ASSERT(first_ == nullptr && is_valid()); }
  template <class F>
  void for_each(F&& f) {
    const std::lock_guard guard(mutex_);
    for (const turn* t = first_; t != nullptr; t = t->next_) f(*t);
  }

 private:
  turn* take_first_that_comes() {
    turn* const ready = take([](const turn& t) { return t.is_ready(); });
    return ready != nullptr ? ready : take([](const turn& t) { return t.has_no_task; });
  }
  template <class Fits>
  turn** find(Fits&& fits) {
    turn** at = &first_;
    while (*at != nullptr && !fits(**at)) at = &(*at)->next_;
    return at;
  }
  template <class Fits>
  turn* take(Fits&& fits) {
    turn** const at = find(fits);
    turn* const t = *at;
    if (t == nullptr) return nullptr;
    *at = t->next_;
    count(*t, -1);
    WEIR_ASSERT(is_valid());
    return t;
  }
  void append(turn& t) {
    t.next_ = nullptr;
    *find([](const turn&) { return false; }) = &t;
    count(t, 1);
    WEIR_ASSERT(is_valid());
  }
  // By who has the lock: the counts are those of the list.
  bool is_valid() const {
    std::int32_t in_list = 0, waiting = 0, back = 0;
    for (const turn* t = first_; t != nullptr; t = t->next_) {
      in_list++;
      if (t->has_no_task) continue;
      waiting++;
      if (t->when_ == nullptr) back++;
    }
    return in_list == in_list_.load(std::memory_order_relaxed) &&
           waiting == waiting_.load(std::memory_order_relaxed) &&
           back == back_.load(std::memory_order_relaxed);
  }
  void count(const turn& t, int by) {
    add_to(in_list_, by);
    if (!t.has_no_task) add_to(waiting_, by);
    if (!t.has_no_task && t.when_ == nullptr) add_to(back_, by);
  }
  static void add_to(atomic<std::int32_t>& n, int by) { n.store(n.load(std::memory_order_relaxed) + by, std::memory_order_relaxed); }

  // All; those with tasks on their stacks; those of them that wait for nothing else.
  atomic<std::int32_t> in_list_{0}, waiting_{0}, back_{0};
  std::int32_t tasks_since_look_ = 0;  // of who has the place
  std::mutex mutex_;
  turn* first_ = nullptr;
};

}  // namespace weir::engine
