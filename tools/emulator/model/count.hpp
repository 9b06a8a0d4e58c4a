// A number that one thread counts up and any reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir::emulator {

class count {
 public:
  void add(std::uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace weir::emulator
