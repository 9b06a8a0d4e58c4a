// Waiting inside tasks goes as deep as the worker's stack allows, then goes on on others, and ends with an error
// instead of a crash.
#include "tests/support/support.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace weir::test {
namespace {

// Workers with small stacks, so that the end comes soon.
constexpr std::size_t small_stack_bytes = std::size_t{1} << 20;

struct descent {
  runtime& rt;
  std::atomic<int> deepest{0};

  void go_down(int depth, int end) {
    deepest = std::max<int>(deepest, depth);
    if (depth == end) return;
    scope s(rt);
    s.spawn({.name = "down"}, [this, depth, end] { go_down(depth + 1, end); });
    s.wait();
  }
};

TEST(depth, a_few_hundred_nested_waits_are_fine) {
  watchdog dog(60);
  for (int workers : {1, 2}) {
    runtime rt({.workers = workers});
    descent d{rt};
    rt.run([&] { d.go_down(0, 300); });
    EXPECT_EQ(d.deepest, 300);
  }
}

// Where addresses are limited, a stack is what the system gives any thread. Sanitizers make frames many times as large.
int levels() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY || sizeof(void*) < 8;
  return limited ? 1'000 : sanitized ? 10'000 : 100'000;
}

TEST(depth, a_hundred_thousand_nested_waits_are_fine) {
  watchdog dog(60);
  for (int workers : {1, 2}) {
    runtime rt({.workers = workers});
    descent d{rt};
    rt.run([&] { d.go_down(0, levels()); });
    EXPECT_EQ(d.deepest, levels());
  }
}

// An exception that holds the next one, and so on, must not end recursively on the stack of whoever caught it.
TEST(depth, a_failure_comes_up_from_the_bottom) {
  watchdog dog(60);
  runtime rt({.workers = 2});
  struct failing {
    runtime& rt;
    void go_down(int left) {
      if (left == 0) throw std::runtime_error("the bottom");
      scope s(rt);
      s.spawn([this, left] { go_down(left - 1); });
      s.wait();
    }
  } f{rt};
  bool found_first = false;
  int nested = 0;
  std::thread([&] {  // with an ordinary stack
    try {
      rt.run([&] { f.go_down(levels()); });
    } catch (const task_failed& e) {
      WEIR_EXPECT_CONTAINS(std::string(e.what()), "the bottom");
      std::exception_ptr cause = std::current_exception();
      while (cause != nullptr && !found_first) {
        try {
          std::rethrow_exception(cause);
        } catch (const task_failed& inner) {
          const std::exception_ptr next = inner.cause();
          cause = next;
          nested++;
        } catch (const std::runtime_error& first) {
          found_first = std::string(first.what()) == "the bottom";
          break;
        }
      }
    }
  }).join();
  EXPECT_TRUE(found_first);
  EXPECT_EQ(nested, 1);  // however deep it was
}

// Deeper than a stack: they go on on others.
TEST(depth, nested_waits_go_on_on_other_stacks) {
  watchdog dog(120, "nested waits on many stacks");
  for (int workers : {1, 2}) {
    runtime rt({.workers = workers, .stack_bytes = small_stack_bytes});
    descent d{rt};
    const int end = sanitized ? 2'000 : 20'000;
    rt.run([&] { d.go_down(0, end); });
    EXPECT_EQ(d.deepest, end);
    const auto value = rt.make_data(std::vector<int>{7});
    rt.run([&] { EXPECT_EQ(value.read()[0], 7); });
  }
}

// Until the stacks that are used up are an eighth of the memory.
TEST(depth, endless_nested_waits_end_with_an_error) {
  watchdog dog(120, "endless nested waits");
  const auto machine = std::filesystem::temp_directory_path() / ("weir-depth-" + std::to_string(getpid()) + ".toml");
  std::ofstream(machine) << "name = \"little memory\"\nsource = \"a test\"\n[[nodes]]\nmemory = \"64 MiB\"\ncpus = 4\n";
  for (int workers : {1, 2, 4}) {
    runtime rt({.workers = workers, .machine = machine.string(), .stack_bytes = small_stack_bytes});
    descent d{rt};
    std::string message;
    try {
      rt.run([&] { d.go_down(0, 1'000'000); });
    } catch (const error& e) {
      message = e.what();
    }
    for (const char* part : {" tasks deep", "stack of 1048576 bytes", "runtime_options::stack_bytes",
                             "WEIR_STACK_BYTES", "less recursion"})
      WEIR_EXPECT_CONTAINS(message, part);
    EXPECT_LT(d.deepest, 1'000'000);
    EXPECT_GT(d.deepest, 50);
    rt.wait();
    std::atomic<int> ran{0};
    rt.run([&] { ran++; });  // and it goes on
    EXPECT_EQ(ran, 1);
  }
  std::filesystem::remove(machine);
}

