// weir::blocking(): a task waits for what is not weir's, and others go on in its worker's place.
#include "tests/support/support.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

namespace weir::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class event {
 public:
  void happen() {
    const std::lock_guard guard(mutex_);
    has_happened_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_happened_ = false;
};

class pipe_of_bytes {
 public:
  pipe_of_bytes() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }
  ~pipe_of_bytes() {
    for (const int end : ends_) ::close(end);
  }
  pipe_of_bytes(const pipe_of_bytes&) = delete;
  pipe_of_bytes& operator=(const pipe_of_bytes&) = delete;
  char read() {
    char c = 0;
    return ::read(ends_[0], &c, 1) == 1 ? c : '\0';
  }
  void write(char c) { EXPECT_EQ(::write(ends_[1], &c, 1), 1); }

 private:
  std::array<int, 2> ends_{};
};

// How many tasks execute at once, but for those that block.
class census {
 public:
  void begins() {
    const int now = ++executing_;
    for (int before = most_; before < now && !most_.compare_exchange_weak(before, now);) {
    }
  }
  void ends() { executing_--; }
  int most() const { return most_; }

 private:
  std::atomic<int> executing_{0}, most_{0};
};

class blocking_tasks : public ::testing::TestWithParam<int> {
 protected:
  int workers() const { return GetParam(); }
  // The runtime is as good as new, and a deadlock is still found.
  void TearDown() override {
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; i++) rt.spawn([&] { ran++; });
    EXPECT_NO_THROW(rt.wait());
    EXPECT_EQ(ran, 100);
    const auto s = rt.make_stream<int>("s");
    rt.spawn({.name = "never"}, s.pop(1), [](auto) {});
    WEIR_EXPECT_CONTAINS(message_of<deadlock_error>([&] { rt.wait(); }), "never");
  }
  watchdog dog{120, "a task that blocks"};
  runtime rt{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, blocking_tasks, ::testing::Values(1, 2, 4));

TEST_P(blocking_tasks, return_what_the_call_returns) {
  int x = 1;
  rt.run([&] {
    EXPECT_EQ(blocking([] { return 7; }), 7);
    EXPECT_EQ(&blocking([&]() -> int& { return x; }), &x);
    EXPECT_EQ(*blocking([] { return std::make_unique<int>(3); }), 3);
    blocking([&] { x = 2; });
    const std::mutex cannot_be_moved = blocking([] { return std::mutex(); });
    static_cast<void>(cannot_be_moved);
  });
  EXPECT_EQ(x, 2);
}

TEST_P(blocking_tasks, pass_exceptions_on) {
  std::atomic<int> caught{0};
  for (int i = 0; i < 100; i++)
    rt.spawn([&] {
      try {
        blocking([] { throw std::runtime_error("from outside"); });
      } catch (const std::runtime_error&) {
        caught += this_task::worker() >= 0;
      }
    });
  rt.wait();
  EXPECT_EQ(caught, 100);
  rt.spawn({.name = "reader"}, [] { blocking([] { throw std::runtime_error("no such file"); }); });
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.wait(); }), "task reader failed: no such file");
}

TEST_P(blocking_tasks, outside_of_tasks_it_is_a_call) {
  for (int i = 0; i < 50; i++) {
    parallel_for(rt, 0, 10, [](int) {});  // this thread has a place now, and may keep it
    event done;
    rt.spawn([&] { done.happen(); });
    blocking([&] {
      EXPECT_EQ(this_task::worker(), -1);
      done.wait();
    });
    rt.wait();
  }
}

TEST_P(blocking_tasks, go_on_as_the_same_worker) {
  for (int i = 0; i < 200; i++)
    rt.spawn([&, i] {
      const int worker = this_task::worker(), node = this_task::node();
      blocking([&] {
        EXPECT_EQ(this_task::worker(), -1);
        EXPECT_EQ(this_task::node(), -1);
        if (i % 8 == 0) std::this_thread::sleep_for(milliseconds(1));
      });
      EXPECT_EQ(this_task::worker(), worker);
      EXPECT_EQ(this_task::node(), node);
    });
  rt.wait();
}

TEST_P(blocking_tasks, many_wait_for_one_that_comes_last) {
  constexpr int tasks = 40;
  pipe_of_bytes p;
  std::atomic<int> read{0};
  for (int i = 0; i < tasks; i++)
    rt.spawn([&] { read += blocking([&] { return p.read(); }) == 'x'; });
  rt.spawn([&] {
    for (int i = 0; i < tasks; i++) p.write('x');
  });
  rt.wait();
  EXPECT_EQ(read, tasks);
}

