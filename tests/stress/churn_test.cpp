// Everything that comes and goes while runtimes do: threads, tasks with runtimes of their own, forked children,
// libraries that are loaded and unloaded, signals. Nothing may hang, crash or leak, and every task must have run.
// WEIR_STRESS_SECONDS=N: for N seconds.
#include "tests/support/support.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>

namespace weir::test {
namespace {

using clock = std::chrono::steady_clock;

std::chrono::duration<double> budget() {
  const char* text = std::getenv("WEIR_STRESS_SECONDS");
  return std::chrono::duration<double>(text != nullptr ? std::strtod(text, nullptr) : 8);
}

// Seconds after which a child that has not ended has hung.
unsigned patience_of_child() { return static_cast<unsigned>(60 * slowdown()); }

std::atomic<std::uint64_t> signals_arrived{0};
void count_signal(int) { signals_arrived.fetch_add(1, std::memory_order_relaxed); }

runtime_options random_options(std::mt19937_64& random) {
  runtime_options o;
  o.policy = policy_names()[between(random, 0, policy_names().size() - 1)];
  o.workers = static_cast<int>(between(random, 1, 4));
  o.bind = between(random, 0, 3) != 0;
  const char* machines[] = {"", "", "nodes:2 cpus:1", "nodes:4 cpus:2"};
  o.machine = machines[between(random, 0, 3)];
  if (between(random, 0, 3) == 0) o.stack_bytes = std::size_t{1} << between(random, 20, 24);
  return o;
}

// A library with a libweir of its own, where that is static.
class library {
 public:
  library() : handle_(dlopen(WEIR_CHURN_PLUGIN, RTLD_NOW | RTLD_LOCAL)) { EXPECT_NE(handle_, nullptr) << dlerror(); }
  ~library() {
    if (handle_ != nullptr) {
      EXPECT_EQ(dlclose(handle_), 0) << dlerror();
    }
  }
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  void use(int workers, int tasks) const {
    ASSERT_NE(handle_, nullptr);
    const auto use_a_runtime = reinterpret_cast<int (*)(int, int)>(dlsym(handle_, "churn_use_a_runtime"));
    ASSERT_NE(use_a_runtime, nullptr);
    EXPECT_EQ(use_a_runtime(workers, tasks), tasks);
  }

 private:
  void* const handle_;
};

void expect_good_end(pid_t child) {
  ASSERT_GT(child, 0) << std::strerror(errno);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  EXPECT_FALSE(WIFSIGNALED(status)) << "the child ended by signal " << WTERMSIG(status)
                                    << (WTERMSIG(status) == SIGALRM ? ": it hung" : "");
  EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0) << "the child ended with " << WEXITSTATUS(status);
}

// Some tasks; all have run afterwards, or it fails.
void use(runtime& rt, std::mt19937_64& random) {
  scope s(rt);
  std::atomic<std::size_t> ran{0};
  const std::size_t tasks = between(random, 1, 40);
  const auto d = rt.make_data(std::vector<std::size_t>{0});
  for (std::size_t i = 0; i < tasks; i++) {
    if (i % 2 == 0) s.spawn([&] { ran++; });
    else s.spawn(inout(d), [&](auto v) { v[0]++, ran++; });
  }
  s.wait();
  EXPECT_EQ(ran, tasks);
  EXPECT_EQ(d.read()[0], tasks / 2);
}

// Runtimes that several threads use at once; who takes one out of here ends it when the others have let go.
class shelf {
 public:
  std::shared_ptr<runtime> take(std::mt19937_64& random) {
    const runtime_options o = random_options(random);
    std::lock_guard guard(mutex_);
    std::shared_ptr<runtime>& place = all_[between(random, 0, std::size(all_) - 1)];
    if (place == nullptr) place = std::make_shared<runtime>(o);
    return place;
  }
  void clear_one(std::mt19937_64& random) {
    std::shared_ptr<runtime> last;
    std::lock_guard guard(mutex_);
    last.swap(all_[between(random, 0, std::size(all_) - 1)]);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<runtime> all_[3];
};

class churner {
 public:
  churner(shelf& s, std::uint64_t seed) : shelf_(s), random_(seed) {}

  void act() {
    switch (between(random_, 0, 9)) {
      case 0: one_of_its_own(); break;
      case 1: several_at_once(); break;
      case 2: inside_a_task(); break;
      case 3: shared_ones(); break;
      case 4: short_lived_threads(); break;
      case 5: thread_local_one(); break;
      case 6: static_one(); break;
      case 7: fork_here(); break;
      case 8: fork_in_a_task(); break;
      default: load_a_library(); break;
    }
  }

 private:
  void one_of_its_own() {
    runtime rt(random_options(random_));
    use(rt, random_);
  }

  // Ended in another order than they were made; data outlives them.
  void several_at_once() {
    data<int> late;
    std::optional<runtime> first(random_options(random_)), second(random_options(random_));
    use(*first, random_);
    use(*second, random_);
    late = first->make_data(std::vector<int>{1});
    (between(random_, 0, 1) == 0 ? first : second).reset();
  }

