// Streams whose producers and consumers are created by several threads or tasks at the same time: which element meets
// which window is open, but every element is consumed once, and a creator's elements in the order of its pushes.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>

namespace weir::test {
namespace {

struct element {
  std::uint32_t producer, number;
};

// All that one consumer saw, in the order in which it created its windows.
struct consumer {
  std::vector<std::vector<element>> windows;
};

struct traffic {
  std::size_t producers, consumers, per_producer, most;
};

void produce(runtime& rt, const stream<element>& s, std::uint32_t producer, const traffic& t, std::uint64_t seed) {
  std::mt19937_64 random(seed + producer);
  for (std::size_t sent = 0; sent < t.per_producer;) {
    const std::size_t n = std::min(between(random, 1, t.most), t.per_producer - sent);
    rt.spawn({.name = "produce"}, s.push(n), [producer, sent](std::span<element> e) {
      for (std::size_t i = 0; i < e.size(); i++) e[i] = {producer, static_cast<std::uint32_t>(sent + i)};
    });
    sent += n;
  }
}

void consume(runtime& rt, const stream<element>& s, consumer& mine, std::size_t index, const traffic& t, std::uint64_t seed) {
  const std::size_t all = t.producers * t.per_producer;
  std::size_t share = all / t.consumers + (index < all % t.consumers ? 1 : 0);
  std::mt19937_64 random(seed * 3 + index);
  std::vector<std::size_t> sizes;
  for (; share > 0; share -= sizes.back()) sizes.push_back(std::min(between(random, 1, t.most + 3), share));
  mine.windows.resize(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); i++)
    rt.spawn({.name = "consume"}, s.pop(sizes[i]), [seen = &mine.windows[i]](std::span<const element> e) { seen->assign(e.begin(), e.end()); });
}

void check(const std::vector<consumer>& consumers, const traffic& t) {
  std::vector<std::vector<int>> times(t.producers, std::vector<int>(t.per_producer, 0));
  for (const consumer& c : consumers) {
    std::vector<std::int64_t> last(t.producers, -1);
    for (const auto& w : c.windows)
      for (const element& e : w) {
        ASSERT_LT(e.producer, t.producers);
        ASSERT_LT(e.number, t.per_producer);
        times[e.producer][e.number]++;
        EXPECT_GT(static_cast<std::int64_t>(e.number), last[e.producer]) << "a creator's elements came in another order";
        last[e.producer] = e.number;
      }
  }
  for (const auto& producer : times) EXPECT_TRUE(std::all_of(producer.begin(), producer.end(), [](int n) { return n == 1; })) << "an element was not consumed exactly once";
}

runtime_options some_options(std::size_t round) {
  const std::vector<runtime_options> all = configurations();
  return all[round * 7 % all.size()];
}

TEST(stream_threads, creators_are_threads) {
  watchdog dog(60, "streams fed by threads");
  const std::uint64_t seed = new_seed();
  std::mt19937_64 random(seed);
  for (std::size_t round = 0; round < effort(36) && !HasFailure(); round++) {
    runtime rt(some_options(round));
    const traffic t{between(random, 1, 4), between(random, 1, 4), between(random, 1, 300), between(random, 1, 9)};
    std::vector<consumer> consumers(t.consumers);
    const auto s = rt.make_stream<element>("shared");
    {
      runtime::open_end more_to_come(rt);
      std::vector<std::thread> threads;
      for (std::size_t c = 0; c < t.consumers; c++) threads.emplace_back([&, c] { consume(rt, s, consumers[c], c, t, seed + round); });
      for (std::size_t p = 0; p < t.producers; p++) threads.emplace_back([&, p] { produce(rt, s, static_cast<std::uint32_t>(p), t, seed + round); });
      for (std::thread& thread : threads) thread.join();
    }
    rt.wait();
    check(consumers, t);
  }
}

TEST(stream_threads, creators_are_tasks) {
  watchdog dog(60, "streams fed by tasks");
  const std::uint64_t seed = new_seed();
  std::mt19937_64 random(seed);
  for (std::size_t round = 0; round < effort(36) && !HasFailure(); round++) {
    runtime rt(some_options(round + 3));
    const traffic t{between(random, 1, 4), between(random, 1, 4), between(random, 1, 300), between(random, 1, 9)};
    std::vector<consumer> consumers(t.consumers);
    const auto s = rt.make_stream<element>("shared");
    for (std::size_t c = 0; c < t.consumers; c++) rt.spawn([&, c] { consume(rt, s, consumers[c], c, t, seed + round); });
    for (std::size_t p = 0; p < t.producers; p++) rt.spawn([&, p] { produce(rt, s, static_cast<std::uint32_t>(p), t, seed + round); });
    rt.wait();
    check(consumers, t);
  }
}

// Tasks that name the same two streams, created by several threads: all must meet them in one order.
TEST(stream_threads, two_streams_are_taken_together) {
  watchdog dog(60, "pairs of streams");
  for (std::size_t round = 0; round < effort(24) && !HasFailure(); round++) {
    runtime rt(some_options(round + 11));
    const auto a = rt.make_stream<int>("a"), b = rt.make_stream<int>("b");
    constexpr int threads = 3, each = 100;
    std::atomic<int> different{0}, seen{0};
    std::vector<std::thread> all;
    runtime::open_end more_to_come(rt);
    for (int n = 0; n < threads; n++)
      all.emplace_back([&, n] {
        for (int i = 0; i < each; i++) {
          const int value = n * each + i;
          // Named in both orders: who locks what first must not matter.
          if (i % 2 == 0) rt.spawn(a.push(1), b.push(1), [value](auto x, auto y) { x[0] = y[0] = value; });
          else rt.spawn(b.push(1), a.push(1), [value](auto x, auto y) { x[0] = y[0] = value; });
          if (i % 2 == 0) rt.spawn(b.pop(1), a.pop(1), [&](auto x, auto y) { seen++, different += x[0] != y[0]; });
          else rt.spawn(a.pop(1), b.pop(1), [&](auto x, auto y) { seen++, different += x[0] != y[0]; });
        }
      });
    for (std::thread& thread : all) thread.join();
    rt.wait();
    EXPECT_EQ(seen, threads * each);
    EXPECT_EQ(different, 0);
  }
}

}  // namespace
}  // namespace weir::test
