// real_atomics::wait and wake: the Linux futex, private to the process.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <weir/region.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/atomic.hpp"

namespace weir {
namespace {

// atomic<uint32_t> has the size and the address of the word in it, which is what the kernel compares.
static_assert(sizeof(atomic<std::uint32_t>) == sizeof(std::uint32_t));

// How long a sleeper of an emulated machine trusts the clock of the machine outside, in nanoseconds. Shorter: it looks
// at the virtual clock more often, and does little else. Longer: it sleeps too long where virtual time goes faster.
constexpr std::uint64_t shortest_nap_ns = 50'000, longest_nap_ns = 1'000'000;

long futex(const atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit = nullptr) noexcept {
  return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

timespec limit_of(std::uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

// By the virtual clock, which goes on while others run, and which the kernel does not know.
void wait_for_virtual(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint64_t ns) noexcept {
  const std::uint64_t deadline = weir_region_now_ns() + ns;
  for (std::uint64_t now = deadline - ns; now < deadline; now = weir_region_now_ns()) {
    const std::uint64_t left = deadline - now, least = std::min(left, shortest_nap_ns);
    const timespec nap = limit_of(std::clamp(left / 4, least, longest_nap_ns));
    if (futex(word, FUTEX_WAIT, expected, &nap) == 0 || errno != ETIMEDOUT) return;
    WEIR_REGION_TIMED_OUT();
  }
}

}  // namespace

// The result is not looked at: woken, interrupted and "value differs" all mean "look again" to the caller.
void real_atomics::wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept { futex(word, FUTEX_WAIT, expected); }

void real_atomics::wait_for(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint32_t microseconds) noexcept {
  const std::uint64_t ns = std::uint64_t{1000} * microseconds;
  if (weir_region_has_clocks()) return wait_for_virtual(word, expected, ns);
  const timespec limit = limit_of(ns);
  futex(word, FUTEX_WAIT, expected, &limit);
}

void real_atomics::wake_one(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, 1); }

void real_atomics::wake_all(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, INT_MAX); }

}  // namespace weir