// Each waits for a task of its own, and comes by the others: the waits nest as deep as the list is long, though the
// program nests nothing.
TEST(depth, waits_of_independent_tasks_nest) {
  watchdog dog(120, "waits that nest through scopes of others");
  for (int workers : {1, 2})
    for (const char* policy : {"fifo", "local", "steal"}) {
      runtime rt({.workers = workers, .policy = policy, .stack_bytes = small_stack_bytes});
      constexpr int tasks = sanitized ? 1'000 : 10'000;
      std::atomic<int> ran{0};
      for (int i = 0; i < tasks; i++)
        rt.spawn([&] {
          scope s(rt);
          s.spawn([&] { ran++; });
          s.wait();
        });
      EXPECT_NO_THROW(rt.wait()) << workers << policy;
      EXPECT_EQ(ran, tasks);
    }
}

// What they wait for comes from tasks further down the list, which a wait deep down must not execute itself.
TEST(depth, waits_for_what_others_write_nest) {
  watchdog dog(120, "waits that nest through scopes of others, for data");
  for (int workers : {1, 2})
    for (const char* policy : {"fifo", "local"}) {
      runtime rt({.workers = workers, .policy = policy, .stack_bytes = small_stack_bytes});
      constexpr int tasks = sanitized ? 1'000 : 5'000;
      const auto numbers = rt.make_stream<int>("numbers");
      std::atomic<int> sum{0};
      for (int i = 0; i < tasks; i++)
        rt.spawn([&] {
          scope s(rt);
          s.spawn(numbers.pop(1), [&](auto v) { sum += v[0]; });
          s.wait();
        });
      for (int i = 0; i < tasks; i++) rt.spawn(numbers.push(1), [](auto v) { v[0] = 1; });
      EXPECT_NO_THROW(rt.wait()) << workers << policy;
      EXPECT_EQ(sum, tasks);
    }
}

// And end if some of it never comes, though most of those that wait do not have their worker's place.
TEST(depth, waits_for_what_nobody_writes_end) {
  watchdog dog(120, "waits that nest, and never end by themselves");
  for (int workers : {1, 2})
    for (const char* policy : {"fifo", "local"}) {
      runtime rt({.workers = workers, .policy = policy, .stack_bytes = small_stack_bytes});
      constexpr int tasks = sanitized ? 1'000 : 3'000, missing = 5;
      const auto numbers = rt.make_stream<int>("numbers");
      std::atomic<int> sum{0}, failed{0};
      for (int i = 0; i < tasks; i++)
        rt.spawn([&] {
          scope s(rt);
          s.spawn({.name = "reader"}, numbers.pop(1), [&](auto v) { sum += v[0]; });
          try {
            s.wait();
          } catch (const deadlock_error&) {
            failed++;
          }
        });
      for (int i = 0; i < tasks - missing; i++) rt.spawn(numbers.push(1), [](auto v) { v[0] = 1; });
      try {
        rt.wait();
      } catch (const deadlock_error&) {  // this thread may have found it
      }
      EXPECT_EQ(sum, tasks - missing) << workers << policy;
      EXPECT_EQ(failed, missing);
    }
}

// Each task creates the next one and goes on. Nobody waits, so there may be as many as one likes, with large frames: what
// a creator runs at once leaves room for them.
TEST(depth, chains_of_creations_need_no_deep_stack) {
  constexpr std::size_t ordinary_stack_bytes = std::size_t{8} << 20;
  watchdog dog(120, "a chain of tasks that create each other");
  for (int workers : {1, 3}) {
    runtime rt({.workers = workers, .stack_bytes = ordinary_stack_bytes});
    std::atomic<int> ran{0};
    struct chain {
      runtime& rt;
      std::atomic<int>& ran;
      void link(int left) {
        volatile char large[ordinary_stack_bytes / 4];
        large[0] = 1;
        large[sizeof large - 1] = 1;
        if (left > 0) rt.spawn([this, left] { link(left - 1); });
        ran += large[0];
      }
    } c{rt, ran};
    rt.spawn([&] { c.link(20'000); });
    rt.wait();
    EXPECT_EQ(ran, 20'001);
  }
}

// The scope of the deepest task ends while its child has not run, and no stack is left to run it: the child must not
// find its parent gone.
TEST(depth, nobody_outlives_the_scope_it_belongs_to) {
  watchdog dog(120, "endless nested waits with children");
  for (int workers : {1, 3}) {
    runtime rt({.workers = workers, .stack_bytes = small_stack_bytes});
    std::atomic<int> orphans{0}, deepest{0};
    struct level {
      runtime& rt;
      std::atomic<int>&orphans, &deepest;
      void down(int depth) {
        std::atomic<bool> alive{true};
        {
          deepest = std::max<int>(deepest, depth);
          scope s(rt);
          for (int i = 0; i < 3; i++)
            s.spawn([this, depth, &alive, i] {
              if (!alive) orphans++;
              if (i == 0 && depth < 100'000) down(depth + 1);
            });
        }  // waits, without throwing
        alive = false;
      }
    } l{rt, orphans, deepest};
    rt.run([&] { l.down(0); });
    EXPECT_EQ(orphans, 0);
    EXPECT_GT(deepest, 50);
  }
}

}  // namespace
}  // namespace weir::test
