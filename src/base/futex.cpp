// real_atomics::wait and wake: the Linux futex, private to the process.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

#include "base/atomic.hpp"

namespace weir {
namespace {

// atomic<uint32_t> has the size and the address of the word in it, which is what the kernel compares.
static_assert(sizeof(atomic<std::uint32_t>) == sizeof(std::uint32_t));

long futex(const atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit = nullptr) noexcept {
  return ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

}  // namespace

// The result is not looked at: woken, interrupted and "value differs" all mean "look again" to the caller.
void real_atomics::wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept { futex(word, FUTEX_WAIT, expected); }

void real_atomics::wait_for(const atomic<std::uint32_t>& word, std::uint32_t expected, std::uint32_t microseconds) noexcept {
  const timespec limit{static_cast<time_t>(microseconds / 1'000'000), static_cast<long>(microseconds % 1'000'000) * 1000};
  futex(word, FUTEX_WAIT, expected, &limit);
}

void real_atomics::wake_one(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, 1); }

void real_atomics::wake_all(const atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, INT_MAX); }

}  // namespace weir