// They lie in the queue of the worker whose task blocks.
TEST_P(blocking_tasks, wait_for_their_children) {
  for (int round = 0; round < 50; round++) {
    std::atomic<int> left{10};
    event none_left;
    rt.run([&](scope& s) {
      for (int i = 0; i < 10; i++)
        s.spawn([&] {
          if (--left == 0) none_left.happen();
        });
      blocking([&] { none_left.wait(); });
    });
    EXPECT_EQ(left, 0);
  }
}

// Each goes on before the one that came in its place has ended.
TEST_P(blocking_tasks, go_on_in_any_order) {
  for (int round = 0; round < 50; round++) {
    event a, b, c;
    int steps = 0;
    rt.spawn([&] {
      blocking([&] { a.wait(); });
      steps++;
      b.happen();
      blocking([&] { c.wait(); });
      steps++;
    });
    rt.spawn([&] {
      a.happen();
      blocking([&] { b.wait(); });
      steps++;
      c.happen();
    });
    rt.wait();
    EXPECT_EQ(steps, 3);
  }
}

TEST_P(blocking_tasks, hold_a_lock_that_others_wait_for) {
  std::mutex m;
  int sum = 0;
  for (int i = 0; i < 60; i++)
    rt.spawn([&] {
      const std::unique_lock lock = blocking([&] { return std::unique_lock(m); });
      blocking([&] { std::this_thread::sleep_for(std::chrono::microseconds(300)); });
      sum++;
    });
  rt.wait();
  EXPECT_EQ(sum, 60);
}

// The task that runs in its place waits, in a scope, for what the one that blocks writes.
TEST_P(blocking_tasks, go_on_before_a_wait_on_top_of_them_is_over) {
  for (int round = 0; round < 50; round++) {
    const auto d = rt.make_data<int>(1);
    event other_waits;
    int seen = 0;
    rt.spawn(out(d), [&](auto v) {
      blocking([&] { other_waits.wait(); });
      v[0] = 5;
    });
    rt.spawn([&] {
      scope s(rt);
      s.spawn(in(d), [&](auto v) { seen = v[0]; });
      other_waits.happen();
      s.wait();
      EXPECT_EQ(seen, 5);
    });
    rt.wait();
    EXPECT_EQ(seen, 5);
  }
}

void go_down(runtime& rt, int left, std::atomic<int>& reached, event& bottom) {
  reached++;
  if (left == 0) return bottom.happen();
  scope s(rt);
  s.spawn([&rt, left, &reached, &bottom] { go_down(rt, left - 1, reached, bottom); });
  blocking([&] { bottom.wait(); });
  s.wait();
}

TEST_P(blocking_tasks, in_what_runs_in_place_of_one_that_blocks) {
  for (int round = 0; round < 10; round++) {
    std::atomic<int> reached{0};
    event bottom;
    rt.run([&] { go_down(rt, 30, reached, bottom); });
    EXPECT_EQ(reached, 31);
  }
}

TEST_P(blocking_tasks, never_execute_more_at_once_than_there_are_workers) {
  census c;
  for (int i = 0; i < 200; i++)
    rt.spawn([&, i] {
      c.begins();
      for (int k = 0; k < 3; k++) {
        c.ends();
        blocking([&] { std::this_thread::sleep_for(std::chrono::microseconds(i % 7 * 50)); });
        c.begins();
        for (int n = 0; n < 500; n++) cpu_pause();
      }
      c.ends();
    });
  rt.wait();
  EXPECT_LE(c.most(), workers());
}

// Who runs a graph in bulk holds tasks that others do not see; not while one of them blocks.
TEST_P(blocking_tasks, of_a_graph_in_bulk_wait_for_others) {
  constexpr std::size_t tasks = 200;
  const std::vector<std::size_t> offsets(tasks + 1, 0);
  const std::vector<graph::task_id> none;
  graph g(offsets, none);
  for (int run = 0; run < 20; run++) {
    std::vector<event> done(tasks);
    std::atomic<int> ran{0};
    g.run(rt, [&](graph::task_id t) {
      if (t % 40 == 0) blocking([&] { done[t + 20].wait(); });  // of the same range
      if (t % 40 == 21) blocking([&] { done[t - 21].wait(); });
      done[t].happen();
      ran++;
    });
    EXPECT_EQ(ran, tasks);
  }
}

// A thread of the program that waits executes some of them, and others stand in for it.
TEST_P(blocking_tasks, in_a_place_that_the_program_has_borrowed) {
  const auto me = std::this_thread::get_id();
  bool mine = false;
  for (int round = 0; round < 20 || !mine; round++) {
    std::atomic<int> ran{0};
    event last_has_come;
    scope s(rt);
    rt.spawn([&] { ran++; });
    for (int i = 0; i < 6; i++)
      s.spawn([&, i] {
        if (std::this_thread::get_id() == me) mine = true;
        const int worker = this_task::worker();
        if (i == 5) last_has_come.happen();
        else blocking([&] { last_has_come.wait(); });
        EXPECT_EQ(this_task::worker(), worker);
        ran++;
      });
    s.wait();
    EXPECT_EQ(this_task::worker(), -1);
    rt.wait();
    EXPECT_EQ(ran, 7);
  }
}

