// parallel_for: every element once, the same cut each time, results in order, failures.
#include "tests/support/loop_shapes.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <ranges>

#include <unistd.h>

namespace weir::test {
namespace {

constexpr int few_or_many[] = {1, 2, 5};

TEST(parallel_for, visits_every_index_once) {
  watchdog dog(300);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}, effort(1'000'000)})
      for (const std::size_t grain : {0, 1, 3, 1000})
        for (const distribution d : {distribution::nodes, distribution::none}) {
          if (n > 1000 && grain > 0 && grain < 1000) continue;
          std::vector<std::uint8_t> visits(n);  // no element is two tasks': no atomics
          parallel_for(rt, std::size_t{0}, n, [&](std::size_t i) { visits[i]++; }, {.grain = grain, .distribution = d});
          parallel_for(rt, std::size_t{0}, n, [&](std::size_t begin, std::size_t end) { for (; begin != end; begin++) visits[begin]++; }, {.grain = grain, .distribution = d});
          EXPECT_EQ(std::ranges::count(visits, 2), static_cast<std::ptrdiff_t>(n)) << text(sh) << ", grain " << grain;
        }
  }
}

TEST(parallel_for, runs_under_every_policy) {
  watchdog dog(300);
  for (const runtime_options& o : configurations()) {
    runtime rt(o);
    std::vector<int> visits(3000);
    for (int round = 1; round <= 3; round++) parallel_for(rt, visits, [](int& v) { v++; });
    EXPECT_EQ(std::ranges::count(visits, 3), 3000) << test::text(o);
    EXPECT_EQ(parallel_reduce(rt, visits, 0, std::identity(), std::plus()), 9000) << test::text(o);
  }
}

TEST(parallel_for, takes_bounds_of_any_integer_type) {
  runtime rt({.workers = 3, .machine = one_node});
  std::vector<std::atomic<int>> seen(1001);
  parallel_for(rt, -500, 501, [&](int i) { seen[static_cast<std::size_t>(i + 500)]++; });
  for (const auto& s : seen) EXPECT_EQ(s, 1);

  std::atomic<int> sum{0}, calls{0};
  parallel_for(rt, std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t i) { sum += i, calls++; });
  EXPECT_EQ(calls, 255);
  EXPECT_EQ(sum, -255);
  calls = 0;
  parallel_for(rt, std::numeric_limits<int>::max() - 10, std::numeric_limits<int>::max(), [&](int) { calls++; }, {.grain = 3});
  EXPECT_EQ(calls, 10);
  parallel_for(rt, 'a', 'c', [&](char c) { calls += c - 'a'; });
  EXPECT_EQ(calls, 11);
  const std::vector<int> v(10);
  parallel_for(rt, 0, v.size(), [&](auto i) {
    static_assert(std::is_same_v<decltype(i), std::size_t>);
    calls++;
  });
  EXPECT_EQ(calls, 21);
  parallel_for(rt, -5, 5L, [&](auto i) {
    static_assert(std::is_same_v<decltype(i), long>);
    calls++;
  });
  EXPECT_EQ(calls, 31);
}

TEST(parallel_for, takes_iterators_and_ranges) {
  runtime rt({.workers = 3, .machine = one_node});
  std::vector<int> v(1000);
  std::iota(v.begin(), v.end(), 0);
  parallel_for(rt, v.begin(), v.end(), [](int& x) { x *= 2; });
  parallel_for(rt, v.data() + 100, v.data() + 200, [](int* begin, int* end) { std::fill(begin, end, -1); });
  parallel_for(rt, std::span(v).last(10), [](int& x) { x = -2; }, {.grain = 3});
  parallel_for(rt, std::as_const(v), [](const int&) {});
  for (int i = 0; i < 1000; i++) EXPECT_EQ(v[static_cast<std::size_t>(i)], i >= 990 ? -2 : i >= 100 && i < 200 ? -1 : 2 * i);
  std::deque<int> d(100, 1);
  parallel_for(rt, d, [](std::deque<int>::iterator begin, std::deque<int>::iterator end) { std::fill(begin, end, 3); });
  EXPECT_EQ(std::ranges::count(d, 3), 100);
  std::atomic<int> sum{0};
  parallel_for(rt, std::views::iota(10, 20), [&](int i) { sum += i; });
  EXPECT_EQ(sum, 145);
}

