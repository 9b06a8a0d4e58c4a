// What a queue's slot holds: a task, and what a thief should know of it before it takes it, so that it never reads the
// frame of a task that it leaves alone.
#pragma once

#include <weir/detail/frame.hpp>

#include <bit>
#include <cstdint>

namespace weir::sched {

using detail::frame;

// A number in eight bits: exact up to 15, then the leading four bits of it; at most some 16 * 10^9.
class rough_number {
 public:
  static constexpr std::uint8_t of(std::uint64_t n) {
    if (n < 16) return static_cast<std::uint8_t>(n);
    const int shift = std::bit_width(n) - 4;
    return shift > most_shift ? 255 : static_cast<std::uint8_t>((shift + 1) << 3 | ((n >> shift) & 7));
  }
  static constexpr std::uint64_t value(std::uint8_t bits) {
    if (bits < 16) return bits;
    return std::uint64_t{8u | (bits & 7u)} << ((bits >> 3) - 1);
  }

 private:
  static constexpr int most_shift = 30;
};

// What is known of a task when it is placed.
class task_hint {
 public:
  task_hint() = default;
  explicit task_hint(std::uint16_t bits) : bits_(bits) {}
  task_hint(std::uint64_t bytes, std::uint64_t ns)
      : bits_(static_cast<std::uint16_t>(rough_number::of(ns) << 8 | rough_number::of(bytes))) {}

  // Of what it works on, how much costs more on another node than on the one where it waits. 0: it is much the same
  // everywhere.
  std::uint64_t bytes() const { return rough_number::value(static_cast<std::uint8_t>(bits_)); }
  // What tasks like it take. 0: none has finished yet.
  std::uint64_t ns() const { return rough_number::value(static_cast<std::uint8_t>(bits_ >> 8)); }
  std::uint16_t bits() const { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

// One word. Empty: no task.
class ready_task {
 public:
  ready_task() = default;
  explicit ready_task(frame* f, task_hint hint = {})
      : bits_(reinterpret_cast<std::uint64_t>(f) | std::uint64_t{hint.bits()} << address_bits) {}
  // Whoever takes it finds out where it belongs.
  static ready_task to_be_placed(frame* f) {
    ready_task t(f);
    t.bits_ |= unplaced;
    return t;
  }

  frame* task() const {
    return reinterpret_cast<frame*>(bits_ & ((std::uint64_t{1} << address_bits) - 1) & ~unplaced);
  }
  bool is_to_be_placed() const { return (bits_ & unplaced) != 0; }
  task_hint hint() const { return task_hint(static_cast<std::uint16_t>(bits_ >> address_bits)); }
  explicit operator bool() const { return bits_ != 0; }
  bool operator==(const ready_task&) const = default;

  // Of user space, unless a program asks mmap() for an address above.
  static constexpr int address_bits = 48;

 private:
  static constexpr std::uint64_t unplaced = 1;
  static_assert(alignof(frame) > unplaced);

  std::uint64_t bits_ = 0;
};
static_assert(sizeof(ready_task) == 8);

}  // namespace weir::sched
