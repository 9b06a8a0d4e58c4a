// Fork detection and the clock.
#include "os/process.hpp"

#include "base/base.hpp"
#include "os/clock.hpp"

#include <pthread.h>
#include <time.h>

namespace weir::os {
namespace {

atomic<std::uint32_t> generation{0};

void in_child() { generation.fetch_add(1, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

std::uint32_t fork_generation() { return generation.load(std::memory_order_relaxed); }

std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace weir::os
