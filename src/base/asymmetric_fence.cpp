// light_fence and heavy_fence: the Linux system call membarrier, private to the process.
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.hpp"

namespace weir {
namespace detail {

bool asymmetric_fences = false;

}  // namespace detail

namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

void prepare_asymmetric_fences() noexcept {
  // Written by one thread, and ordered before what all others do that have called this.
  [[maybe_unused]] static const bool works = [] {
    return detail::asymmetric_fences = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
                                       membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  }();
}

// Once registered the call does not fail.
void heavy_fence() noexcept {
  atomic_fence(std::memory_order_seq_cst);
  if (detail::asymmetric_fences) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace weir
