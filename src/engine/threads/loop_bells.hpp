// One word for each node, in which those there that search for something to do hear of loops.
#pragma once

#include "sched/sched.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace weir::engine {

class loop_bells {
 public:
  // What a bell holds: another word for each loop of a thread, until the count wraps round.
  class word {
   public:
    word() = default;
    static word of_loop(std::uint32_t count, int poster, bool at_once) {
      return word(count << 13 | (at_once ? at_once_bit : 0) | (static_cast<std::uint32_t>(poster) & poster_bits));
    }
    bool operator==(const word&) const = default;
    int poster() const { return static_cast<int>(bits_ & poster_bits); }  // its slot
    bool at_once() const { return (bits_ & at_once_bit) != 0; }           // who hears it had better come soon

   private:
    friend class loop_bells;
    static constexpr std::uint32_t poster_bits = 0xfff, at_once_bit = 0x1000;
    explicit word(std::uint32_t bits) : bits_(bits) {}
    std::uint32_t bits_ = 0;
  };

  explicit loop_bells(int nodes)
      : nodes_(static_cast<std::size_t>(nodes)), bells_(std::make_unique<bell[]>(nodes_)) {}

  void ring(word what) {
    for (std::size_t n = 0; n < nodes_; n++) bells_[n].rung.store(what.bits_, std::memory_order_release);
  }
  // -1: the node is not known.
  word on(int node) const {
    return word(bells_[static_cast<std::size_t>(std::max(node, 0))].rung.load(std::memory_order_acquire));
  }

 private:
  struct alignas(cache_line_bytes) bell {
    atomic<std::uint32_t> rung{0};
  };
  const std::size_t nodes_;
  const std::unique_ptr<bell[]> bells_;
};

}  // namespace weir::engine
