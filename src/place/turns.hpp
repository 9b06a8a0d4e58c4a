// Round robin without a shared counter: what local and follow deal tasks out by.
#pragma once

#include "base/base.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::place {

// How often each thread has had its turn.
class turns {
 public:
  std::uint32_t next(int thread) {
    atomic<std::uint32_t>& mine = of_[static_cast<std::size_t>(thread) % of_.size()].taken;
    const std::uint32_t now = mine.load(std::memory_order_relaxed);
    mine.store(now + 1, std::memory_order_relaxed);  // two threads that share one may lose a turn
    return now;
  }

 private:
  struct alignas(cache_line_bytes) counter {
    atomic<std::uint32_t> taken{0};
  };
  std::vector<counter> of_{1024};
};

}  // namespace weir::place
