// Weir's own threads: their stacks, and what they are bound to.
#include "os/threads.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

namespace weir::os {
namespace {

TEST(thread, runs_on_the_stack_it_is_told_of) {
  bool inside = false;
  std::size_t bytes = 0;
  thread t({std::size_t{1} << 20, std::size_t{1} << 20}, [&](stack_bounds stack) {
    const char here = 0;
    inside = stack.low < &here && &here < stack.high;
    bytes = static_cast<std::size_t>(stack.high - stack.low);
  });
  t.join();
  t.join();
  EXPECT_TRUE(inside);
  EXPECT_EQ(bytes, std::size_t{1} << 20);
}

// As deep as the stack allows, but for a little.
TEST(thread, all_of_a_large_stack_can_be_used) {
  thread(usual_stack(), [](stack_bounds stack) {
    struct descent {
      static void go_down(const char* end) {
        volatile char frame[4096];
        frame[0] = 1;
        if (const_cast<const char*>(frame) > end) go_down(end);
        frame[1] = frame[0];
      }
    };
    descent::go_down(std::max(stack.low + 256 * 1024, stack.high - (32 << 20)));
  }).join();
}

// In a child, whose limit does not matter to anybody else.
template <class F>
int status_of_child(F&& f) {
  const pid_t child = fork();
  if (child == 0) _exit(f());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::size_t mapped_bytes() {
  std::size_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they map terabytes
TEST(thread, where_addresses_are_limited_the_stack_is_smaller) {
  constexpr int nothing_limits = 77;
  const int status = status_of_child([] {
    const rlimit limit{mapped_bytes() + (std::size_t{80} << 20), RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return nothing_limits;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (mmap(nullptr, std::size_t{1} << 30, PROT_NONE, flags, -1, 0) != MAP_FAILED) return nothing_limits;
    std::size_t bytes = 0;
    // What the system has by default can be more than what is left, too.
    const auto measure = [&](stack_bounds s) { bytes = static_cast<std::size_t>(s.high - s.low); };
    thread({std::size_t{256} << 20, least_stack_bytes()}, measure).join();
    if (bytes != std::size_t{64} << 20) return 1;
    if (usual_stack().wanted_bytes != usual_stack().least_bytes) return 2;
    try {
      thread({std::size_t{256} << 20, std::size_t{256} << 20}, [](stack_bounds) {});
    } catch (const std::system_error& e) {
      return e.code().value() == ENOMEM ? 0 : 3;
    }
    return 4;
  });
  if (status == nothing_limits)
    GTEST_SKIP() << "the system does not limit addresses (QEMU's user-mode emulator does not)";
  EXPECT_EQ(status, 0);
}
#endif

TEST(thread, ended_threads_leave_nothing_mapped) {
  const std::size_t before = mapped_bytes();
  for (int i = 0; i < 20; i++) thread({std::size_t{64} << 20, std::size_t{64} << 20}, [](stack_bounds) {}).join();
  EXPECT_LT(mapped_bytes(), before + (std::size_t{20 * 64} << 20));
}

TEST(thread, knows_how_often_it_has_blocked) {
  const long before = times_this_thread_blocked();
  for (int i = 0; i < 3; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(times_this_thread_blocked(), before + 3);
}

TEST(affinity, a_bound_thread_knows_what_it_was_allowed_and_its_child_gets_it_back) {
  const auto before = affinity_of_this_thread();
  if (!before || before->size() < 2) GTEST_SKIP() << "one CPU, or the system does not say which";
  int child_status = -1;
  bool bound = false, remembered = false, threads_are_free = false;
  thread({std::size_t{1} << 20, std::size_t{1} << 20}, [&](stack_bounds) {
    cpu_binding binding;
    if (!binding.bind({before->back()})) return;
    bound = affinity_of_this_thread() == std::vector{before->back()};
    binding.bind({before->front()});
    remembered = allowed_before_binding() == before;
    const auto look = [&](stack_bounds) { threads_are_free = affinity_of_this_thread() == before; };
    thread({std::size_t{1} << 20, std::size_t{1} << 20}, look).join();
    child_status =
        status_of_child([&] { return affinity_of_this_thread() == before && !allowed_before_binding() ? 0 : 1; });
  }).join();
  if (!bound) GTEST_SKIP() << "the system does not bind threads";
  EXPECT_TRUE(remembered);
  EXPECT_TRUE(threads_are_free);
  EXPECT_EQ(child_status, 0);
  EXPECT_EQ(affinity_of_this_thread(), before);
}

}  // namespace
}  // namespace weir::os
