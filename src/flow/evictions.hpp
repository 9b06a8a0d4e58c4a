// What left a table to make room for others: it is seen whether too much of it comes back.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace weir::flow {

class evictions {
 public:
  // A smaller table grows rather than have anything go.
  static constexpr std::size_t least_slots = 4096;

  // The table has so many slots now, a power of two. Nothing is remembered of before; nor later, if there is no
  // memory.
  void begin(std::size_t slots) noexcept {
    slots_ = slots;
    evicted_ = returned_ = 0;
    shift_ = static_cast<unsigned>(64 - std::countr_zero(slots));
    gone_.reset(slots < least_slots ? nullptr : new (std::nothrow) std::uint32_t[slots]());
  }
  bool are_allowed() const { return slots_ >= least_slots; }
  // What goes, and what comes; by hashes whose bits are all worth something, the high ones most. A part of one says
  // where it is remembered, another one is what is remembered.
  void note_eviction(std::uint64_t hash) noexcept {
    evicted_++;
    if (gone_ != nullptr) gone_[hash >> shift_] = static_cast<std::uint32_t>(hash);
  }
  // True: too much comes back that went to make room.
  bool note_addition(std::uint64_t hash) noexcept {
    if (gone_ == nullptr) return false;
    std::uint32_t& here = gone_[hash >> shift_];
    if (here == static_cast<std::uint32_t>(hash)) {
      here = 0;
      returned_++;
    }
    if (evicted_ < slots_) return false;
    const bool too_small = returned_ * evicted_per_return > evicted_;
    evicted_ = returned_ = 0;
    return too_small;
  }

 private:
  // If more of those that go are named again, one in so many, the table is too small.
  static constexpr std::size_t evicted_per_return = 16;

  std::unique_ptr<std::uint32_t[]> gone_;  // parts of hashes
  std::size_t slots_ = 0, evicted_ = 0, returned_ = 0;
  unsigned shift_ = 63;
};

}  // namespace weir::flow