TEST(parallel_for, chunks_have_the_grain_asked_for) {
  runtime rt({.workers = 2, .machine = one_node});
  std::vector<std::size_t> length(35);
  parallel_for(rt, 0, 343, [&](int begin, int end) { length[static_cast<std::size_t>(begin / 10)] += static_cast<std::size_t>(end - begin); EXPECT_EQ(begin % 10, 0); }, {.grain = 10});
  EXPECT_EQ(std::count(length.begin(), length.end() - 1, 10u), 34);
  EXPECT_EQ(length.back(), 3u);
  std::atomic<int> calls{0};
  parallel_for(rt, 0, 343, [&](int begin, int end) {
    calls++;
    EXPECT_EQ(end - begin, 343);
  }, {.grain = std::numeric_limits<std::size_t>::max()});
  EXPECT_EQ(calls, 1);
}

TEST(parallel_for, chunks_without_a_grain_are_aligned) {
  runtime rt({.workers = 3, .machine = one_node});
  const auto step_of = [&](std::size_t elements) {
    std::mutex alone;
    std::size_t bits = 0, covered = 0;  // of all begins; elements
    parallel_for(rt, std::size_t{0}, elements, [&](std::size_t begin, std::size_t end) {
      const std::lock_guard guard(alone);
      bits |= begin;
      covered += end - begin;
    });
    EXPECT_EQ(covered, elements);
    return bits & (~bits + 1);  // the largest power of two that divides them all
  };
  EXPECT_EQ(step_of(100), 1);  // an element a chunk
  EXPECT_EQ(step_of(500), 4);  // not three elements
  EXPECT_EQ(step_of(6'000), 32);
  EXPECT_GE(step_of(1'000'000), 64);
}

TEST(parallel_for, makes_few_tasks) {
  watchdog dog(120);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    const auto tasks_of = [&](auto&& loop) {
      rt.wait();
      const std::uint64_t before = rt.stats().tasks;
      loop();
      rt.wait();
      return rt.stats().tasks - before;
    };
    const auto workers = static_cast<std::uint64_t>(sh.workers), nodes = static_cast<std::uint64_t>(rt.nodes());
    EXPECT_EQ(tasks_of([&] { parallel_for(rt, 0, 0, [](int) {}); }), 0u);
    EXPECT_EQ(tasks_of([&] { parallel_for(rt, 0, 1, [](int) {}); }), 1u);
    EXPECT_EQ(tasks_of([&] { parallel_for(rt, 0, 1000, [](int) {}, {.grain = 1000}); }), 1u);
    std::atomic<std::uint64_t> chunks{0};
    EXPECT_LE(tasks_of([&] { parallel_for(rt, 0, 1'000'000, [&](int, int) { chunks++; }); }), 2 * workers + nodes);
    EXPECT_LE(chunks, 64 * workers);
    EXPECT_GT(chunks, 32 * workers);
    EXPECT_LE(tasks_of([&] { parallel_for(rt, 0, 100'000, [](int) {}, {.grain = 1}); }), 2 * workers + nodes);
  }
  // Nobody else has time: the loop is its caller's, but for the two it called for.
  runtime rt({.workers = 3, .machine = one_node});
  gate g;
  for (int i = 0; i < 2; i++) rt.spawn([&] { g.pass(); });
  g.await_arrivals(2);
  const std::uint64_t before = rt.stats().tasks;
  rt.run([&] { parallel_for(rt, 0, 1'000'000, [](int) {}); });
  EXPECT_LE(rt.stats().tasks - before, 1u + 3u);
  g.open();
  rt.wait();
}

// The last worker's chunk needs what a worker that has run its own is to do meanwhile. (The caller stays.)
TEST(parallel_for, lets_who_has_nothing_left_in_it_run_other_tasks) {
  watchdog dog(60);
  for (const char* machine : {"nodes:3 cpus:3", "nodes:3 cpus:6"}) {
    runtime rt({.machine = machine});
    const int workers = rt.workers();
    for (int round = 0; round < 20; round++) {
      std::atomic<int> waits{0}, done{0};
      parallel_for(rt, 0, workers, [&](int) {
        if (this_task::worker() == 0 || waits.exchange(1) != 0) return;
        rt.spawn([&] { done = 1; });
        while (done == 0) std::this_thread::yield();
      }, {.grain = 1});
      rt.wait();
    }
  }
}

TEST(parallel_for, takes_huge_ranges) {
  watchdog dog(60);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    std::atomic<std::uint64_t> elements{0}, chunks{0};
    const auto count = [&](auto begin, auto end) {
      EXPECT_LT(begin, end);
      elements += static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin), chunks++;
    };
    parallel_for(rt, std::int64_t{0}, std::int64_t{1} << 40, count, {.grain = std::size_t{1} << 36});
    EXPECT_EQ(elements, std::uint64_t{1} << 40);
    EXPECT_EQ(chunks, 16u);
    elements = 0;
    parallel_for(rt, std::int64_t{-3}, std::int64_t{1} << 40, count);
    EXPECT_EQ(elements, (std::uint64_t{1} << 40) + 3);
    elements = 0;
    parallel_for(rt, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), count);
    EXPECT_EQ(elements, std::numeric_limits<std::uint64_t>::max());
    elements = 0;
    parallel_for(rt, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), count, {.grain = std::numeric_limits<std::size_t>::max() / 3});
    EXPECT_EQ(elements, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(parallel_reduce(rt, std::uint64_t{0}, std::uint64_t{1} << 40, std::uint64_t{0}, [](std::uint64_t begin, std::uint64_t end) { return end - begin; }, std::plus()), std::uint64_t{1} << 40);
  }
}

TEST(parallel_for, refuses_what_makes_no_sense) {
  runtime rt({.workers = 2, .machine = one_node});
  const auto body = [](auto&&...) { ADD_FAILURE() << "a body ran"; };
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { parallel_for(rt, 10, 3, body); }), "parallel_for: the range begins at 10 and ends at 3, before it begins");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { parallel_for(rt, 0, std::int64_t{-1}, body); }), "ends at -1");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { parallel_for(rt, 5u, -1, body); }), "ends at -1");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { parallel_for(rt, -5, 5u, body); }), "its end is of an unsigned type");
  const std::vector<int> v(10);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { parallel_for(rt, v.end(), v.begin(), body); }), "ends at -10");
  const auto sum = [&](auto first, auto last, loop_options o) { return parallel_reduce(rt, first, last, std::int64_t{0}, [](std::int64_t i) { return i; }, std::plus(), o); };
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { sum(1, 0, {}); }), "parallel_reduce: the range begins at 1 and ends at 0");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { sum(std::int64_t{0}, std::int64_t{1} << 40, {.grain = 1}); }), "a larger grain");
  EXPECT_EQ(rt.stats().tasks, 0u);
}

