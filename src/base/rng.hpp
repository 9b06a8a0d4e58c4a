// A small generator for victim and target selection: xorshift64*, one state word, never zero. Not for statistics.
#pragma once

#include <cstdint>

namespace weir {

class rng {
 public:
  explicit rng(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {
    if (state_ == 0) state_ = 1;
  }
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  // Uniform in [0, n), n > 0; the bias of the multiplication is below n / 2^32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace weir
