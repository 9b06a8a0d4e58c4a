// Sixty-four threads of the program that come and go: they create tasks, wait for them, read data, run loops and
// pipelines, end while they keep a worker's place, and cancel. Each checks its own results.
#include "tests/stress/stress.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace weir::test {
namespace {

constexpr int threads_at_once = 64;

class visitor {
 public:
  visitor(runtime& rt, std::uint64_t seed) : rt_(rt), random_(seed) {}

  void act() {
    switch (between(random_, 0, 8)) {
      case 0: return wait_for_scope(false);
      case 1: return wait_for_scope(true);
      case 2: return read_datum();
      case 3: return loop();
      case 4: return reduce();
      case 5: return pipeline();
      case 6: return in_a_task();
      case 7: return throw_through_a_wait();
      default: return own_memory();
    }
  }

 private:
  std::size_t few(std::size_t most) { return between(random_, 0, most); }

  // Nested: some of the tasks wait themselves.
  void wait_for_scope(bool nested) {
    const std::size_t tasks = few(100);
    std::atomic<std::size_t> ran{0};
    scope s(rt_);
    for (std::size_t i = 0; i < tasks; i++)
      s.spawn([&, nested] {
        if (nested) {
          scope inner(rt_);
          inner.spawn([&] { ran++; });
          inner.wait();
        } else {
          ran++;
        }
      });
    s.wait();
    EXPECT_EQ(ran, tasks);
  }
  void read_datum() {
    const auto d = rt_.make_data(std::vector<std::size_t>{0});
    const std::size_t times = few(20);
    for (std::size_t i = 0; i < times; i++) rt_.spawn(inout(d), [](std::span<std::size_t> v) { v[0]++; });
    EXPECT_EQ(d.read()[0], times);
  }
  void loop() {
    std::vector<std::uint8_t> visits(few(2000));
    parallel_for(rt_, visits, [](std::uint8_t& v) { v++; }, {.grain = few(3)});
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(visits, 1)), visits.size());
  }
  void reduce() {
    const std::size_t n = few(2000);
    const auto sum = parallel_reduce(rt_, std::size_t{0}, n, std::size_t{0}, std::identity(), std::plus());
    EXPECT_EQ(sum, n * (n - (n > 0 ? 1 : 0)) / 2);
  }
  void pipeline() {
    const std::size_t tokens = few(200);
    std::size_t in_order = 0;
    auto source = [next = std::size_t{0}, tokens]() mutable {
      return next < tokens ? std::optional(next++) : std::nullopt;
    };
    parallel_pipeline(rt_, {.tokens = few(8)}, source, parallel_stage([](std::size_t t) { return t; }),
                      serial_stage([&](std::size_t t) { in_order += t == in_order ? 1 : 0; }));
    EXPECT_EQ(in_order, tokens);
  }
  void in_a_task() {
    std::size_t sum = 0;
    const auto value = [](int i) { return static_cast<std::size_t>(i); };
    rt_.run([&] { sum = parallel_reduce(rt_, 0, 100, std::size_t{0}, value, std::plus()); });
    EXPECT_EQ(sum, 4950u);
  }
  void throw_through_a_wait() {
    scope s(rt_);
    for (std::size_t i = few(10); i-- > 0;) s.spawn([] {});
    s.spawn([] { throw std::runtime_error("on purpose"); });
    EXPECT_THROW(s.wait(), task_failed);
  }
  void own_memory() {
    std::vector<std::size_t> words(8, 0);
    scope s(rt_);
    const std::size_t times = few(40);
    for (std::size_t i = 0; i < times; i++)
      s.spawn(inout(ref(std::span(words).subspan(i % 8, 1))), [](std::span<std::size_t> w) { w[0]++; });
    s.wait();
    std::size_t sum = 0;
    for (const std::size_t w : words) sum += w;
    EXPECT_EQ(sum, times);
  }

  runtime& rt_;
  std::mt19937_64 random_;
};

TEST(threads_stress, come_and_go_wait_create_and_loop) {
  const watchdog dog(2 * patience(), "threads that come and go");
  std::mt19937_64 seeds(new_seed());
  std::atomic<std::uint64_t> actions{0}, threads{0};
  const auto end = clock::now() + budget();
  while (clock::now() < end && !HasFailure()) {
    runtime_options o = random_options(seeds);
    o.spawn_executes_outside_tasks = between(seeds, 0, 3) == 0;
    runtime rt(o);
    const auto this_one = std::min(end, clock::now() + budget() / 4);
    std::vector<std::thread> hosts;  // each starts one thread after the other
    for (int h = 0; h < threads_at_once; h++)
      hosts.emplace_back([&, random = std::mt19937_64(seeds())]() mutable {
        while (clock::now() < this_one) {
          std::thread([&, seed = random(), times = between(random, 1, 10)] {
            visitor v(rt, seed);
            for (std::size_t i = 0; i < times; i++, actions++) v.act();
          }).join();
          threads++;
        }
      });
    for (std::thread& h : hosts) h.join();
    rt.wait();
  }
  std::printf("%llu threads, %llu actions\n", static_cast<unsigned long long>(threads),
              static_cast<unsigned long long>(actions));
}

}  // namespace
}  // namespace weir::test