// First worker to run each chunk of one a worker: they all wait for each other, so each gets its own.
std::vector<int> workers_of_parts(runtime& rt, int chunks_each, std::vector<int>& nodes) {
  const int workers = rt.workers();
  std::vector<int> owner(static_cast<std::size_t>(workers * chunks_each), -1);
  std::vector<char> has_come(static_cast<std::size_t>(workers));
  nodes.assign(static_cast<std::size_t>(workers), -1);
  gate everybody;
  std::thread opener([&] {
    everybody.await_arrivals(workers);
    everybody.open();
  });
  parallel_for(
      rt, 0, workers * chunks_each * 10,
      [&](int begin, int) {
        const auto w = static_cast<std::size_t>(this_task::worker());
        if (std::exchange(has_come[w], 1) != 0) return;
        nodes[w] = this_task::node();
        owner[static_cast<std::size_t>(begin / 10)] = static_cast<int>(w);
        everybody.pass();
      },
      {.grain = 10, .concurrent = true});
  opener.join();
  return owner;
}

TEST(parallel_for, gives_each_worker_the_same_part_each_time) {
  watchdog dog(300, "workers that wait for each other");
  for (const char* policy : {"local", "steal", "deferred", "interleave"})
    for (const char* machine : {"nodes:4 cpus:2", "nodes:2 cpus:3", one_node})
      for (int workers : {2, 5, 8}) {
        runtime rt({.workers = workers, .policy = policy, .machine = machine});
        for (int round = 0; round < 3; round++) {
          std::vector<int> nodes;
          const std::vector<int> owner = workers_of_parts(rt, 4, nodes);
          // The first chunk of each part, by the worker whose part it is; nobody came to another one first.
          for (int w = 0; w < workers; w++) EXPECT_EQ(owner[static_cast<std::size_t>(4 * w)], w) << machine << ", " << workers << " workers, " << policy;
          EXPECT_EQ(std::ranges::count(owner, -1), 3 * workers);
          // A node's workers have neighbouring numbers, so its parts are one piece, as large as its share of them.
          EXPECT_TRUE(std::ranges::is_sorted(nodes));
          for (int w = 0; w < workers; w++) EXPECT_EQ(nodes[static_cast<std::size_t>(w)], rt.node_of_worker(w));
          for (int n = 0; n < rt.nodes(); n++) EXPECT_EQ(std::ranges::count(nodes, n), workers / rt.nodes() + (n < workers % rt.nodes() ? 1 : 0));
        }
      }
}

