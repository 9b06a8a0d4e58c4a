// A pthread_create that refuses when a test says so.
#include "tests/support/thread_limit.hpp"

#include "tests/support/support.hpp"

#include <cerrno>

#include <dlfcn.h>
#include <pthread.h>

#ifndef WEIR_TEST_SANITIZED

namespace weir::test {
std::atomic<int> threads_allowed{-1};
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (weir::test::threads_allowed == 0) return EAGAIN;
  if (weir::test::threads_allowed > 0) weir::test::threads_allowed--;
  return real(thread, attributes, run, argument);
}

#endif
