// Threads of the program that create tasks and do not wait have their CPUs for themselves, but not at the price of what
// they create.
#include "tests/support/support.hpp"

#include <sched.h>

namespace weir::test {
namespace {

// For this thread, as long as it lives.
class on_cpu {
 public:
  explicit on_cpu(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(cpu), &only);
    bound_ = sched_getaffinity(0, sizeof before_, &before_) == 0 && sched_setaffinity(0, sizeof only, &only) == 0;
  }
  ~on_cpu() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  on_cpu(const on_cpu&) = delete;
  on_cpu& operator=(const on_cpu&) = delete;
  bool is_bound() const { return bound_; }

 private:
  cpu_set_t before_;
  bool bound_;
};

void spin_for(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) continue;
}

// The CPU that is left when each worker but one is in a task that ends when `over` says so; -1: none.
int cpu_beside_long_tasks(runtime& rt, std::atomic<bool>& over) {
  cpu_set_t left;
  if (sched_getaffinity(0, sizeof left, &left) != 0) return -1;
  std::atomic<int> begun{0};
  std::vector<std::atomic<int>> cpus(static_cast<std::size_t>(rt.workers() - 1));
  for (auto& cpu : cpus)
    rt.spawn([&cpu, &begun, &over] {
      cpu = sched_getcpu();
      begun++;
      while (!over) std::this_thread::yield();
    });
  while (begun < rt.workers() - 1) std::this_thread::yield();
  for (const auto& cpu : cpus)
    if (cpu >= 0) CPU_CLR(static_cast<std::size_t>(cpu.load()), &left);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &left)) return cpu;
  return -1;
}

// The only worker that is in no long task is that of the creator's CPU.
TEST(creators, do_not_keep_from_running_what_they_create) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one CPU: there is no worker beside the creator's";
  watchdog dog(300, "a creator beside long tasks");
  runtime rt({.backlog = std::size_t{1} << 20});
  if (rt.workers() < 2) GTEST_SKIP() << "one worker";
  std::atomic<bool> over{false};
  const int cpu = cpu_beside_long_tasks(rt, over);
  const on_cpu here(cpu >= 0 ? cpu : sched_getcpu());
  // Long enough for that worker to be at work on one whenever it does not sleep.
  const std::chrono::microseconds as_long(100), between(5);
  constexpr int most_at_a_time = 50'000, rounds = 30;
  std::atomic<int> ran{0};
  int created = 0;
  for (int round = 0; round < rounds && created < most_at_a_time; round++) {
    const int before = ran;
    for (created = 0; created < most_at_a_time && ran == before; created++) {
      rt.spawn([&] {
        spin_for(as_long);
        ran++;
      });
      spin_for(between);
    }
  }
  EXPECT_LT(created, most_at_a_time) << "nothing was run meanwhile";
  over = true;
  rt.wait();
}

}  // namespace
}  // namespace weir::test
