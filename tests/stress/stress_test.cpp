// Everything at once: many threads that spawn on shared data, with nested scopes, streams, user memory, views, tasks
// that throw and scopes that are cancelled; and runtimes that come and go. All must end, and all counts must match.
#include "tests/stress/stress.hpp"

#include <algorithm>

namespace weir::test {
namespace {

// What all threads of a round work on, and what must come of it.
struct shared_world {
  explicit shared_world(runtime& r) : rt(r), memory(64) {
    for (int i = 0; i < 6; i++) counters.push_back(rt.make_data(std::vector<std::uint64_t>(static_cast<std::size_t>(1 + 40 * i), 0)));
    pipe = rt.make_stream<std::uint64_t>("pipe");
  }

  runtime& rt;
  std::vector<data<std::uint64_t>> counters;  // only ever incremented
  stream<std::uint64_t> pipe;
  std::vector<std::uint64_t> memory;          // through ref()
  std::atomic<std::uint64_t> wanted_counts[6] = {}, wanted_memory{0}, wanted_runs{0}, runs{0};
  std::atomic<std::uint64_t> pushed{0}, popped{0}, pushed_sum{0}, popped_sum{0};
};

// One thread's, or one task's, part of a round.
class actor {
 public:
  actor(shared_world& w, std::uint64_t seed, int depth) : w_(w), random_(seed), depth_(depth) {}

  void act(std::size_t actions) {
    for (std::size_t i = 0; i < actions; i++) {
      switch (between(random_, 0, 9)) {
        case 0: increment_one(); break;
        case 1: increment_two(); break;
        case 2: look(); break;
        case 3: push(); break;
        case 4: pop(); break;
        case 5: touch_memory(); break;
        case 6: nest(); break;
        case 7: fail(); break;
        case 8: cancel(); break;
        case 9: chain(); break;
      }
    }
  }

 private:
  std::size_t some_counter() { return between(random_, 0, w_.counters.size() - 1); }
  task_options some_options() {
    task_options o;
    if (between(random_, 0, 3) == 0) o.priority = priority::high;
    if (between(random_, 0, 3) == 0) o.affinity = prefer(static_cast<int>(between(random_, 0, static_cast<std::size_t>(w_.rt.nodes()) - 1)));
    return o;
  }

  void increment_one() {
    const std::size_t c = some_counter();
    w_.wanted_counts[c]++;
    if (between(random_, 0, 1) == 0) {
      w_.rt.spawn(some_options(), inout(w_.counters[c]), [](std::span<std::uint64_t> s) { s[0]++; });
    } else {
      w_.rt.spawn(some_options(), in(w_.counters[c].first(1)), out(w_.counters[c]), [](auto before, std::span<std::uint64_t> after) {
        std::ranges::fill(after, before[0]);
        after[0]++;
      });
    }
  }
  void increment_two() {
    const std::size_t a = some_counter(), b = some_counter();
    if (a == b) return;
    w_.wanted_counts[a]++;
    w_.wanted_counts[b]++;
    w_.rt.spawn(some_options(), inout(w_.counters[a]), inout(std::vector{w_.counters[b]}), [](auto x, auto y) { x[0]++, y[0][0]++; });
  }
  void look() {
    const auto v = w_.counters[some_counter()].read();
    const std::uint64_t first = v[0];
    std::this_thread::yield();
    EXPECT_EQ(v[0], first) << "a version changed while it was looked at";
  }
  void push() {
    const std::size_t n = between(random_, 1, 5);
    const std::uint64_t value = random_() % 1000;
    w_.pushed += n;
    w_.pushed_sum += n * value;
    w_.rt.spawn(w_.pipe.push(n), [value](std::span<std::uint64_t> s) { std::ranges::fill(s, value); });
  }
  void pop() {
    const std::size_t n = between(random_, 1, 5);
    w_.popped += n;
    w_.rt.spawn(w_.pipe.pop(n), [&w = w_](std::span<const std::uint64_t> s) {
      for (std::uint64_t v : s) w.popped_sum += v;
    });
  }
  void touch_memory() {
    const std::size_t first = between(random_, 0, 63), n = between(random_, 1, 64 - first);
    w_.wanted_memory += n;
    w_.rt.spawn(inout(ref(std::span<std::uint64_t>(w_.memory).subspan(first, n))), [](auto s) {
      for (std::uint64_t& v : s) v++;
    });
  }
  void nest() {
    if (depth_ >= 3) return;
    const std::uint64_t seed = random_();
    const bool waits = between(random_, 0, 1) == 0;
    w_.wanted_runs++;
    const auto body = [&w = w_, seed, depth = depth_] {
      actor(w, seed, depth + 1).act(4);
      w.runs++;
    };
    if (!waits) return w_.rt.spawn(some_options(), body);
    scope s(w_.rt);
    s.spawn(body);
    s.wait();
  }
  void fail() {
    scope s(w_.rt);
    const auto d = w_.rt.make_data<int>(10);
    s.spawn({.name = "thrower"}, out(d), [](auto) { throw std::runtime_error("on purpose"); });
    for (int i = 0; i < 3; i++) s.spawn(in(d), [](auto) { ADD_FAILURE() << "a dependent of a failed task ran"; });
    EXPECT_THROW(s.wait(), task_failed);
  }
  void cancel() {
    scope s(w_.rt);
    auto closures = std::make_shared<int>(0);
    for (int i = 0; i < 10; i++) s.spawn(some_options(), [closures] {});
    s.cancel();
    s.wait();
    EXPECT_EQ(closures.use_count(), 1);
  }
  void chain() {
    const auto d = w_.rt.make_data(std::vector<std::uint64_t>(between(random_, 1, 2000), 0));
    const std::size_t n = between(random_, 1, 20);
    for (std::size_t i = 0; i < n; i++) w_.rt.spawn(some_options(), inout(d), [](auto s) { s.back()++; });
    w_.wanted_runs += n;
    w_.rt.spawn(in(d), [&w = w_](auto s) { w.runs += s.back(); });
  }

