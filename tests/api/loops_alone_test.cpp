// Loops that their caller may run alone, and those that it must not.
#include "tests/support/loop_shapes.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace weir::test {
namespace {

// A chunk that waits keeps no other from who has not begun one.
TEST(parallel_for, lets_concurrent_bodies_wait_for_each_other) {
  watchdog dog(60, "a chunk that waits for the next one");
  for (const char* shape : {"nodes:2 cpus:1", one_node}) {
    runtime rt({.workers = 2, .machine = shape});
    for (int round = 0; round < 3; round++) {
      std::atomic<bool> done[128] = {};
      parallel_for(rt, 0, 128, [&](int i) {
        while (i == 1 && !done[2]) std::this_thread::yield();
        done[i] = true;
      }, {.grain = 1, .concurrent = true});
      for (const auto& d : done) EXPECT_TRUE(d);
    }
  }
}

// What is called through one type of function may be short a thousand times, and then long: it is shared all the same.
TEST(parallel_for, shares_a_long_loop_after_short_ones_with_the_same_body) {
  watchdog dog(60, "a loop that nobody is called to");
  runtime rt({.workers = 2, .machine = one_node});
  const auto for_each = [&](const std::function<void(int)>& f) {
    parallel_for(rt, 0, 128, [&](int i) { f(i); }, {.grain = 1});
  };
  for (int i = 0; i < 1000; i++) for_each([](int) {});
  std::atomic<unsigned> came{0};
  for_each([&](int i) {
    came |= 1u << this_task::worker();
    if (i % 64 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the first chunk of a part
    else while (came != 3) std::this_thread::yield();
  });
  EXPECT_EQ(came, 3u);
}

// Its caller calls the next one at once, and in loops it runs none of them itself.
TEST(parallel_for, leaves_time_for_tasks_between_loops) {
  watchdog dog(120, "tasks beside loops that go on for ever");
  for (const char* machine : {"nodes:8 cpus:1", one_node}) {
    runtime rt({.workers = 4, .machine = machine});
    std::atomic<int> done{0};
    const auto loop = [&] {
      parallel_for(rt, 0, 64, [](int) {
        for (volatile int k = 0; k < 2000;) k = k + 1;
      });
    };
    for (int round = 1; round <= 20; round++) {
      loop();
      rt.spawn([&] { done++; });
      while (done < round) loop();
    }
  }
}

// Whenever a worker leaves one loop another has been posted.
TEST(parallel_for, leaves_time_for_tasks_beside_loops_of_many_threads) {
  watchdog dog(120, "tasks beside loops of many threads");
  runtime rt({.workers = 4, .machine = "nodes:8 cpus:1"});
  std::atomic<bool> over{false};
  std::vector<std::thread> callers;
  for (int t = 0; t < 6; t++)
    callers.emplace_back([&] {
      while (!over) parallel_for(rt, 0, 64, [](int) { std::this_thread::yield(); }, {.grain = 1});
    });
  for (int round = 0; round < 20; round++) {
    std::atomic<bool> done{false};
    rt.spawn([&] { done = true; });
    while (!done) std::this_thread::yield();
  }
  over = true;
  for (auto& t : callers) t.join();
}

// On a machine with many workers a part is taken in very many steps. All others are busy, so nobody else takes what
// this one leaves.
TEST(parallel_for, has_its_caller_run_all_parts_to_the_end) {
  const watchdog dog(120);
  constexpr int workers = 24, elements = workers * 2000;
  for (const char* shape : {"nodes:1 cpus:24", "nodes:24 cpus:1"}) {
    SCOPED_TRACE(shape);
    runtime rt({.workers = workers, .machine = shape});
    gate busy;
    for (int i = 0; i < workers - 1; i++) rt.spawn([&] { busy.pass(); });
    busy.await_arrivals(workers - 1);
    std::vector<int> visits(elements);
    rt.run([&] { parallel_for(rt, 0, elements, [&](int i) { visits[static_cast<std::size_t>(i)]++; }, {.grain = 1}); });
    EXPECT_EQ(std::ranges::count(visits, 1), elements);
    busy.open();
    rt.wait();
  }
}

}  // namespace
}  // namespace weir::test
