// Pipelines: every token goes through every stage once, serial stages see them in order, and errors end them.
#include "tests/support/loop_shapes.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weir::test {
namespace {

// 0 to n - 1.
auto count_to(int n) {
  return [i = 0, n]() mutable { return i < n ? std::optional(i++) : std::nullopt; };
}

std::vector<int> first_numbers(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(pipeline, brings_all_tokens_through_in_order) {
  const watchdog dog(120);
  for (const shape& s : shapes()) {
    SCOPED_TRACE(text(s));
    runtime rt(options_of(s));
    for (const std::size_t tokens : {0, 1, 2, 3, 100})
      for (const int n : {0, 1, 2, 50, 500}) {
        std::vector<int> came, left;
        std::atomic<int> inside{0};
        parallel_pipeline(
            rt, {.tokens = tokens}, count_to(n), serial_stage([&](int i) {
              EXPECT_EQ(inside++, 0);
              came.push_back(i);
              inside--;
              return i;
            }),
            parallel_stage([](int i) { return std::to_string(i); }),
            serial_stage([&](const std::string& t) { left.push_back(std::stoi(t)); }));
        EXPECT_EQ(came, first_numbers(n));
        EXPECT_EQ(left, first_numbers(n));
      }
  }
}

TEST(pipeline, has_stages_of_any_kind) {
  const watchdog dog(60);
  runtime rt({.workers = 3});
  std::atomic<int> sum{0};
  parallel_pipeline(rt, count_to(100), parallel_stage([&](int i) { sum += i; }));
  EXPECT_EQ(sum, 4950);
  int in_order = 0;
  parallel_pipeline(rt, count_to(100), serial_stage([last = -1, &in_order](int i) mutable { in_order += i == ++last ? 1 : 0; }));
  EXPECT_EQ(in_order, 100);
  sum = 0;
  const auto next = parallel_stage([](int i) { return i + 1; });
  parallel_pipeline(rt, count_to(100), next, next, next, next, parallel_stage([&](int i) { sum += i; }));
  EXPECT_EQ(sum, 5350);
}

// Neither copied nor default-constructed; and none is left behind.
TEST(pipeline, moves_its_tokens) {
  struct token {
    explicit token(std::shared_ptr<int> c) : counted(std::move(c)), value(std::make_unique<int>(1)) {}
    std::shared_ptr<int> counted;
    std::unique_ptr<int> value;
  };
  runtime rt({.workers = 2});
  const auto counted = std::make_shared<int>(0);
  int total = 0;
  parallel_pipeline(
      rt, {.tokens = 4},
      [&, left = 100]() mutable { return left-- > 0 ? std::optional<token>(counted) : std::nullopt; },
      parallel_stage([](token t) {
        ++*t.value;
        return t;
      }),
      serial_stage([&](token&& t) {
        total += *t.value;  // and leaves it there
        EXPECT_LE(t.counted.use_count(), 1 + 4);
      }));
  EXPECT_EQ(total, 200);
  EXPECT_EQ(counted.use_count(), 1);
}

// References into what a stage was given: members, and the token itself.
TEST(pipeline, keeps_what_a_stage_returns_a_reference_to) {
  struct item {
    std::string name;
  };
  runtime rt({.workers = 2});
  std::vector<std::string> names;
  const auto source = [i = 0]() mutable {
    return i++ < 100 ? std::optional(item{std::string(50, static_cast<char>('a' + i % 26))}) : std::nullopt;
  };
  auto items = source;
  parallel_pipeline(rt, items, parallel_stage(&item::name), parallel_stage(std::identity()),
                    serial_stage([](std::string&& s) -> std::string&& {
                      s += '!';
                      return std::move(s);
                    }),
                    serial_stage([&](std::string s) { names.push_back(std::move(s)); }));
  ASSERT_EQ(names.size(), 100u);
  for (int i = 0; i < 100; i++)
    EXPECT_EQ(names[static_cast<std::size_t>(i)], std::string(50, static_cast<char>('a' + (i + 1) % 26)) + "!");
}

TEST(pipeline, has_no_more_tokens_under_way_than_asked_for) {
  const watchdog dog(60);
  runtime rt({.workers = 4, .machine = one_node});
  for (const int most : {1, 2, 5}) {
    std::atomic<int> under_way{0}, seen{0};
    parallel_pipeline(
        rt, {.tokens = static_cast<std::size_t>(most)},
        [&, left = 300]() mutable -> std::optional<int> {
          if (left-- == 0) return {};
          seen = std::max<int>(seen, ++under_way);
          return left;
        },
        parallel_stage([](int i) {
          std::this_thread::yield();
          return i;
        }),
        parallel_stage([&](int) { under_way--; }));
    EXPECT_LE(seen, most);
    EXPECT_EQ(under_way, 0);
  }
}

// Each waits until another one is there.
// At first, at least.
TEST(pipeline, runs_parallel_stages_at_the_same_time) {
  const watchdog dog(60);
  runtime rt({.workers = 2, .machine = one_node});
  std::atomic<int> inside{0};
  parallel_pipeline(rt, count_to(2), parallel_stage([&](int) {
                      inside++;
                      while (inside < 2) std::this_thread::yield();
                    }));
  EXPECT_EQ(inside, 2);
}

TEST(pipeline, runs_serial_stages_beside_each_other) {
  const watchdog dog(60);
  runtime rt({.workers = 2, .machine = one_node});
  std::atomic<int> first{0};
  parallel_pipeline(rt, {.tokens = 2}, count_to(2), serial_stage([&](int i) {
                      first++;
                      return i;
                    }),
                    serial_stage([&](int) {
                      while (first < 2) std::this_thread::yield();
                    }));
  EXPECT_EQ(first, 2);
}

// One that answers: nothing more comes before the last one is through. Also with one worker.
TEST(pipeline, lets_its_source_wait_for_earlier_tokens) {
  const watchdog dog(60);
  for (const int workers : {1, 2, 4})
    for (const bool in_a_task : {false, true}) {
      runtime rt({.workers = workers, .machine = one_node});
      std::atomic<int> through{0};
      const auto converse = [&] {
        parallel_pipeline(
            rt,
            [&, i = 0]() mutable -> std::optional<int> {
              if (i > 500)
                blocking([&] {
                  while (through < i) std::this_thread::yield();
                });
              return i < 600 ? std::optional(i++) : std::nullopt;
            },
            parallel_stage([](int i) { return i; }), serial_stage([&](int) { through++; }));
      };
      in_a_task ? rt.run(converse) : converse();
      EXPECT_EQ(through, 600);
    }
}

// What a stage waits for is run by the worker that waits, but the source is not: it would wait for a token below it.
TEST(pipeline, calls_no_source_on_top_of_a_stage) {
  const watchdog dog(60);
  for (const char* policy : {"auto", "fifo", "node-queues"})
    for (const int workers : {1, 2, 4}) {
      SCOPED_TRACE(policy);
      runtime rt({.workers = workers, .policy = policy, .machine = one_node});
      std::atomic<int> through{0}, done{0};
      parallel_pipeline(
          rt,
          [&, i = 0]() mutable -> std::optional<int> {
            blocking([&] {
              while (through < i) std::this_thread::yield();
            });
            return i < 200 ? std::optional(i++) : std::nullopt;
          },
          parallel_stage([&](int i) {
            scope inner(rt);
            for (int t = 0; t < 3; t++)
              inner.spawn([&] {
                scope inmost(rt);
                inmost.spawn([&] { done++; });
                inmost.spawn([&] { done++; });
                inmost.wait();
              });
            inner.wait();
            parallel_for(rt, 0, 10, [&](int) { done++; });
            return i;
          }),
          serial_stage([&](int) { through++; }));
      EXPECT_EQ(through, 200);
      EXPECT_EQ(done, 200 * (6 + 10));
    }
}

TEST(pipeline, gives_its_place_away_while_a_stage_blocks) {
  const watchdog dog(60);
  runtime rt({.workers = 1, .machine = one_node});
  std::atomic<int> inside{0};
  parallel_pipeline(rt, {.tokens = 2}, count_to(2), parallel_stage([&](int) {
                      inside++;
                      blocking([&] {
                        while (inside < 2) std::this_thread::yield();
                      });
                    }));
  EXPECT_EQ(inside, 2);
}

TEST(pipeline, is_run_by_workers_if_its_caller_may_not) {
  const watchdog dog(60);
  runtime rt({.workers = 2, .waiting_threads_execute = false});
  const auto me = std::this_thread::get_id();
  std::vector<int> seen;
  parallel_pipeline(rt, count_to(1000), serial_stage([&](int i) {
                      EXPECT_NE(std::this_thread::get_id(), me);
                      seen.push_back(i);
                    }));
  EXPECT_EQ(seen, first_numbers(1000));
}

// One task would carry all of them: others have their turn.
TEST(pipeline, lets_others_go_on) {
  const watchdog dog(60);
  runtime rt({.workers = 1});
  std::atomic<bool> ran{false};
  scope tasks(rt);
  tasks.spawn([&] {
    bool created = false;
    parallel_pipeline(rt, [&]() -> std::optional<int> { return ran ? std::nullopt : std::optional(0); },
                      serial_stage([&](int) {
                        if (!std::exchange(created, true)) rt.spawn({.priority = priority::high}, [&] { ran = true; });
                      }));
  });
  tasks.wait();
  EXPECT_TRUE(ran);
}

// A last stage that others always have tokens for.
TEST(pipeline, lets_others_go_on_in_a_slow_last_stage) {
  const watchdog dog(60);
  runtime rt({.workers = 3, .machine = one_node});
  std::atomic<bool> ran{false};
  int last = 0;
  parallel_pipeline(
      rt, [&]() -> std::optional<int> { return ran ? std::nullopt : std::optional(0); },
      parallel_stage([](int i) { return i; }), serial_stage([&](int) {
        if (last++ == 100)
          rt.spawn({.priority = priority::high, .affinity = require(0)}, [&] { ran = true; });
        for (int i = 0; i < 10000; i++) asm volatile("");
      }));
  EXPECT_TRUE(ran);
}

TEST(pipeline, may_lie_in_tasks_and_in_others) {
  const watchdog dog(120);
  for (const shape& s : shapes()) {
    SCOPED_TRACE(text(s));
    runtime rt(options_of(s));
    std::atomic<int> sum{0};
    const auto inner = [&](int n) { parallel_pipeline(rt, {.tokens = 2}, count_to(n), parallel_stage([&](int i) { sum += i; })); };
    scope tasks(rt);
    for (int t = 0; t < 4; t++)
      tasks.spawn([&] {
        parallel_pipeline(rt, count_to(10), serial_stage([&](int) {
                            inner(10);
                            parallel_for(rt, 0, 10, [&](int i) { sum += i; });
                          }));
      });
    inner(10);
    tasks.wait();
    EXPECT_EQ(sum, 45 + 4 * 10 * (45 + 45));
  }
}

TEST(pipeline, is_run_by_several_threads_at_once) {
  const watchdog dog(120);
  runtime rt({.workers = 2});
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; round++)
        parallel_pipeline(rt, count_to(20), serial_stage([](int i) { return i; }),
                          parallel_stage([&](int i) { sum += i; }));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 20 * 190);
}