TEST_P(blocking_tasks, that_the_program_runs_while_it_creates) {
  runtime own({.workers = workers(), .spawn_executes_outside_tasks = true});
  std::atomic<int> ran{0};
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 2000; i++)
      own.spawn([&, i] {
        if (i % 100 == 99) blocking([] {});
        if (i % 500 == 499) blocking([] { std::this_thread::sleep_for(milliseconds(1)); });
        ran++;
      });
    own.wait();
  }
  EXPECT_EQ(ran, 10'000);
}

TEST_P(blocking_tasks, use_the_runtime_as_the_program_does) {
  const auto d = rt.make_data(std::vector<int>{0});
  std::atomic<int> ran{0};
  for (int i = 0; i < 40; i++)
    rt.spawn([&] {
      blocking([&] {
        rt.spawn(inout(d), [&](auto v) { v[0]++; });
        scope s(rt);
        for (int k = 0; k < 5; k++) s.spawn([&] { ran++; });
        s.wait();
        static_cast<void>(d.read());
        parallel_for(rt, 0, 10, [&](int) { ran++; });
        blocking([&] { ran++; });
        WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { rt.wait(); }), "inside a task");
      });
      EXPECT_GE(this_task::worker(), 0);
    });
  rt.wait();
  EXPECT_EQ(ran, 40 * 16);
  EXPECT_EQ(d.read()[0], 40);
}

TEST_P(blocking_tasks, in_loops_and_graphs) {
  std::atomic<int> ran{0};
  const auto body = [&](int i) {
    blocking([&] {
      if (i % 16 == 0) std::this_thread::sleep_for(milliseconds(1));
    });
    ran++;
  };
  parallel_for(rt, 0, 100, body);
  EXPECT_EQ(parallel_reduce(rt, 0, 100, 0, [](int i) { return blocking([i] { return i; }); }, std::plus()), 4950);
  graph g;
  std::vector<graph::task_id> tasks;
  for (int i = 0; i < 50; i++) tasks.push_back(g.add([&, i] { body(i); }));
  for (std::size_t i = 10; i < tasks.size(); i++) g.precede(tasks[i - 10], tasks[i]);
  for (int run = 0; run < 3; run++) g.run(rt);
  EXPECT_EQ(ran, 250);
}

TEST_P(blocking_tasks, in_another_runtimes_task) {
  runtime inner({.workers = workers()});
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; i++)
    rt.spawn([&] {
      scope s(inner);
      for (int k = 0; k < 3; k++)
        s.spawn([&] {
          blocking([] {});
          ran++;
        });
      s.wait();
      blocking([] {});
      ran++;
    });
  rt.wait();
  EXPECT_EQ(ran, 200);
}

// Neither while one blocks, nor, if it is so, afterwards forgotten.
TEST_P(blocking_tasks, are_not_taken_for_stuck) {
  const auto s = rt.make_stream<int>("s");
  std::atomic<int> sum{0};
  rt.spawn({.name = "consumer"}, s.pop(1), [&](auto v) { sum += v[0]; });
  rt.spawn([&] {
    blocking([] { std::this_thread::sleep_for(milliseconds(50)); });
    rt.spawn(s.push(1), [](auto v) { v[0] = 3; });
  });
  EXPECT_NO_THROW(rt.wait());
  EXPECT_EQ(sum, 3);
  const auto begin = steady_clock::now();
  rt.spawn({.name = "consumer"}, s.pop(1), [](auto) {});
  rt.spawn([] { blocking([] { std::this_thread::sleep_for(milliseconds(50)); }); });
  WEIR_EXPECT_CONTAINS(message_of<deadlock_error>([&] { rt.wait(); }), "consumer");
  EXPECT_GE(steady_clock::now() - begin, milliseconds(50));
}

// Of two threads in one place each waits for ever, and one of them does not have the place.
TEST_P(blocking_tasks, that_wait_for_ever_afterwards_are_found) {
  const auto a = rt.make_stream<int>("a"), b = rt.make_stream<int>("b");
  event other_waits;
  std::atomic<int> failed{0};
  const auto wait_for = [&](const stream<int>& s, const char* name) {
    scope own(rt);
    own.spawn({.name = name}, s.pop(1), [](auto) {});
    failed += contains(message_of<deadlock_error>([&] { own.wait(); }), name);
  };
  rt.spawn([&] {
    blocking([&] { other_waits.wait(); });
    wait_for(a, "first");
  });
  rt.spawn([&] {
    other_waits.happen();
    wait_for(b, "second");
  });
  try {
    rt.wait();
  } catch (const deadlock_error&) {
  }
  EXPECT_EQ(failed, 2);
}

