// A runtime with nothing to do uses no CPU time.
#include "tests/support/support.hpp"

#include <sys/resource.h>

namespace weir::test {
namespace {

double cpu_ms() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  const auto ms = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3; };
  return ms(u.ru_utime) + ms(u.ru_stime);
}

// CPU time while everything should sleep. Falling asleep is not what is measured, so it may take a while first.
double used_in_half_a_second() {
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return cpu_ms() - before;
}

// Sanitizers have threads of their own.
constexpr double most_ms = sanitized ? 100 : 5;

TEST(idle, after_work_nothing_runs) {
  for (const char* policy : {"local", "fifo"}) {
    runtime rt({.workers = 4, .policy = policy, .machine = "nodes:2 cpus:2"});
    for (int i = 0; i < 1000; i++) rt.spawn([] {});
    rt.wait();
    EXPECT_LT(used_in_half_a_second(), most_ms) << policy;
  }
}

TEST(idle, who_waits_sleeps) {
  runtime rt({.workers = 4});
  const auto s = rt.make_stream<int>();
  rt.spawn(s.pop(1), [](auto) {});
  runtime::open_end more(rt);
  std::thread waiting([&] { rt.wait(); });
  EXPECT_LT(used_in_half_a_second(), most_ms);
  rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
  waiting.join();
}

TEST(idle, a_task_that_waits_for_another_sleeps) {
  runtime rt({.workers = 2});
  gate g;
  rt.spawn([&] {
    scope s(rt);
    s.spawn([&] { g.pass(); });
    s.spawn([&] { g.pass(); });
    s.wait();
  });
  g.await_arrivals(1);
  EXPECT_LT(used_in_half_a_second(), most_ms);
  g.open();
  rt.wait();
}

TEST(idle, who_stands_in_for_a_task_that_blocks_sleeps) {
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    gate g;
    for (int i = 0; i < 3; i++) rt.spawn([&] { blocking([&] { g.pass(); }); });
    g.await_arrivals(3);
    EXPECT_LT(used_in_half_a_second(), most_ms) << workers;
    g.open();
    rt.wait();
  }
}

}  // namespace
}  // namespace weir::test
