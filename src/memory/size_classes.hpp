// Block sizes of the pools: multiples of 64 bytes up to 1 KiB, then four classes per doubling up to 32 MiB.
//
// Drebes et al., PACT 2016, section 3.1, have one class per doubling. A block of 8 KiB and its halo columns would then
// take 16 KiB: up to half of the memory, and half of the cache sets, never used (docs/decisions/0003-pool-blocks.md).
#pragma once

#include <bit>
#include <cstddef>

namespace weir::memory {

inline constexpr std::size_t smallest_block_bytes = 64;  // a cache line: no two blocks share one
inline constexpr std::size_t fine_limit_bytes = 1024;    // up to here a class every 64 bytes
inline constexpr std::size_t largest_block_bytes = std::size_t{32} << 20;  // above: straight from and to the system
inline constexpr int fine_classes = static_cast<int>(fine_limit_bytes / smallest_block_bytes);
inline constexpr int class_count = fine_classes + 4 * 15;

// Class of the smallest block that holds `bytes` (at most largest_block_bytes).
constexpr int class_of(std::size_t bytes) {
  if (bytes <= fine_limit_bytes) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / smallest_block_bytes);
  const std::size_t last = bytes - 1;
  const int log = std::bit_width(last) - 1;  // 2^log <= last
  const int quarter = static_cast<int>((last >> (log - 2)) & 3);
  return fine_classes + (log - 10) * 4 + quarter;
}

constexpr std::size_t bytes_of_class(int c) {
  if (c < fine_classes) return static_cast<std::size_t>(c + 1) * smallest_block_bytes;
  const int log = 10 + (c - fine_classes) / 4, quarter = (c - fine_classes) % 4;
  return (std::size_t{1} << log) + static_cast<std::size_t>(quarter + 1) * (std::size_t{1} << (log - 2));
}

static_assert(bytes_of_class(class_of(64)) == 64 && bytes_of_class(class_of(65)) == 128);
static_assert(bytes_of_class(class_of(1025)) == 1280 && bytes_of_class(class_of(8704)) == 10240);
static_assert(bytes_of_class(class_of(4096)) == 4096 && bytes_of_class(class_of(largest_block_bytes)) == largest_block_bytes);
static_assert(class_of(largest_block_bytes) == class_count - 1);

}  // namespace weir::memory
