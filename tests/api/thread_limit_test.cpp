// A system that allows no more threads.
#include "tests/support/support.hpp"
#include "tests/support/thread_limit.hpp"

#ifndef WEIR_TEST_SANITIZED  // sanitizers have a pthread_create of their own

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
      WEIR_EXPECT_CONTAINS(e.what(), "worker " + std::to_string(allowed) + " of 8 cannot be started");
    }
    threads_allowed = -1;
  }
  runtime rt({.workers = 8});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });
  rt.wait();
  EXPECT_EQ(ran, 100);
}

TEST(thread_limit, blocking_without_a_thread_to_stand_in_is_a_call) {
  watchdog dog(60);
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    threads_allowed = 0;
    std::atomic<int> ran{0};
    for (int i = 0; i < 20; i++)
      rt.spawn([&] {
        const int worker = this_task::worker();
        ran += blocking([] { return this_task::worker() == -1; });
        EXPECT_EQ(this_task::worker(), worker);
      });
    rt.wait();
    EXPECT_EQ(ran, 20);
    threads_allowed = 1;  // and later there is one
    gate g;
    rt.spawn([&] { blocking([&] { g.pass(); }); });
    g.await_arrivals(1);
    rt.run([&] { g.open(); });
    rt.wait();
    threads_allowed = -1;
  }
}

}  // namespace
}  // namespace weir::test

#endif