// The same from a worker, which keeps nothing from the others.
TEST(parallel_for, in_a_task_reaches_every_node) {
  watchdog dog(120, "workers that wait for each other");
  runtime rt({.workers = 4, .machine = "nodes:4 cpus:1"});
  std::vector<int> nodes;
  rt.run([&] { workers_of_parts(rt, 2, nodes); });
  EXPECT_EQ(nodes, (std::vector<int>{0, 1, 2, 3}));
}

TEST(parallel_for, cuts_ranges_into_parts_of_whole_chunks) {
  for (const std::uint64_t elements : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{1000}, std::uint64_t{1'000'000}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    for (const std::uint64_t grain : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 36, ~std::uint64_t{0}})
      for (const int workers : {1, 2, 5, 8, 200, 32767}) {
        const auto s = detail::loop_shape::of(elements, grain, workers, false);
        ASSERT_EQ(s.part_begin(0), 0u);
        ASSERT_EQ(s.part_begin(s.workers), s.chunks);
        const detail::cut_range<std::uint64_t> cut{{0, elements}, s.grain, s.chunks};
        ASSERT_EQ(cut.end(s.chunks), elements);
        ASSERT_LT(cut.begin(s.chunks - 1), elements);
        ASSERT_EQ(cut.end(1), s.chunks == 1 ? elements : cut.begin(1));
        const std::uint64_t share = s.chunks / s.workers;
        for (std::uint64_t w = 0; w < s.workers; w++) {
          const std::uint64_t size = s.part_begin(w + 1) - s.part_begin(w);
          ASSERT_TRUE(size == share || size == share + 1);
        }
      }
}

