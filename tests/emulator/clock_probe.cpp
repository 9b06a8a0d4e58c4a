// What the tests of the emulated machine's time run inside guests, and on this machine. Usage: emulator_clock_probe
// WHAT [ARGUMENT...]; each WHAT is a function below and prints nanoseconds.
#include <weir/region.h>

#include <base/base.hpp>
#include <os/os.hpp>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using arguments = std::vector<std::string>;
using ull = unsigned long long;   // what printf takes

bool run_on(std::size_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

void run_instructions(std::uint64_t n) {
#if defined(__x86_64__)
  std::uint64_t turns = n / 2;
  __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
#else
  for (volatile std::uint64_t turns = n; turns > 0;) turns = turns - 1;
#endif
}

// tasks COUNT INSTRUCTIONS: how long so many instructions take by the public clock and by the runtime's own, outside
// of a region and in one. The first of each kind warms up and is not printed.
void measure_tasks(const char* where, const arguments& a) {
  for (int k = 0; k <= std::stoi(a.at(0)); k++) {
    const std::uint64_t public_begin = weir_region_now_ns(), own_begin = weir::os::now_ns();
    run_instructions(std::stoull(a.at(1)));
    const std::uint64_t own = weir::os::now_ns() - own_begin, of_public = weir_region_now_ns() - public_begin;
    if (k > 0) std::printf("%s %llu %llu\n", where, ull(of_public), ull(own));
  }
}

int tasks(const arguments& a) {
  measure_tasks("outside", a);
  WEIR_REGION_BEGIN(0);
  measure_tasks("inside", a);
  WEIR_REGION_END(0);
  return 0;
}

// threads COUNT MOVES: threads go from CPU to CPU and look at the clock; regions begin and end meanwhile. Prints how
// often a thread saw time go back, and by how much the clocks of two CPUs were apart at most.
int threads(const arguments& a) {
  const std::size_t cpus = std::thread::hardware_concurrency();
  std::atomic<std::uint64_t> backward{0}, latest{0}, apart{0};
  const auto go = [&](std::size_t first) {
    std::uint64_t last = 0;
    for (std::size_t move = 0; move < std::stoul(a.at(1)); move++) {
      if (!run_on((first + move) % cpus)) backward += 1000;
      if (first == 0 && move % 8 == 0) WEIR_REGION_BEGIN(0);
      if (first == 0 && move % 8 == 4) WEIR_REGION_END(0);
      for (int look = 0; look < 100; look++) {
        const std::uint64_t seen_by_others = latest.load(), now = weir_region_now_ns();
        if (now < last) backward++;
        if (now < seen_by_others && seen_by_others - now > apart.load()) apart = seen_by_others - now;
        if (now > seen_by_others) latest = now;
        last = now;
      }
    }
  };
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < std::stoul(a.at(0)); t++) all.emplace_back(go, t);
  for (std::thread& t : all) t.join();
  std::printf("%llu %llu\n", ull(backward.load()), ull(apart.load()));
  return 0;
}

// wait MICROSECONDS TIMES alone|beside: the runtime's timed sleep that nobody ends, while all else sleeps or while
// another thread runs.
int wait(const arguments& a) {
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (a.at(2) == "beside" && !over) run_instructions(1000);
  });
  weir::atomic<std::uint32_t> word{0};
  for (int k = 0; k < std::stoi(a.at(1)); k++) {
    const std::uint64_t begin = weir::os::now_ns();
    weir::real_atomics::wait_for(word, 0, static_cast<std::uint32_t>(std::stoul(a.at(0))));
    std::printf("%llu\n", ull(weir::os::now_ns() - begin));
  }
  over = true;
  busy.join();
  return 0;
}

// system: the system's monotonic clock, ours twice, and the system's again.
int system_time(const arguments&) {
  const auto system = [] {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return ull(t.tv_sec) * 1'000'000'000 + ull(t.tv_nsec);
  };
  const ull before = system(), of_public = weir_region_now_ns(), own = weir::os::now_ns(), after = system();
  std::printf("%d %llu %llu %llu %llu\n", weir_region_has_clocks(), before, of_public, own, after);
  return 0;
}

const std::map<std::string, int (*)(const arguments&)> what = {
    {"tasks", tasks}, {"threads", threads}, {"wait", wait}, {"system", system_time}};

}  // namespace

int main(int argc, char** argv) {
  try {
    return what.at(argc > 1 ? argv[1] : "")({argv + std::min(argc, 2), argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "emulator_clock_probe: %s\n", e.what());
    return 2;
  }
}
