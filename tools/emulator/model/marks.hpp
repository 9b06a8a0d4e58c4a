// How a program in the guest speaks to the plugin: a no-op of seven bytes, 0f 1f 80 KIND NUMBER 4d 4e, which does
// nothing on hardware. weir/region.h writes all kinds that are not said to come from the guest's first program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::emulator {

enum class mark_kind : std::uint8_t {
  region_begin = 1,
  region_end = 2,
  // The address of the CPU's next memory access, in its lower 32 bits, is the lower half of a kernel function's address.
  // NUMBER says which function (kernel_function). From the guest's first program.
  kernel_address = 3,
  // The program has ended: so do all regions. From the guest's first program.
  program_end = 4,
  // The next instruction reads a CPU's clock: an access to no node's memory, and free.
  clock_read = 5,
  // The program is about to begin: clocks run. From the guest's first program.
  program_begin = 6,
  // A sleep of the thread has just been ended by its time limit.
  timed_out = 7,
};

enum class kernel_function : std::uint8_t { page_fault, page_moved, page_moving, copy_page };
inline constexpr std::size_t kernel_functions = 4;

struct mark {
  mark_kind kind;
  std::uint8_t number;
};

// The mark an instruction is, if it is one.
inline std::optional<mark> mark_of(const std::uint8_t* instruction, std::size_t bytes) {
  if (bytes != 7 || instruction[0] != 0x0f || instruction[1] != 0x1f || instruction[2] != 0x80 || instruction[5] != 0x4d || instruction[6] != 0x4e) return std::nullopt;
  if (instruction[3] < 1 || instruction[3] > 7) return std::nullopt;
  return mark{static_cast<mark_kind>(instruction[3]), instruction[4]};
}

}  // namespace weir::emulator