// Three CPUs, one, none and two.
class unequal_nodes {
 public:
  unequal_nodes() : path_(std::filesystem::temp_directory_path() / ("weir-unequal-" + std::to_string(::getpid()) + ".toml")) {
    std::ofstream file(path_);
    file << "name = \"unequal\"\nsource = \"made up for a test\"\n";
    for (const int cpus : {3, 1, 0, 2}) file << "[[nodes]]\nmemory = \"1 GiB\"\ncpus = " << cpus << "\n";
    file << "[distances]\nclasses = [\"local\", \"far\"]\nmatrix = [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]\nslit = [10, 20]\n";
  }
  ~unequal_nodes() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Where workers are on each node, though neither is a multiple of the other and a node has none.
TEST(parallel_for, gives_each_node_the_parts_of_its_workers) {
  watchdog dog(120, "workers that wait for each other");
  const unequal_nodes machine;
  const std::vector<std::pair<int, std::vector<int>>> expected{{1, {0}}, {2, {0, 1}}, {4, {0, 0, 1, 3}}, {6, {0, 0, 0, 1, 3, 3}}, {8, {0, 0, 0, 0, 1, 1, 3, 3}}};
  for (const auto& [workers, where] : expected)
    for (const char* policy : {"local", "steal", "deferred"}) {
      runtime rt({.workers = workers, .policy = policy, .machine = machine.path()});
      ASSERT_EQ(rt.nodes(), 4);
      for (int w = 0; w < workers; w++) EXPECT_EQ(rt.node_of_worker(w), where[static_cast<std::size_t>(w)]) << workers << " workers";
      std::vector<int> nodes;
      const std::vector<int> owner = workers_of_parts(rt, 4, nodes);
      EXPECT_EQ(nodes, where) << workers << " workers, " << policy;
      for (int w = 0; w < workers; w++) EXPECT_EQ(owner[static_cast<std::size_t>(4 * w)], w) << workers << " workers, " << policy;
      for (const distribution d : {distribution::nodes, distribution::none}) {
        std::vector<int> visits(1000);
        parallel_for(rt, visits, [](int& v) { v++; }, {.grain = 1, .distribution = d});
        EXPECT_EQ(std::ranges::count(visits, 1), 1000) << workers << " workers, " << policy;
      }
    }
}

TEST(runtime, node_of_worker_refuses_a_worker_that_is_not_there) {
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  EXPECT_EQ(rt.node_of_worker(0), 0);
  EXPECT_EQ(rt.node_of_worker(1), 1);
  for (const int worker : {-1, 2}) {
    const std::string message = message_of<usage_error>([&] { (void)rt.node_of_worker(worker); });
    WEIR_EXPECT_CONTAINS(message, "there is no worker " + std::to_string(worker) + "; they are numbered from 0 to 1");
  }
}

// A node whose only worker is in a long task: others do its part in the end. The long task even waits for that.
TEST(parallel_for, does_not_wait_for_a_busy_worker) {
  watchdog dog(120, "a loop beside a busy worker");
  for (const char* machine : {"nodes:2 cpus:1", "nodes:1 cpus:2"}) {
    runtime rt({.workers = 2, .machine = machine});
    gate g;
    rt.spawn({.affinity = require(rt.nodes() - 1)}, [&] { g.pass(); });
    g.await_arrivals(1);
    std::vector<int> visits(1000);
    parallel_for(rt, visits, [](int& v) { v++; });
    EXPECT_EQ(std::ranges::count(visits, 1), 1000);
    g.open();
    rt.wait();
  }
}

// One element takes as long as all others together, which others do meanwhile.
TEST(parallel_for, balances_uneven_bodies) {
  watchdog dog(60, "a loop whose first element waits for the others");
  for (const char* machine : {"nodes:2 cpus:1", one_node})
    for (const std::size_t grain : {0, 1}) {
      runtime rt({.workers = 2, .machine = machine});
      std::atomic<int> others{0};
      const int n = grain == 0 ? 128 : 1000;  // either way the first element is a chunk
      parallel_for(rt, 0, n, [&](int i) {
        if (i > 0) others++;
        else while (others < n - 1) std::this_thread::yield();
      }, {.grain = grain, .concurrent = true});
      EXPECT_EQ(others, n - 1);
    }
}

TEST(parallel_for, nests) {
  watchdog dog(300);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    for (const distribution d : {distribution::nodes, distribution::none}) {
      std::vector<int> visits(40 * 300);
      const auto rows = [&] {
        parallel_for(rt, 0, 40, [&](int row) {
          parallel_for(rt, 0, 300, [&, row](int i) { visits[static_cast<std::size_t>(300 * row + i)]++; }, {.distribution = d});
        }, {.grain = 1});
      };
      rows();
      rt.run(rows);
      EXPECT_EQ(std::ranges::count(visits, 2), 40 * 300) << text(sh);
      std::atomic<int> leaves{0};
      parallel_for(rt, 0, 6, [&](int) {
        parallel_for(rt, 0, 6, [&](int) { parallel_for(rt, 0, 6, [&](int) { parallel_for(rt, 0, 6, [&](int) { leaves++; }, {.distribution = d}); }, {.distribution = d}); }, {.distribution = d});
      });
      EXPECT_EQ(leaves, 6 * 6 * 6 * 6) << text(sh);
    }
  }
}

