// weir::blocking: a task waits for what is not weir's, and other tasks run on its worker meanwhile.
//
//   rt.spawn([&] {
//     const std::size_t bytes = weir::blocking([&] { return read_from_socket(buffer); });
//     parse(buffer, bytes);
//   });
#pragma once

#include <weir/detail/wrong_call.hpp>

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace weir {
namespace detail {

// Null: there is nothing to come back to.
void* leave_to_block() noexcept;
void come_back_from_blocking(void*) noexcept;

class blocked_worker {
 public:
  blocked_worker() noexcept : left_(leave_to_block()) {}
  ~blocked_worker() {
    if (left_ != nullptr) come_back_from_blocking(left_);
  }
  blocked_worker(const blocked_worker&) = delete;
  blocked_worker& operator=(const blocked_worker&) = delete;

 private:
  void* const left_;
};

}  // namespace detail

// Calls f(), which may wait for input or output, a lock, or another library, and returns what f returns. In a task
// another thread takes the worker's place until f is over: it executes what the worker would, its queues included.
// Then that thread finishes the task that it is in, and the caller goes on, as the same worker. So as many threads
// execute as there are workers, not counting those in f, and tasks may wait in f for what other tasks do, even if
// there is one worker only. Tasks of one worker that wait like this may go on in any order. But a loop's chunks that
// come after this one in its part wait for it, or for other workers: let the iterations of a loop not wait for each
// other.
//
// In f the calling thread is in no task: this_task::worker() is -1, and what it uses of weir it uses as a thread of
// the program. It must not call runtime::wait() (usage_error), nor wait for its own task in any other way. While a
// thread is in f tasks are not taken for stuck: what is missing may be what f waits for.
//
// Costs some microseconds for the thread that is woken, and, if f takes longer than that, some more for the way back:
// a few if that thread has found tasks or still looks for some, some tens if it has fallen asleep. To make a thread
// first, when none is left from before, takes some 50 more. As many threads are made as tasks are in f at once, each
// with a stack of runtime_options::stack_bytes; up to four a worker are kept for next time. If none can be made f is
// called all the same, and the worker waits. Outside of tasks f is called after a place that the thread keeps has been
// given up; some 100 ns. What f throws is passed on.
template <class F>
  requires std::invocable<F>
std::invoke_result_t<F> blocking(F&& f) {
  const detail::blocked_worker other_tasks_go_on;
  return std::invoke(std::forward<F>(f));
}
template <class F>
  requires(!std::invocable<F>)
detail::refused blocking(F&&) {
  static_assert(detail::never<F>, "weir: blocking() takes one callable, which takes nothing");
  return {};
}

}  // namespace weir