  shared_world& w_;
  std::mt19937_64 random_;
  int depth_;
};

void play_a_round(std::mt19937_64& random) {
  const runtime_options o = random_options(random);
  SCOPED_TRACE(text(o));
  runtime rt(o);
  shared_world w(rt);
  {
    runtime::open_end more(rt);
    std::vector<std::thread> threads;
    for (std::size_t t = between(random, 1, 6); t > 0; t--) threads.emplace_back([&w, seed = random()] { actor(w, seed, 0).act(effort(200)); });
    for (std::thread& t : threads) t.join();
    while (w.runs != w.wanted_runs) std::this_thread::sleep_for(std::chrono::microseconds(200));  // tasks push and pop, too
    // What was popped and never pushed, or the other way round.
    const std::uint64_t pushed = w.pushed, popped = w.popped;
    if (popped > pushed) rt.spawn(w.pipe.push(popped - pushed), [](auto s) { std::ranges::fill(s, 0u); });
    if (pushed > popped)
      rt.spawn(w.pipe.pop(pushed - popped), [&](auto s) {
        for (std::uint64_t v : s) w.popped_sum += v;
      });
  }
  rt.wait();
  for (std::size_t c = 0; c < w.counters.size(); c++) EXPECT_EQ(w.counters[c].read()[0], w.wanted_counts[c]);
  EXPECT_EQ(w.runs, w.wanted_runs);
  EXPECT_EQ(w.pushed_sum, w.popped_sum);
  std::uint64_t memory = 0;
  for (std::uint64_t v : w.memory) memory += v;
  EXPECT_EQ(memory, w.wanted_memory);
}

TEST(stress, everything_at_once) {
  watchdog dog(patience(), "everything at once");
  std::mt19937_64 random(new_seed());
  int rounds = 0;
  for (const auto end = clock::now() + budget(); clock::now() < end && !HasFailure(); rounds++) play_a_round(random);
  std::printf("%d rounds\n", rounds);
}

TEST(stress, runtimes_come_and_go_in_several_threads) {
  watchdog dog(patience(), "runtimes that come and go");
  std::mt19937_64 seeds(new_seed());
  std::atomic<int> runtimes{0};
  std::vector<std::thread> threads;
  const auto end = clock::now() + budget();
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&, random = std::mt19937_64(seeds())]() mutable {
      while (clock::now() < end) {
        std::atomic<std::size_t> ran{0};
        const std::size_t tasks = between(random, 0, 100);
        data<int> survivor;
        {
          runtime rt(random_options(random));
          survivor = rt.make_data<int>(100);
          for (std::size_t i = 0; i < tasks; i++) rt.spawn(out(survivor), [&](auto) { ran++; });
          if (between(random, 0, 1) == 0) rt.wait();
        }
        EXPECT_EQ(ran, tasks);
        runtimes++;
      }
    });
  for (std::thread& t : threads) t.join();
  std::printf("%d runtimes\n", runtimes.load());
}

