// What the tests that cross folders share: seeds that are printed, how hard to try, a watchdog, and the hostile
// configurations under which the same program must give the same result.
#pragma once

#include <weir/weir.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WEIR_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WEIR_TEST_SANITIZED 1
#endif
#endif

namespace weir::test {

#ifdef WEIR_TEST_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// WEIR_TEST_SLOWDOWN=N: how many times slower than usual all is, as in an emulated machine. Fewer repetitions then, and
// more patience.
inline std::size_t slowdown() {
  static const char* const text = std::getenv("WEIR_TEST_SLOWDOWN");
  static const std::size_t factor = text != nullptr ? std::strtoul(text, nullptr, 10) : 1;
  return factor < 1 ? 1 : factor;
}

// WEIR_TEST_EFFORT=N: random tests go on N times as long, as those labelled long do.
inline std::size_t more_effort() {
  static const char* const text = std::getenv("WEIR_TEST_EFFORT");
  static const std::size_t factor = text != nullptr ? std::strtoul(text, nullptr, 10) : 1;
  return factor < 1 ? 1 : factor;
}

// Repetitions of a random or exhaustive test: sanitizers slow it down by about 12.
inline std::size_t effort(std::size_t n) {
  const std::size_t factor = slowdown() * (sanitized ? 12 : 1);
  return (n * more_effort() + factor - 1) / factor;
}

// WEIR_TEST_SEED, or a new one. Printed, so that a failure can be repeated.
inline std::uint64_t new_seed() {
  std::uint64_t seed = 0;
  if (const char* text = std::getenv("WEIR_TEST_SEED"); text != nullptr && *text != '\0') seed = std::strtoull(text, nullptr, 10);
  else seed = (std::uint64_t{std::random_device{}()} << 32) ^ std::random_device{}();
  std::printf("seed: WEIR_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // a watchdog ends the process without that
  return seed;
}

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  a *= 0xbf58476d1ce4e5b9u;
  return a ^ (a >> 29);
}

// Uniform in [low, high].
template <class Random>
std::size_t between(Random& random, std::size_t low, std::size_t high) {
  return std::uniform_int_distribution<std::size_t>(low, high)(random);
}

// A test that hangs says so and ends the program, instead of leaving that to somebody's patience.
class watchdog {
 public:
  explicit watchdog(int seconds, const char* what = "a test")
      : thread_([this, what, limit = std::chrono::seconds(seconds) * slowdown() * (sanitized ? 6 : 1)] {
          std::unique_lock lock(mutex_);
          if (end_.wait_for(lock, limit, [this] { return over_; })) return;
          std::fprintf(stderr, "watchdog: %s does not end\n", what);
          std::abort();
        }) {}
  ~watchdog() {
    {
      std::lock_guard guard(mutex_);
      over_ = true;
    }
    end_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable end_;
  bool over_ = false;
  std::thread thread_;
};

// A door tasks wait behind, so that a test decides when they go on.
class gate {
 public:
  void open() {
    std::lock_guard guard(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    arrived_++;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void await_arrivals(int n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= n; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int arrived_ = 0;
};

// Every policy, few and many workers, one node and several pretended ones.
inline std::vector<runtime_options> configurations() {
  std::vector<runtime_options> all;
  for (const std::string& policy : policy_names())
    for (int workers : {1, 2, 5})
      for (const char* machine : {"", "nodes:4 cpus:2"}) {
        runtime_options o;
        o.policy = policy;
        // Pushing even the smallest task: more ways for tasks to go.
        for (const auto& p : policy_parameters_of(policy))
          if (p.name == "threshold") o.policy += ":threshold=0";
        o.workers = workers;
        o.machine = machine;
        all.push_back(o);
      }
  return all;
}

inline std::string text(const runtime_options& o) {
  return "policy " + o.policy + ", " + std::to_string(o.workers) + " workers, machine " + (o.machine.empty() ? "host" : o.machine);
}

// The message of the E that f() throws; an empty string and a failure if it throws anything else or nothing.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return {};
  }
  ADD_FAILURE() << "no exception";
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

#define WEIR_EXPECT_CONTAINS(text, part) EXPECT_TRUE(::weir::test::contains(text, part)) << "\"" << (part) << "\" is not in: " << (text)

}  // namespace weir::test
