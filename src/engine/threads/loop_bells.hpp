// One word for each group of nodes, in which those there that search for something to do hear of loops.
#pragma once

#include "sched/sched.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::engine {

class loop_bells {
 public:
  // What a bell holds: another word for each loop of a thread, until the count wraps round.
  class word {
   public:
    explicit word(std::uint32_t bits) : bits_(bits) {}
    static word of_loop(std::uint32_t count, int poster) {
      return word(count << 12 | (static_cast<std::uint32_t>(poster) & poster_bits));
    }
    std::uint32_t bits() const { return bits_; }
    int poster() const { return static_cast<int>(bits_ & poster_bits); }  // its slot

   private:
    static constexpr std::uint32_t poster_bits = 0xfff;
    std::uint32_t bits_;
  };

  explicit loop_bells(int groups)
      : groups_(static_cast<std::size_t>(groups)), bells_(std::make_unique<bell[]>(groups_)) {}

  void ring(word what) {
    for (std::size_t g = 0; g < groups_; g++) bells_[g].rung.store(what.bits(), std::memory_order_release);
  }
  const atomic<std::uint32_t>& of(int group) const { return bells_[static_cast<std::size_t>(group)].rung; }

 private:
  struct alignas(cache_line_bytes) bell {
    atomic<std::uint32_t> rung{0};
  };
  const std::size_t groups_;
  const std::unique_ptr<bell[]> bells_;
};

}  // namespace weir::engine
