// A child that was forked and does not exec has the runtime's memory but not its workers: using the runtime is an
// error with a sentence, and leaving it does not hang.
#include "tests/support/support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace weir::test {
namespace {

// Runs f in a forked child, which exits with its result. 99: the child hung and was killed; 98: it died of a signal.
template <class F>
int in_child(F&& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    int result = 97;
    try {
      result = f();
    } catch (...) {
    }
    _exit(result);
  }
  for (int i = 0; i < (sanitized ? 6000 : 1500); i++) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return 99;
}

// 0 if f throws a weir::error that speaks of the fork.
template <class F>
int refused(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return contains(e.what(), "forked") ? 0 : 1;
  }
  return 2;
}

class fork_without_exec : public ::testing::Test {
 protected:
  void SetUp() override {
    rt.emplace(runtime_options{.workers = 2});
    d = rt->make_data(std::vector<int>(100, 4), "d");
    s = rt->make_stream<int>("s");
    for (int i = 0; i < 10; i++) rt->spawn(inout(d), [](auto v) { v[0]++; });
    rt->wait();
  }
  void TearDown() override {
    // The parent has not noticed.
    rt->spawn(inout(d), [](auto v) { v[0]++; });
    EXPECT_EQ(d.read()[0], 15);
    rt->wait();
  }

  std::optional<runtime> rt;
  data<int> d;
  stream<int> s;
};

TEST_F(fork_without_exec, spawning_is_an_error) {
  EXPECT_EQ(in_child([&] { return refused([&] { rt->spawn([] {}); }); }), 0);
  EXPECT_EQ(in_child([&] { return refused([&] { rt->spawn(in(d), [](auto) {}); }); }), 0);
  EXPECT_EQ(in_child([&] { return refused([&] { rt->run([] {}); }); }), 0);
}

TEST_F(fork_without_exec, waiting_is_an_error) {
  EXPECT_EQ(in_child([&] { return refused([&] { rt->wait(); }); }), 0);
  EXPECT_EQ(in_child([&] { return refused([&] { d.read(); }); }), 0);
}

TEST_F(fork_without_exec, making_data_is_an_error) {
  EXPECT_EQ(in_child([&] { return refused([&] { rt->make_data<int>(5); }); }), 0);
  EXPECT_EQ(in_child([&] { return refused([&] { rt->make_data(std::vector<int>(5)); }); }), 0);
  EXPECT_EQ(in_child([&] { return refused([&] { rt->make_stream<int>(); }); }), 0);
}

TEST_F(fork_without_exec, from_another_thread_is_an_error_too) {
  int result = -1;
  std::thread([&] { result = in_child([&] { return refused([&] { rt->spawn([] {}); }); }); }).join();
  EXPECT_EQ(result, 0);
}

TEST_F(fork_without_exec, leaving_does_not_hang) {
  EXPECT_EQ(in_child([&] {
              { const auto copy = d; }
              d = {};
              s = {};
              { scope unused(*rt); }
              rt.reset();
              return 0;
            }),
            0);
}

TEST_F(fork_without_exec, views_may_be_left_behind) {
  std::optional<view<int>> v(d.read());
  EXPECT_EQ(in_child([&] {
              const bool same = (*v)[0] == 14;
              v.reset();
              return same ? 0 : 1;
            }),
            0);
}

TEST_F(fork_without_exec, while_tasks_run_does_not_hang) {
  gate g;
  rt->spawn([&] { g.pass(); });
  g.await_arrivals(1);
  for (int i = 0; i < 100; i++) rt->spawn(in(d), [](auto) {});
  EXPECT_EQ(in_child([&] {
              rt.reset();
              return 0;
            }),
            0);
  g.open();
  rt->wait();
}

// Sanitizers cannot start threads in a child of a process with threads.
TEST_F(fork_without_exec, a_new_runtime_works) {
  if (sanitized) GTEST_SKIP() << "sanitizers do not support threads in the forked child of a process with threads";
  EXPECT_EQ(in_child([&] {
              runtime own({.workers = 2});
              const auto x = own.make_data(std::vector<int>{0});
              for (int i = 0; i < 100; i++) own.spawn(inout(x), [](auto v) { v[0]++; });
              own.wait();
              return x.read()[0] == 100 ? 0 : 1;
            }),
            0);
}

// 0 if a runtime of its own works.
int use_a_runtime() {
  runtime own({.workers = 2});
  const auto x = own.make_data(std::vector<int>{0});
  for (int i = 0; i < 100; i++) own.spawn(inout(x), [](auto v) { v[0]++; });
  own.wait();
  return x.read()[0] == 100 ? 0 : 1;
}

// What the maker's thread has locked at that moment would stay locked in the child.
TEST(fork_while_others, make_and_end_runtimes_does_not_hang) {
  std::atomic<bool> over{false};
  std::vector<std::thread> makers;
  for (int i = 0; i < 2; i++)
    makers.emplace_back([&] {
      while (!over) {
        runtime rt({.workers = 2});
        rt.spawn([] {});
      }
    });
  const std::size_t children = effort(12);
  for (std::size_t i = 0; i < children; i++)
    EXPECT_EQ(in_child([] { return sanitized ? 0 : use_a_runtime(); }), 0) << "child " << i;
  over = true;
  for (std::thread& t : makers) t.join();
}

// The child has the task's thread alone, and is not bound to the CPUs of its worker.
TEST(fork_in_a_task, a_new_runtime_has_all_cpus) {
  runtime rt;
  const int workers = runtime().workers();
  int result = -1;
  rt.run([&] {
    result = in_child([&] {
      if (refused([&] { rt.spawn([] {}); }) != 0) return 1;
      if (sanitized) return 0;
      return runtime().workers() == workers ? use_a_runtime() : 2;
    });
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace weir::test
