// Counts that only their owner writes and anybody reads.
#pragma once

#include "base/base.hpp"

#include <cstdint>

namespace weir::sched {

// Whoever reads a count sees what the owner did before it.
class counter {
 public:
  void add(std::uint64_t n) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release); }
  std::uint64_t read() const { return value_.load(std::memory_order_acquire); }

 private:
  atomic<std::uint64_t> value_{0};
};

}  // namespace weir::sched