// Few tasks and much waiting: who sleeps at the wrong moment is found here.
TEST(stress, waiting_and_waking) {
  watchdog dog(patience(), "waiting and waking");
  std::mt19937_64 random(new_seed());
  std::uint64_t waits = 0;
  for (const auto end = clock::now() + budget(); clock::now() < end;) {
    runtime rt(random_options(random));
    std::atomic<std::uint64_t> done{0};
    std::vector<std::thread> threads;
    const std::size_t count = between(random, 1, 4), each = effort(300);
    for (std::size_t t = 0; t < count; t++)
      threads.emplace_back([&, seed = random()] {
        std::mt19937_64 own(seed);
        for (std::size_t i = 0; i < each; i++) {
          const auto d = rt.make_data(std::vector<int>{0});
          switch (between(own, 0, 3)) {
            case 0: {
              scope s(rt);
              s.spawn([&] { done++; });
              s.wait();
              break;
            }
            case 1:
              rt.spawn(out(d), [&](auto s) { s[0] = 1, done++; });
              EXPECT_EQ(d.read()[0], 1);
              break;
            case 2:
              rt.run([&](scope& s) { s.spawn([&] { done++; }); });
              break;
            case 3:
              rt.spawn([&] { done++; });
              rt.wait();
              break;
          }
          if (between(own, 0, 63) == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));  // everybody falls asleep
        }
      });
    for (std::thread& t : threads) t.join();
    rt.wait();
    EXPECT_EQ(done, count * each);
    waits += done;
  }
  std::printf("%llu waits\n", static_cast<unsigned long long>(waits));
}

// Tasks that can never run, in between those that can.
TEST(stress, giving_up) {
  watchdog dog(patience(), "giving up");
  std::mt19937_64 random(new_seed());
  int rounds = 0;
  for (const auto end = clock::now() + budget() / 2; clock::now() < end && !HasFailure(); rounds++) {
    runtime rt(random_options(random));
    for (int repeat = 0; repeat < 10; repeat++) {
      std::atomic<int> ran{0};
      const auto closures = std::make_shared<int>(0);
      const std::size_t stuck = between(random, 0, 30), fine = between(random, 0, 300);
      {
        const auto s = rt.make_stream<int>("never fed");
        const auto d = rt.make_data(std::vector<int>{0});
        for (std::size_t i = 0; i < stuck; i++) {
          if (i % 2 == 0) rt.spawn(s.pop(1), out(d), [closures](auto, auto) {});
          else rt.spawn(in(d), s.push(0), [closures](auto, auto) {});
        }
        for (std::size_t i = 0; i < fine; i++) rt.spawn([&, closures] { ran++; });
      }
      if (stuck > 0) { EXPECT_THROW(rt.wait(), deadlock_error); }
      EXPECT_NO_THROW(rt.wait());
      EXPECT_EQ(ran, static_cast<int>(fine));
      EXPECT_EQ(closures.use_count(), 1);
    }
  }
  std::printf("%d rounds\n", rounds);
}

// While one thread waits for tasks that can never run, others go on with theirs, which must not be taken for stuck.
TEST(stress, giving_up_beside_others) {
  watchdog dog(patience(), "giving up beside others");
  std::mt19937_64 random(new_seed());
  int deadlocks = 0;
  for (const auto end = clock::now() + budget(); clock::now() < end && !HasFailure();) {
    runtime rt(random_options(random));
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> wanted{0}, ran{0};
    std::vector<std::thread> others;
    for (std::size_t t = between(random, 1, 3); t > 0; t--)
      others.emplace_back([&, seed = random()] {
        std::mt19937_64 own(seed);
        // A runtime that always has something to do finds out nothing: they end some time.
        for (int round = 0; !over && round < 300; round++) {
          scope s(rt);
          const auto d = rt.make_data(std::vector<std::uint64_t>(1, 0));
          const std::size_t n = between(own, 1, 30);
          wanted += n;
          for (std::size_t i = 0; i < n; i++) {
            if (i % 3 == 0) s.spawn(in(d), out(d), [&](auto before, auto after) { after[0] = before[0] + 1, ran++; });
            else s.spawn(inout(d), [&](auto v) { v[0]++, ran++; });
          }
          EXPECT_NO_THROW({
            EXPECT_EQ(d.read()[0], n);
            s.wait();
          });
          if (between(own, 0, 3) == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
      });
    for (int repeat = 0; repeat < 20; repeat++) {
      const auto closures = std::make_shared<int>(0);
      scope s(rt);
      {
        const auto pipe = rt.make_stream<int>("never fed");
        for (std::size_t i = between(random, 1, 20); i > 0; i--) s.spawn(pipe.pop(1), pipe.push(0), [closures](auto, auto) {});
      }
      EXPECT_THROW(s.wait(), deadlock_error);
      EXPECT_EQ(closures.use_count(), 1);
      deadlocks++;
    }
    over = true;
    for (std::thread& t : others) t.join();
    EXPECT_EQ(ran, wanted);
    EXPECT_NO_THROW(rt.wait());
  }
  std::printf("%d deadlocks\n", deadlocks);
}

}  // namespace
}  // namespace weir::test
