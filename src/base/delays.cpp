// Pauses before atomic operations, so that rare interleavings become frequent (WEIR_DELAYS, the preset `delays`).
#include <sched.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "base/atomic.hpp"

namespace weir::detail {
namespace {

// So many operations, on average, to a pause. Fewer: threads do little else; more: few pauses fall where they matter.
// So each process takes another number, and says which, unless WEIR_DELAY_ONE_IN does.
constexpr std::uint64_t fewest_between_pauses = 1'000, doublings = 6;
// Of 64 pauses 48 let another thread run, 15 are short, and one is longer than a worker waits for anything.
constexpr std::uint64_t longest_short_ns = 300'000, longest_ns = 20'000'000;

std::uint64_t now_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t operations_to_a_pause() noexcept {
  static const std::uint64_t n = [] {
    const char* const said = std::getenv("WEIR_DELAY_ONE_IN");
    const std::uint64_t wanted = said != nullptr ? std::strtoull(said, nullptr, 10) : 0;
    if (wanted != 0) return wanted;
    const std::uint64_t chosen = fewest_between_pauses << now_ns() / 1000 % doublings;
    std::fprintf(stderr, "pauses: WEIR_DELAY_ONE_IN=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
  }();
  return n;
}

void sleep_for(std::uint64_t ns) noexcept {
  const timespec t{0, static_cast<long>(ns)};
  ::nanosleep(&t, nullptr);
}

// xorshift64 (Marsaglia, Journal of Statistical Software 8(14), 2003). A generator for each thread: it is no atomic.
std::uint64_t next_random() noexcept {
  static thread_local std::uint64_t x = now_ns() * 0x9e3779b97f4a7c15u | 1;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x;
}

}  // namespace

void delay() noexcept {
  const std::uint64_t x = next_random();
  if ((x >> 32) % operations_to_a_pause() != 0) [[likely]] return;
  const std::uint64_t kind = x % 64, length = x >> 6;
  if (kind < 48) ::sched_yield();
  else sleep_for(length % (kind < 63 ? longest_short_ns : longest_ns));
}

}  // namespace weir::detail
