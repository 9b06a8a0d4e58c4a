// Runtimes and data that are static objects: they end after the threads' own objects, and in whatever order.
#include "tests/support/support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <optional>

namespace weir::test {
namespace {

// Ends a child process after f, static objects and all. Its exit status; -1: it died.
template <class F>
int exit_status_after(F&& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(sanitized ? 300 : 60);
    f();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void use(runtime& rt) {
  std::atomic<int> ran{0};
  const auto d = rt.make_data(std::vector<int>{0});
  for (int i = 0; i < 20; i++) rt.spawn(inout(d), [&](auto v) { v[0]++, ran++; });
  rt.wait();
  if (ran != 20) std::_Exit(3);
}

TEST(statics, runtimes_of_which_a_thread_uses_several) {
  for (int run = 0; run < 3; run++)
    EXPECT_EQ(exit_status_after([] {
                static runtime first({.workers = 2});
                static runtime second({.workers = 1});
                use(first);
                use(second);
                runtime third({.workers = 1});
                use(third);
                use(first);
              }),
              0);
}

TEST(statics, threads_that_end_before_and_with_the_process) {
  EXPECT_EQ(exit_status_after([] {
              static runtime first({.workers = 2}), second({.workers = 2});
              std::vector<std::thread> all;
              for (int i = 0; i < 8; i++)
                all.emplace_back([] {
                  use(first);
                  use(second);
                });
              for (std::thread& t : all) t.join();
              static std::atomic<bool> has_used{false};
              std::thread([] {
                use(second);
                use(first);
                has_used = true;
                for (;;) pause();
              }).detach();
              use(first);
              while (!has_used) std::this_thread::yield();  // a runtime outlives who uses it
            }),
            0);
}

TEST(statics, data_that_outlive_their_runtime) {
  EXPECT_EQ(exit_status_after([] {
              static data<int> before;
              static std::optional<stream<int>> pipe;
              static runtime rt({.workers = 2});
              static data<int> after = rt.make_data(std::vector<int>{1, 2, 3}),
                               large = rt.make_data(std::vector<int>(20'000'000));
              before = rt.make_data<int>(1000);
              pipe = rt.make_stream<int>();
              rt.spawn(inout(after), pipe->push(1), [](auto v, auto p) { p[0] = v[0]; });
              rt.spawn(pipe->pop(1), out(before), [](auto, auto b) { b[0] = 1; });
            }),
            0);
}

TEST(statics, with_a_trace) {
  const std::string file = ::testing::TempDir() + "statics_test_trace." + std::to_string(getpid()) + ".json";
  const std::string second_file = ::testing::TempDir() + "statics_test_trace." + std::to_string(getpid()) + ".2.json";
  EXPECT_EQ(exit_status_after([&] {
              static runtime first({.workers = 1, .trace = file});
              use(first);
              runtime second({.workers = 1, .trace = file});  // ends first
              use(second);
            }),
            0);
  EXPECT_EQ(access(file.c_str(), R_OK), 0);
  unlink(file.c_str());
  unlink(second_file.c_str());
  EXPECT_EQ(exit_status_after([&] {
              static runtime first({.workers = 1, .trace = file});
              static runtime second({.workers = 1, .trace = file});
              use(first);
              use(second);
            }),
            0);
  EXPECT_EQ(access(second_file.c_str(), R_OK), 0);
  unlink(file.c_str());
  unlink(second_file.c_str());
}

// What a thread remembers does not grow with the runtimes it has seen, and its slots are free again when it ends.
TEST(statics, slots_of_threads_that_end_are_used_again) {
  if (sanitized) GTEST_SKIP() << "some thousand threads take long under a sanitizer";
  watchdog dog(120, "threads one after the other");
  runtime rt({.workers = 1});
  std::atomic<int> ran{0};
  for (int i = 0; i < 1500; i++) std::thread([&] { rt.spawn([&] { ran++; }); }).join();
  rt.wait();
  EXPECT_EQ(ran, 1500);
}

}  // namespace
}  // namespace weir::test
