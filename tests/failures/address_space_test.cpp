// A process whose address space is limited (ulimit -v): there is an error with a sentence, or all works.
#include "tests/support/support.hpp"

#include <fstream>
#include <new>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir::test {
namespace {

std::size_t address_space_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// In a child process: 0: it worked; 1: an error; else what must not be.
int status_with(std::size_t bytes) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    try {
      runtime rt({.workers = 32});
      const auto d = rt.make_data(std::vector<int>(100'000));
      std::atomic<int> ran{0};
      for (int i = 0; i < 100; i++) rt.spawn(inout(d), [&](auto) { ran++; });
      rt.wait();
      _exit(ran == 100 ? 0 : 2);
    } catch (const error& e) {
      _exit(e.what()[0] != 0 ? 1 : 3);
    } catch (const std::bad_alloc&) {
      _exit(1);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(address_space, any_limit_gives_an_error_or_a_runtime) {
  if (sanitized) GTEST_SKIP() << "sanitizers take terabytes of address space";
  const std::size_t step = 2500 * 1024, stride = more_effort() > 1 ? 1 : 12, now = address_space_bytes();
  for (std::size_t i = 0; i < 400; i += stride) {
    const int status = status_with(now + i * step);
    EXPECT_TRUE(status == 0 || status == 1) << status << " with " << i << " times 2,500 KiB more";
  }
}

}  // namespace
}  // namespace weir::test