// While a body waits its worker does other things, but not other chunks of the same loop: they would not come faster, and
// the stack would grow with each.
TEST(parallel_for, a_waiting_body_is_not_interrupted_by_its_own_loop) {
  watchdog dog(120);
  runtime rt({.workers = 3, .machine = "nodes:3 cpus:1"});
  std::vector<int> running(3);
  std::atomic<int> interrupted{0};
  parallel_for(rt, 0, 300, [&](int) {
    const int worker = this_task::worker();
    interrupted += running[static_cast<std::size_t>(worker)]++ != 0;
    scope s(rt);
    for (int i = 0; i < 3; i++) s.spawn({.affinity = prefer(i)}, [] { std::this_thread::yield(); });
    s.wait();
    running[static_cast<std::size_t>(worker)]--;
  }, {.grain = 1});
  EXPECT_EQ(interrupted, 0);
}

TEST(parallel_for, may_be_called_by_many_threads) {
  watchdog dog(120);
  runtime rt({.workers = 3, .machine = "nodes:3 cpus:1"});
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> sum{0};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int round = 0; round < 25; round++) {
        parallel_for(rt, 0, 100, [&](int) { sum++; });
        sum += parallel_reduce(rt, 0, 100, 0, [](int i) { return i; }, std::plus());
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 25 * (100 + 4950));
}

// A caller that finds no place leaves the loop to workers; one that must not execute does so always.
TEST(parallel_for, of_a_caller_that_executes_nothing) {
  const watchdog dog(120);
  for (const int workers : {1, 2, 5}) {
    runtime rt({.workers = workers, .waiting_threads_execute = false, .spin = 0});  // they soon sleep
    const auto me = std::this_thread::get_id();
    for (int round = 0; round < 20; round++) {
      std::vector<int> visits(1000);
      std::atomic<int> mine{0};
      parallel_for(rt, visits, [&](int& v) { v++, mine += std::this_thread::get_id() == me; });
      EXPECT_EQ(std::ranges::count(visits, 1), 1000);
      EXPECT_EQ(mine, 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(parallel_reduce(rt, 0, 1, 0, [](int) { return 1; }, std::plus()), 1);
    }
  }
}

// Called while all workers are in tasks, so that nobody hears of it.
void run_a_loop_that_waits_for_workers(runtime& rt, int workers) {
  gate g;
  for (int i = 0; i < workers; i++) rt.spawn([&] { g.pass(); });
  g.await_arrivals(workers);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    g.open();
  });
  EXPECT_EQ(parallel_reduce(rt, 0, 1000, 0, [](int i) { return i; }, std::plus()), 499'500);
  opener.join();
  rt.wait();
}

TEST(parallel_for, waits_until_a_worker_has_time) {
  const watchdog dog(120);
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    for (int round = 0; round < 5; round++) run_a_loop_that_waits_for_workers(rt, workers);
  }
}

// Those look around less often, until they have been in a loop.
TEST(parallel_for, waits_until_a_worker_of_small_tasks_has_time) {
  const watchdog dog(120);
  for (const int workers : {1, 2})
    for (int round = 0; round < 5; round++) {
      runtime rt({.workers = workers});
      for (int i = 0; i < 1000; i++) rt.spawn([] {});
      rt.wait();
      run_a_loop_that_waits_for_workers(rt, workers);
    }
}

// The only worker's place may be that of a thread which waits inside a task, and must not execute other threads' loops.
TEST(parallel_for, goes_on_beside_a_thread_that_waits_in_a_task_for_what_comes_after_it) {
  const watchdog dog(120);
  for (const int workers : {1, 2}) {
    runtime rt({.workers = workers});
    for (int round = 0; round < 20; round++) {
      const runtime::open_end more_comes(rt);
      const auto s = rt.make_stream<int>();
      std::atomic<bool> waits{false};
      std::thread other([&] {
        scope outer(rt);
        outer.spawn([&] {
          scope inner(rt);
          inner.spawn(s.pop(1), [](auto) {});
          waits = true;
          inner.wait();
        });
        outer.wait();
      });
      while (!waits) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 4));
      EXPECT_EQ(parallel_reduce(rt, 0, 1000, 0, [](int i) { return i; }, std::plus()), 499'500);
      rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
      other.join();
    }
  }
}

