// Threads of the program that sleep until something is done, each of them woken by itself.
#pragma once

#include "base/base.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace weir::engine {

// A waiter counts itself, fences, and looks at its condition; a notifier makes that true, fences, and looks at the count: one
// of them sees the other.
class monitor {
 public:
  monitor() = default;
  ~monitor() { WEIR_ASSERT(first_ == nullptr && !anybody_sleeps()); }
  monitor(const monitor&) = delete;
  monitor& operator=(const monitor&) = delete;

  // `about`: what done() is about, only compared with what others call by that address.
  template <class Done>
  void sleep_until(const void* about, Done&& done) {
    sleep(about, [&](std::unique_lock<std::mutex>& lock, std::condition_variable& told) { told.wait(lock, done); });
  }
  // At most so long. True: done() holds.
  template <class Done>
  bool sleep_for(const void* about, std::chrono::milliseconds most, Done&& done) {
    bool holds = false;
    sleep(about, [&](std::unique_lock<std::mutex>& lock, std::condition_variable& told) { holds = told.wait_for(lock, most, done); });
    return holds;
  }
  void wake_all() {
    wake([](const void*) { return true; });
  }
  void wake_those_about(const void* what) {
    wake([what](const void* about) { return about == what; });
  }
  // A hint, but for who has fenced.
  bool anybody_sleeps() const { return sleepers_.load(std::memory_order_relaxed) > 0; }

 private:
  // On the stack of its thread, in a list that the mutex guards.
  struct sleeper {
    sleeper(monitor& m, const void* what) : about(what), next(m.first_), link(&m.first_) {
      if (next != nullptr) next->link = &next;
      m.first_ = this;
    }
    ~sleeper() {
      *link = next;
      if (next != nullptr) next->link = link;
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;

    const void* const about;
    std::condition_variable told;
    sleeper* next;
    sleeper** link;  // what points to this one
  };

  template <class Wait>
  void sleep(const void* about, Wait&& wait) {
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    atomic_fence(std::memory_order_seq_cst);
    {
      std::unique_lock lock(mutex_);
      sleeper self(*this, about);
      wait(lock, self.told);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  // Behind the mutex: a waiter that saw its condition false is either before its look or already on its condition variable.
  template <class Concerns>
  void wake(Concerns&& concerns) {
    atomic_fence(std::memory_order_seq_cst);
    if (!anybody_sleeps()) return;
    const std::lock_guard guard(mutex_);
    for (sleeper* s = first_; s != nullptr; s = s->next)
      if (concerns(s->about)) s->told.notify_one();
  }

  std::mutex mutex_;
  sleeper* first_ = nullptr;
  alignas(cache_line_bytes) atomic<std::int32_t> sleepers_{0};
};

}  // namespace weir::engine
