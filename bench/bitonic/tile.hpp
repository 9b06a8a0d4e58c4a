// Bitonic sorting network (Batcher) on blocks: what is done to one block or to two.
//
// In step (stage, distance) block b meets block b + distance (b without the bit `distance`): the smaller of each two
// elements goes to one of them and the larger to the other. Which, depends on the bit `stage` of b. At distance 0 each
// block, by now a bitonic sequence, is put in order by itself. Blocks may have any size; there are 2^n of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace weir::bench::sorting {

enum class order { ascending, descending };

// The order in which block b is left by a stage (2, 4, ... blocks): it makes runs of `stage` blocks, every other one
// descending, so that two of them are a bitonic sequence for the next stage. Stage 1 sorts single blocks.
inline order order_of(std::size_t b, std::size_t stage) { return b & stage ? order::descending : order::ascending; }

inline void sort_block(std::span<std::uint64_t> block, order o) {
  if (o == order::ascending)
    std::ranges::sort(block);
  else
    std::ranges::sort(block, std::greater{});
}

// Half of the merging network across two blocks, in place or not.
inline void exchange(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, std::span<std::uint64_t> next_a, std::span<std::uint64_t> next_b, order o) {
  std::uint64_t* low = o == order::ascending ? next_a.data() : next_b.data();
  std::uint64_t* high = o == order::ascending ? next_b.data() : next_a.data();
  for (std::size_t i = 0; i < a.size(); i++) {
    const std::uint64_t x = a[i], y = b[i];
    low[i] = std::min(x, y);
    high[i] = std::max(x, y);
  }
}

// Orders a bitonic sequence (rises and falls once, seen as a ring) in linear time: from its smallest element values rise
// in both directions. `next` must be another piece of memory.
inline void merge_block(std::span<const std::uint64_t> bitonic, std::span<std::uint64_t> next, order o) {
  const std::size_t n = bitonic.size();
  std::size_t right = static_cast<std::size_t>(std::ranges::min_element(bitonic) - bitonic.begin());
  std::size_t left = right == 0 ? n - 1 : right - 1;
  for (std::size_t i = 0; i < n; i++) {
    const bool take_right = bitonic[right] <= bitonic[left];
    next[o == order::ascending ? i : n - 1 - i] = take_right ? bitonic[right] : bitonic[left];
    if (take_right)
      right = right + 1 == n ? 0 : right + 1;
    else
      left = left == 0 ? n - 1 : left - 1;
  }
}

}  // namespace weir::bench::sorting