// More than can be posted at a time.
int leaves_below(runtime& rt, int depth) {
  if (depth == 0) return 1;
  return parallel_reduce(rt, 0, depth % 4 == 0 ? 2 : 1, 0, [&](int) { return leaves_below(rt, depth - 1); }, std::plus());
}
TEST(parallel_for, nests_deep) {
  const watchdog dog(120);
  for (const int workers : few_or_many) {
    runtime rt({.workers = workers});
    EXPECT_EQ(leaves_below(rt, 24), 64);
    rt.run([&] { EXPECT_EQ(leaves_below(rt, 24), 64); });
  }
}

// Bodies create tasks, wait for them and block, in loops of several threads at once: posts are used again and again.
TEST(parallel_for, whose_bodies_do_all_sorts_of_things) {
  const watchdog dog(300);
  for (const int workers : few_or_many) {
    runtime rt({.workers = workers, .machine = "nodes:2 cpus:4"});
    std::atomic<int> done{0};
    const auto body = [&](int i) {
      if (i % 7 == 0) blocking([] { std::this_thread::sleep_for(std::chrono::microseconds(20)); });
      if (i % 5 == 0) parallel_for(rt, 0, 10, [&](int) { done++; });
      if (i % 3 == 0) {
        scope s(rt);
        for (int k = 0; k < 3; k++) s.spawn([&] { done++; });
        s.wait();
      }
      done++;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
      threads.emplace_back([&] {
        for (int round = 0; round < 10; round++) parallel_for(rt, 0, 105, body, {.grain = 1});
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(done, 30 * (105 + 21 * 10 + 35 * 3));
  }
}

TEST(parallel_for, throws_the_first_failure) {
  watchdog dog(120);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    for (const int bad : {0, 7, 999}) {
      std::atomic<int> calls{0};
      const std::string message = message_of<task_failed>([&] {
        parallel_for(rt, 0, 1000, [&](int i) {
          calls++;
          if (i == bad) throw std::runtime_error("at " + std::to_string(i));
        }, {.grain = 1, .name = "sweep"});
      });
      WEIR_EXPECT_CONTAINS(message, "sweep");
      WEIR_EXPECT_CONTAINS(message, "at " + std::to_string(bad));
      EXPECT_LE(calls, 1000);
    }
    EXPECT_THROW(parallel_for(rt, 0, 100, [](int) { throw 1; }), task_failed);
    WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { parallel_for(rt, 0, 1, [](int) { throw std::runtime_error("unnamed"); }); }), "parallel_for");
    // In a task the loop's failure is the task's unless it is caught.
    EXPECT_NO_THROW(rt.run([&] { EXPECT_THROW(parallel_for(rt, 0, 10, [](int) { throw 1; }), task_failed); }));
    WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.run([&] { parallel_for(rt, 0, 10, [](int) { throw std::runtime_error("inside"); }); }); }), "inside");
    EXPECT_NO_THROW(rt.wait());
    std::atomic<int> calls{0};
    parallel_for(rt, 0, 100, [&](int) { calls++; });
    EXPECT_EQ(calls, 100);
  }
}

TEST(parallel_for, leaves_out_the_rest_after_a_failure) {
  watchdog dog(60);
  runtime rt({.workers = 1, .machine = one_node});
  int calls = 0;
  EXPECT_THROW(parallel_for(rt, 0, 1000, [&](int) { if (++calls == 10) throw 1; }, {.grain = 1}), task_failed);
  EXPECT_EQ(calls, 10);
  // Bodies that wait for nothing else see it, too.
  runtime two({.workers = 2, .machine = one_node});
  std::atomic<bool> both{false};
  EXPECT_THROW(parallel_for(two, 0, 2, [&](int i) {
    if (i == 0) {
      while (!both) std::this_thread::yield();
      throw 1;
    }
    both = true;
    while (!this_task::cancelled()) std::this_thread::yield();
  }), task_failed);
}

}  // namespace
}  // namespace weir::test
