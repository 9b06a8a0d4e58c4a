// Which parallel loops a thread has posted, and which threads are in.
#pragma once

#include "sched/sched.hpp"

#include <weir/detail/loop_work.hpp>

#include <array>
#include <cstddef>

namespace weir::engine {

// A thread is in a parallel loop, as a worker. On its stack, in the list of all that are in loops as that worker:
// several, if some of them block or wait.
struct served_loop {
  served_loop(const sched::loop_post<detail::loop_work>* where, bool helps, served_loop*& list)
      : post(where), searching(helps), is_callers(!helps), next(list), link(&list) {
    if (next != nullptr) next->link = &next;
    list = this;
  }
  ~served_loop() {
    *link = next;
    if (next != nullptr) next->link = link;
  }
  served_loop(const served_loop&) = delete;
  served_loop& operator=(const served_loop&) = delete;

  const sched::loop_post<detail::loop_work>* post;  // null: of a loop that is not posted
  bool searching;  // it still counts as searching
  const bool is_callers;
  served_loop* next;

 private:
  served_loop** link;  // what points to this one
};

// Where the loop was that a thread has come to last. It may be gone.
struct loop_trail {
  const sched::loop_post<detail::loop_work>* post = nullptr;  // that one stays
  const void* loop = nullptr;
  const void* part = nullptr;
};

// Where a thread posts its loops, the outermost first. Others look at this.
class alignas(cache_line_bytes) posted_loops {
 public:
  using post = sched::loop_post<detail::loop_work>;
  // Loops inside one another on a stack; what is deeper is not posted.
  static constexpr int most = 16;

  posted_loops() = default;
  ~posted_loops() {
    for (auto& p : posts_) delete p.load(std::memory_order_relaxed);
  }
  posted_loops(const posted_loops&) = delete;
  posted_loops& operator=(const posted_loops&) = delete;

  // How many are, or were a moment ago.
  int count() const { return count_.load(std::memory_order_acquire); }
  post& at(int depth) const { return *posts_[static_cast<std::size_t>(depth)].load(std::memory_order_acquire); }
  // Who has the slot. Null: there are too many, or no memory. Those of threads that have left it to block may go
  // before later ones.
  post* add(int nodes) noexcept;
  void remove(const post&) noexcept;

 private:
  atomic<int> count_{0};
  std::array<atomic<post*>, most> posts_{};  // once there, for ever
  std::array<bool, most> used_{};            // by a loop
};

}  // namespace weir::engine
