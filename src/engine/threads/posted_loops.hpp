// Which parallel loops a thread has posted, and which threads are in.
#pragma once

#include "sched/sched.hpp"

#include <weir/detail/loop_work.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::engine {

// A thread is in a parallel loop, as a worker. On its stack, in the list of all that are in loops as that worker:
// several, if some of them block or wait.
struct served_loop {
  served_loop(const sched::loop_post<detail::loop_work>* where, bool helps, served_loop*& list)
      : post(where), searching(helps), next(list), link(&list) {
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
  served_loop* next;

 private:
  served_loop** link;  // what points to this one
};

// Where the loop was that a thread has come to last, which may be gone.
struct loop_trail {
  const sched::loop_post<detail::loop_work>* post = nullptr;  // that one stays
  const void* loop = nullptr;
  const detail::loop_part* part = nullptr;  // that one stays, too
};

// A post, and the memory that its loops need, one after the other.
class alignas(cache_line_bytes) posted_loop {
 public:
  posted_loop(int groups, int workers)
      : post(groups),
        parts_(std::make_unique<detail::loop_part[]>(static_cast<std::size_t>(workers))),
        unfinished_(std::make_unique<line[]>(static_cast<std::size_t>(workers) / bits_a_line + 1)) {}

  void lends_memory(detail::loop_work& l) {
    l.parts = parts_.get();
    l.unfinished = unfinished_[0].words.data();
    l.number = &number_;
  }

  sched::loop_post<detail::loop_work> post;

 private:
  struct alignas(cache_line_bytes) line {
    std::array<atomic<std::uint64_t>, cache_line_bytes / sizeof(std::uint64_t)> words;
  };
  static constexpr std::size_t bits_a_line = 8 * sizeof(line);

  const std::unique_ptr<detail::loop_part[]> parts_;
  const std::unique_ptr<line[]> unfinished_;
  alignas(cache_line_bytes) std::uint64_t number_ = 0;  // nobody else reads this, while all look at the post
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

  // How many have ever been at a time: others look at this all the time, so it does not change with each loop.
  int count() const { return count_.load(std::memory_order_acquire); }
  post& at(int depth) const { return posts_[static_cast<std::size_t>(depth)].load(std::memory_order_acquire)->post; }
  // Who has the slot. Null: there are too many, or no memory. Those of threads that have left it to block may go
  // before later ones.
  posted_loop* add(int groups, int workers) noexcept;
  void remove(const post&) noexcept;

 private:
  atomic<int> count_{0};
  std::array<atomic<posted_loop*>, most> posts_{};  // once there, for ever
  std::array<bool, most> used_{};                   // by a loop
};

}  // namespace weir::engine