// A task waits for what another one keeps that has another thread, in the same place.
TEST_P(blocking_tasks, that_wait_for_each_other_afterwards_are_found) {
  const auto x = rt.make_data(std::vector<int>{0}, "x"), y = rt.make_data(std::vector<int>{0}, "y");
  event other_waits;
  std::atomic<int> failed{0};
  const auto wait_for = [&](const data<int>& d) {
    try {
      scope s(rt);
      s.spawn(inout(d), [](auto) {});
      s.wait();
    } catch (const error&) {
      failed++;
    }
  };
  rt.spawn({.name = "first"}, inout(x), [&](auto) {
    blocking([&] { other_waits.wait(); });
    wait_for(y);
  });
  rt.spawn({.name = "second"}, inout(y), [&](auto) {
    other_waits.happen();
    wait_for(x);
  });
  try {
    rt.wait();
  } catch (const error&) {
  }
  EXPECT_GE(failed, 1);
}

TEST_P(blocking_tasks, in_runtimes_that_end_at_once) {
  for (int i = 0; i < 50; i++) {
    std::atomic<int> ran{0};
    {
      runtime own({.workers = workers()});
      for (int k = 0; k < 5; k++)
        own.spawn([&] {
          blocking([] {});
          ran++;
        });
    }
    EXPECT_EQ(ran, 5);
  }
}

// The system's threads of this process by that name.
int threads_named(const std::string& name) {
  int n = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / "comm");
    std::string its;
    std::getline(file, its);
    n += its == name;
  }
  return n;
}

TEST_P(blocking_tasks, leave_few_threads_behind) {
  constexpr int tasks = 40;
  gate g;
  for (int i = 0; i < tasks; i++) rt.spawn([&] { blocking([&] { g.pass(); }); });
  g.await_arrivals(tasks);
  EXPECT_GE(threads_named("weir +"), tasks - workers());
  g.open();
  rt.wait();
  while (threads_named("weir +") > 4 * workers()) std::this_thread::yield();
}

TEST_P(blocking_tasks, may_fork) {
  std::atomic<int> good{0};
  for (int i = 0; i < 3; i++)
    rt.spawn([&] {
      std::fflush(nullptr);
      const pid_t child = blocking([] { return fork(); });
      if (child == 0) _exit(blocking([] { return 7; }) + (this_task::worker() == -1 ? 1 : 0));
      const int status = blocking([child] {
        int result = 0;
        waitpid(child, &result, 0);
        return result;
      });
      good += WIFEXITED(status) && WEXITSTATUS(status) == 8 && this_task::worker() >= 0;
    });
  rt.wait();
  EXPECT_EQ(good, 3);
}

// Slices of a worker lie beside one another, or inside; else no viewer can draw them.
TEST_P(blocking_tasks, are_traced) {
  const auto folder = std::filesystem::temp_directory_path() / ("weir-blocking-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  {
    runtime traced({.workers = workers(), .trace = (folder / "trace.json").string()});
    for (int i = 0; i < 10; i++) {
      event a, b;
      traced.spawn({.name = "first"}, [&] {
        blocking([&] { a.wait(); });
        b.happen();
        scope s(traced);
        for (int k = 0; k < 5; k++) s.spawn([] { blocking([] { std::this_thread::yield(); }); });
        s.wait();
      });
      traced.spawn({.name = "second"}, [&] {
        a.happen();
        blocking([&] { b.wait(); });
      });
      traced.wait();
    }
    traced.end();
  }
  struct slice {
    std::string worker;
    double begin, end;
  };
  std::vector<slice> slices;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream lines(file.path());
    for (std::string line; std::getline(lines, line);) {
      if (!contains(line, "\"ph\":\"X\"") || !contains(line, "\"cat\":\"task\"")) continue;
      const auto number = [&](const std::string& key) { return std::stod(line.substr(line.find("\"" + key + "\":") + key.size() + 3)); };
      const double begin = number("ts");
      slices.push_back({line.substr(line.find("\"tid\":"), 9), begin, begin + number("dur")});
    }
  }
  std::filesystem::remove_all(folder);
  EXPECT_EQ(slices.size(), 70u);
  for (const slice& a : slices)
    for (const slice& b : slices)
      if (a.worker == b.worker && a.begin < b.begin && b.begin < a.end) {
        EXPECT_LE(b.end, a.end + 0.0005);
      }
}

}  // namespace
}  // namespace weir::test
