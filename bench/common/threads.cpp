// A promise says whether work begins.
#include <bench/common/threads.hpp>

#include <weir/error.hpp>

#include <exception>
#include <future>
#include <latch>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace weir::bench {
namespace {

class team {
 public:
  team(std::size_t threads, const std::function<void(std::size_t)>& ready, const std::function<void(std::size_t)>& work)
      : ready_(ready), work_(work), to_come_(static_cast<std::ptrdiff_t>(threads)), failures_(threads) {}

  void run() {
    const std::string refusal = start();
    to_come_.wait();
    begin_.set_value(refusal.empty() && first_failure() == nullptr);
    threads_.clear();  // joins
    if (!refusal.empty()) throw error(refusal);
    if (const std::exception_ptr failure = first_failure(); failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  // What kept a thread from starting, or nothing.
  std::string start() {
    const std::size_t count = failures_.size();
    for (std::size_t i = 0; i < count; i++) try {
        threads_.emplace_back([this, i] { live(i); });
      } catch (const std::system_error& e) {
        to_come_.count_down(static_cast<std::ptrdiff_t>(count - i));
        return "thread " + std::to_string(i + 1) + " of " + std::to_string(count) +
               " cannot be started: " + e.code().message() +
               "; expected a system that allows as many (ulimit -u, the container's limit of processes)";
      }
    return "";
  }

  void live(std::size_t i) {
    guarded(i, ready_);
    to_come_.count_down();
    if (begun_.get()) guarded(i, work_);
  }

  void guarded(std::size_t i, const std::function<void(std::size_t)>& step) {
    try {
      step(i);
    } catch (...) {
      failures_[i] = std::current_exception();
    }
  }

  std::exception_ptr first_failure() const {
    for (const std::exception_ptr& f : failures_)
      if (f != nullptr) return f;
    return nullptr;
  }

  const std::function<void(std::size_t)>&ready_, &work_;
  std::latch to_come_;  // threads whose ready() is not over
  std::promise<bool> begin_;
  const std::shared_future<bool> begun_ = begin_.get_future().share();
  std::vector<std::exception_ptr> failures_;  // by thread
  std::vector<std::jthread> threads_;         // the last member: ends before what it uses
};

}  // namespace

void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& ready,
                    const std::function<void(std::size_t)>& work) {
  team(threads, ready, work).run();
}

}  // namespace weir::bench