  void inside_a_task() {
    runtime rt(random_options(random_));
    const std::uint64_t seed = random_();
    rt.run([&] {
      std::mt19937_64 random(seed);
      runtime inner(random_options(random));
      use(inner, random);
      use(rt, random);
    });
  }

  void shared_ones() {
    const std::shared_ptr<runtime> a = shelf_.take(random_), b = shelf_.take(random_);
    use(*a, random_);
    use(*b, random_);
    if (between(random_, 0, 4) == 0) shelf_.clear_one(random_);
  }

  void short_lived_threads() {
    std::vector<std::thread> threads;
    for (std::size_t i = between(random_, 1, 4); i > 0; i--)
      threads.emplace_back([this, seed = random_()] {
        std::mt19937_64 random(seed);
        for (std::size_t uses = between(random, 1, 3); uses > 0; uses--) use(*shelf_.take(random), random);
      });
    for (std::thread& t : threads) t.join();
  }

  // Ends when the thread does, after other objects of the thread's.
  void thread_local_one() {
    std::thread([this, seed = random_()] {
      std::mt19937_64 random(seed);
      use(*shelf_.take(random), random);
      thread_local runtime own(random_options(random));
      use(own, random);
    }).join();
  }

  void static_one() {
    static runtime rt({.workers = 2});
    use(rt, random_);
  }

  void fork_here() { expect_good_end(fork_child()); }

  void fork_in_a_task() {
    const std::shared_ptr<runtime> rt = shelf_.take(random_);
    pid_t child = -1;
    rt->run([&] { child = fork_child(); });
    expect_good_end(child);
  }

  // Sanitizers do not support threads in the forked child of a process with threads.
  pid_t fork_child() {
    const std::size_t way = between(random_, sanitized ? 1 : 0, 2);
    const std::uint64_t seed = random_();
    const pid_t child = fork();
    if (child != 0) return child;
    alarm(patience_of_child());
    if (way == 1) execl("/bin/true", "true", static_cast<char*>(nullptr));
    if (way == 0) {
      std::mt19937_64 random(seed);
      for (std::size_t i = between(random, 1, 2); i > 0; i--) {
        runtime rt(random_options(random));
        use(rt, random);
      }
      if (::testing::Test::HasFailure()) _exit(1);
    }
    _exit(way == 1 ? 127 : 0);
  }

  // In a thread that ends, for what a thread keeps of a library keeps the library.
  void load_a_library() {
    std::thread([workers = static_cast<int>(between(random_, 1, 3)),
                 tasks = static_cast<int>(between(random_, 1, 30))] {
      const library loaded;
      loaded.use(workers, tasks);
    }).join();
  }

  shelf& shelf_;
  std::mt19937_64 random_;
};

// Where the library can be unloaded at all: the thread that has used it must have ended.
TEST(churn, a_library_that_is_unloaded_leaves_nothing_behind) {
  watchdog dog(240, "loading and unloading");
  for (int i = 0; i < 5; i++) {
    std::thread([i] {
      const library loaded;
      loaded.use(1 + i % 2, 20);
    }).join();
    const pid_t child = fork();
    if (child == 0) {
      alarm(patience_of_child());
      if (!sanitized) {
        runtime rt({.workers = 2});
        rt.run([] {});
        library().use(2, 20);
      }
      _exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    expect_good_end(child);
  }
}

// To the process, so to any of its threads, workers included, now and then.
class signals {
 public:
  signals() {
    struct sigaction action {};
    action.sa_handler = count_signal;  // without SA_RESTART: system calls are interrupted
    sigaction(SIGUSR1, &action, &before_);
    sender_ = std::thread([this] {
      while (!over_) {
        kill(getpid(), SIGUSR1);
        std::this_thread::sleep_for(std::chrono::microseconds(700));
      }
    });
  }
  ~signals() {
    over_ = true;
    sender_.join();
    sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  std::atomic<bool> over_{false};
  struct sigaction before_ {};
  std::thread sender_;
};

TEST(churn, runtimes_threads_children_libraries_and_signals) {
  watchdog dog(static_cast<int>(budget().count()) + 240, "churn");
  std::mt19937_64 random(new_seed());
  std::atomic<std::uint64_t> actions{0};
  {
    const library stays;  // a fork that is under way would not wait for what a library does that is loaded meanwhile
    shelf shared;
    const signals arriving;
    const auto end = clock::now() + budget();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
      threads.emplace_back([&, seed = random()] {
        for (churner c(shared, seed); clock::now() < end && !::testing::Test::HasFailure(); actions++) c.act();
      });
    for (std::thread& t : threads) t.join();
  }
  std::printf("%llu actions, %llu signals\n", static_cast<unsigned long long>(actions),
              static_cast<unsigned long long>(signals_arrived));
}

}  // namespace
}  // namespace weir::test
