// A creator that runs far ahead is held up, so that a million tasks do not need memory for a million frames.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

// Counts the closures alive: one a task that is not done.
struct live_count {
  std::atomic<std::int64_t> now{0}, most{0};
  void add(std::int64_t n) {
    const std::int64_t value = now += n;
    std::int64_t seen = most;
    while (value > seen && !most.compare_exchange_weak(seen, value)) {
    }
  }
};

class counted {
 public:
  explicit counted(live_count& c) : count_(&c) { count_->add(1); }
  counted(counted&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  ~counted() {
    if (count_) count_->add(-1);
  }
  void operator()() const {}

 private:
  live_count* count_;
};

constexpr std::size_t backlog = 500;
// A creator looks at every 65th spawn, and then waits or helps until a quarter is worked off.
constexpr std::int64_t bound = backlog + 65 + 1;

TEST(backlog, of_a_creator_outside_is_bounded) {
  watchdog dog(120, "a million tasks");
  for (int workers : {1, 2}) {
    runtime rt({.workers = workers, .backlog = backlog});
    live_count live;
    const std::size_t tasks = effort(1'000'000) / static_cast<std::size_t>(workers);
    for (std::size_t i = 0; i < tasks; i++) rt.spawn(counted(live));
    rt.wait();
    EXPECT_EQ(live.now, 0);
    EXPECT_LE(live.most, bound);
    EXPECT_EQ(rt.stats().tasks, tasks);
  }
}

TEST(backlog, of_a_creator_inside_a_task_is_bounded) {
  watchdog dog(120, "a million tasks");
  runtime rt({.workers = 1, .backlog = backlog});
  live_count live;
  rt.spawn([&] {
    for (std::size_t i = 0; i < effort(300'000); i++) rt.spawn(counted(live));
  });
  rt.wait();
  EXPECT_EQ(live.now, 0);
  EXPECT_LE(live.most, bound);
}

// With one worker nobody else finds out what tasks like these do: their creator tries one when it is far ahead.
TEST(backlog, of_tasks_behind_one_another_is_bounded) {
  watchdog dog(120);
  runtime rt({.workers = 1, .backlog = backlog});
  live_count live;
  rt.spawn([&] {
    const auto d = rt.make_data(std::vector<int>{0});
    for (std::size_t i = 0; i < effort(100'000); i++) rt.spawn(inout(d), [body = counted(live)](auto) { body(); });
  });
  rt.wait();
  EXPECT_EQ(live.now, 0);
  EXPECT_LE(live.most, 2 * bound);
}

TEST(backlog, of_several_creators_is_bounded_together) {
  watchdog dog(120);
  runtime rt({.workers = 2, .backlog = backlog});
  live_count live;
  std::vector<std::thread> creators;
  for (int t = 0; t < 4; t++)
    creators.emplace_back([&] {
      for (std::size_t i = 0; i < effort(50'000); i++) rt.spawn(counted(live));
    });
  for (std::thread& t : creators) t.join();
  rt.wait();
  EXPECT_EQ(live.now, 0);
  EXPECT_LE(live.most, bound + 3 * 66);
}

// What is ready may wait for what is still to be created: then the creator goes on.
TEST(backlog, does_not_hold_up_who_everybody_waits_for) {
  watchdog dog(60, "a creator everybody waits for");
  runtime rt({.workers = 2, .backlog = 100});
  const auto s = rt.make_stream<int>();
  std::atomic<int> sum{0};
  for (int i = 0; i < 2000; i++) rt.spawn(s.pop(1), [&](auto v) { sum += v[0]; });
  for (int i = 0; i < 2000; i++) rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
  rt.wait();
  EXPECT_EQ(sum, 2000);
  rt.spawn([&] {
    for (int i = 0; i < 2000; i++) rt.spawn(s.pop(1), [&](auto v) { sum += v[0]; });
    for (int i = 0; i < 2000; i++) rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
  });
  rt.wait();
  EXPECT_EQ(sum, 4000);
}

TEST(backlog, creators_may_nest) {
  watchdog dog(60, "nested creators");
  runtime rt({.workers = 2, .backlog = 64});
  std::atomic<int> ran{0};
  rt.spawn([&] {
    for (int i = 0; i < 200; i++)
      rt.spawn([&] {
        for (int k = 0; k < 200; k++) rt.spawn([&] { ran++; });
      });
  });
  rt.wait();
  EXPECT_EQ(ran, 40'000);
}

}  // namespace
}  // namespace weir::test