// ---------------------------------------------------------------- errors

TEST(pipeline, ends_with_what_a_stage_throws) {
  const watchdog dog(60);
  for (const int workers : {1, 3})
    for (const int at : {0, 1, 77}) {
      runtime rt({.workers = workers});
      const auto counted = std::make_shared<int>(0);
      int taken = 0;
      std::atomic<int> after{0};
      const auto source = [&]() -> std::optional<std::shared_ptr<int>> {
        taken++;
        return taken <= 1000 ? std::optional(counted) : std::nullopt;
      };
      try {
        parallel_pipeline(rt, {.tokens = 8, .name = "reading"}, source,
                          serial_stage([&, i = 0](std::shared_ptr<int> t) mutable {
                            if (i++ == at) throw std::runtime_error("no such token");
                            return t;
                          }),
                          parallel_stage([&](const std::shared_ptr<int>&) { after++; }));
        FAIL() << "nothing was thrown";
      } catch (const task_failed& e) {
        WEIR_EXPECT_CONTAINS(std::string(e.what()), "reading");
        WEIR_EXPECT_CONTAINS(std::string(e.what()), "no such token");
        EXPECT_THROW(std::rethrow_exception(e.cause()), std::runtime_error);
      }
      EXPECT_LE(taken, at + 1 + 8);
      EXPECT_LE(after, at);
      EXPECT_EQ(counted.use_count(), 1);
      parallel_pipeline(rt, count_to(10), parallel_stage([&](int) { after++; }));  // nothing is left of it
    }
}

