// A system that allows no more threads. This program has a pthread_create of its own, which refuses when it is told to.
#include "tests/support/support.hpp"

#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

#ifndef WEIR_TEST_SANITIZED  // sanitizers have their own

namespace {
std::atomic<int> threads_allowed{-1};  // below 0: any number
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_allowed == 0) return EAGAIN;
  if (threads_allowed > 0) threads_allowed--;
  return real(thread, attributes, run, argument);
}

namespace weir::test {
namespace {

TEST(thread_limit, a_worker_that_cannot_be_started_is_an_error) {
  watchdog dog(60);
  for (const int allowed : {0, 1, 3}) {
    threads_allowed = allowed;
    try {
      runtime rt({.workers = 8});
      ADD_FAILURE() << "eight workers with " << allowed << " threads";
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("worker " + std::to_string(allowed) + " of 8 cannot be started"), std::string::npos) << e.what();
    }
    threads_allowed = -1;
  }
  runtime rt({.workers = 8});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });
  rt.wait();
  EXPECT_EQ(ran, 100);
}

}  // namespace
}  // namespace weir::test

#endif
