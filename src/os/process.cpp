// Fork detection.
#include "os/process.hpp"

#include "base/base.hpp"

#include <pthread.h>

namespace weir::os {
namespace {

atomic<std::uint32_t> generation{0};

void in_child() { generation.fetch_add(1, std::memory_order_relaxed); }

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_child);

}  // namespace

std::uint32_t fork_generation() { return generation.load(std::memory_order_relaxed); }

}  // namespace weir::os