TEST(pipeline, ends_with_what_its_source_throws) {
  runtime rt({.workers = 2});
  int stages = 0;
  auto source = [i = 0]() mutable -> std::optional<int> {
    if (i == 5) throw 5;
    return i++;
  };
  EXPECT_THROW(parallel_pipeline(rt, source, serial_stage([&](int) { stages++; })), task_failed);
  EXPECT_LE(stages, 5);
}

TEST(pipeline, is_left_if_the_scope_outside_ends) {
  const watchdog dog(60);
  runtime rt({.workers = 2});
  std::atomic<bool> left{false};
  std::atomic<int> taken{0};
  scope tasks(rt);
  tasks.spawn([&] {
    try {
      parallel_pipeline(rt, [&]() -> std::optional<int> { return taken++; }, serial_stage([](int) {}));
    } catch (const task_cancelled& e) {
      left = true;
      throw;
    }
  });
  while (taken < 10) std::this_thread::yield();
  tasks.cancel();
  tasks.wait();
  EXPECT_TRUE(left);
}

// Long after the source has come to its end.
TEST(pipeline, drops_tokens_between_stages) {
  const watchdog dog(60);
  runtime rt({.workers = 2});
  gate g;
  std::atomic<bool> left{false};
  std::atomic<int> after{0};
  scope tasks(rt);
  tasks.spawn([&] {
    try {
      parallel_pipeline(rt, count_to(1), parallel_stage([&](int i) {
                          g.pass();
                          return i;
                        }),
                        parallel_stage([&](int) { after++; }));
    } catch (const task_cancelled&) {
      left = true;
      throw;
    }
  });
  g.await_arrivals(1);
  tasks.cancel();
  g.open();
  tasks.wait();
  EXPECT_TRUE(left);
  EXPECT_EQ(after, 0);
}

TEST(pipeline, ends_with_what_an_inner_one_throws) {
  const watchdog dog(60);
  runtime rt({.workers = 3});
  const auto inner = [&](int i) {
    parallel_pipeline(rt, count_to(10), serial_stage([&](int k) {
                        if (i == 5 && k == 5) throw std::runtime_error("five");
                      }));
  };
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { parallel_pipeline(rt, count_to(100), parallel_stage(inner)); }), "five");
}

TEST(pipeline, refuses_too_many_tokens) {
  runtime rt({.workers = 1});
  const pipeline_options too_many{.tokens = (std::size_t{1} << 20) + 1};
  const auto call = [&] { parallel_pipeline(rt, too_many, count_to(1), serial_stage([](int) {})); };
  WEIR_EXPECT_CONTAINS(message_of<usage_error>(call), "tokens is 1048577; expected at most 1048576");
}

}  // namespace
}  // namespace weir::test
