// Where workers are bound: beside other runtimes, in tasks, and where the system does not say what is allowed.
#include "tests/support/support.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <set>

namespace weir::test {
namespace {

using cpus = std::vector<int>;

cpus allowed_here() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  cpus all;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set)) all.push_back(i);
  return all;
}

bool binding_works() { return !runtime({.workers = 1}).cpus_of_worker(0).empty(); }

// A machine that has CPUs of its own for each of `runtimes` workers.
bool too_small(int runtimes) { return runtime().workers() < runtimes; }

TEST(binding, workers_are_where_the_runtime_says) {
  if (!binding_works()) GTEST_SKIP() << "the system does not bind threads";
  const int all = runtime().workers();
  for (int workers = 1; workers <= all; workers = workers < all ? std::min(all, 2 * workers) : all + 1) {
    runtime rt({.workers = workers, .waiting_threads_execute = false});  // this thread is bound nowhere
    std::mutex mutex;
    for (int i = 0; i < 20 * workers; i++)
      rt.spawn([&] {
        const cpus here = allowed_here();
        std::lock_guard guard(mutex);
        EXPECT_EQ(here, rt.cpus_of_worker(this_task::worker()));
        EXPECT_EQ(this_task::node(), rt.node_of_worker(this_task::worker()));
      });
    rt.wait();
  }
}

// Else it would share the CPU with that worker, and the one whose place it has would leave its own CPU idle. Not at once:
// that worker may be looking for work.
TEST(binding, a_thread_has_the_place_of_its_cpus_worker) {
  if (!binding_works()) GTEST_SKIP() << "the system does not bind threads";
  const cpus all = allowed_here();
  if (all.size() < 2) GTEST_SKIP() << "there is one CPU";
  const watchdog dog(60, "a thread that does not come into its CPU's place");
  runtime rt({.workers = static_cast<int>(all.size())});
  std::thread([&] {
    for (const std::size_t i : {0, 1, 0}) {
      cpu_set_t here;
      CPU_ZERO(&here);
      CPU_SET(static_cast<std::size_t>(all[i]), &here);
      ASSERT_EQ(sched_setaffinity(0, sizeof here, &here), 0);
      const auto me = std::this_thread::get_id();
      int place = -1;
      while (place < 0 || rt.cpus_of_worker(place) != cpus{all[i]})
        parallel_for(rt, 0, 100, [&](int) {
          if (std::this_thread::get_id() == me) place = this_task::worker();
        });
    }
  }).join();
}

TEST(binding, one_worker_for_each_cpu_has_that_alone) {
  if (!binding_works()) GTEST_SKIP() << "the system does not bind threads";
  const cpus all = allowed_here();
  runtime rt({.workers = static_cast<int>(all.size())});
  std::set<int> used;
  for (int w = 0; w < rt.workers(); w++) {
    ASSERT_EQ(rt.cpus_of_worker(w).size(), 1u);
    used.insert(rt.cpus_of_worker(w).front());
  }
  EXPECT_EQ(used, std::set<int>(all.begin(), all.end()));
}

// Neither two runtimes nor two processes may meet on one CPU while others are free: they have the choice, or different
// ones.
TEST(binding, small_runtimes_are_not_all_on_the_first_cpu) {
  if (!binding_works() || too_small(2)) GTEST_SKIP() << "one CPU, or the system does not bind threads";
  runtime first({.workers = 1}), second({.workers = 1});
  cpus both = first.cpus_of_worker(0);
  for (int c : second.cpus_of_worker(0)) both.push_back(c);
  EXPECT_GE(std::set<int>(both.begin(), both.end()).size(), 2u);
}

TEST(binding, the_programs_threads_are_left_alone) {
  const cpus before = allowed_here();
  runtime rt;
  rt.run([] {});
  EXPECT_EQ(allowed_here(), before);
  std::thread([&] { EXPECT_EQ(allowed_here(), before); }).join();
}

TEST(binding, a_runtime_made_in_a_task_has_the_process_to_itself) {
  const int all = runtime().workers();
  runtime rt;
  rt.run([&] {
    runtime inner;
    EXPECT_EQ(inner.workers(), all);
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; i++) inner.spawn([&] { ran++; });
    inner.wait();
    EXPECT_EQ(ran, 100);
    runtime unbound({.bind = false});
    EXPECT_TRUE(unbound.cpus_of_worker(0).empty());
    if (std::getenv("WEIR_WORKERS") == nullptr)
      unbound.run([&] { EXPECT_EQ(static_cast<int>(allowed_here().size()), all); });
  });
}

TEST(binding, described_machines_bind_nothing) {
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  EXPECT_TRUE(rt.cpus_of_worker(1).empty());
  EXPECT_THROW(static_cast<void>(rt.cpus_of_worker(2)), usage_error);
}

// As some containers and sandboxes do.
bool refuse_getaffinity(int error) {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(binding, where_the_system_does_not_say_which_cpus_are_allowed) {
  if (sanitized) GTEST_SKIP() << "sanitizers do not support threads in the forked child of a process with threads";
  const int workers = runtime().workers();
  for (const int error : {EPERM, ENOSYS}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(static_cast<unsigned>(30 * slowdown()));
      if (!refuse_getaffinity(error)) _exit(77);
      runtime rt;
      std::atomic<int> ran{0};
      for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });
      rt.wait();
      _exit(ran != 100 ? 1 : rt.workers() != workers ? 2 : rt.cpus_of_worker(0).empty() ? 0 : 3);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "the system has no seccomp filters";
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

}  // namespace
}  // namespace weir::test
