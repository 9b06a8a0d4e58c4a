// red-black: Gauss-Seidel on blocks that are coloured like a chessboard. In an iteration first all red blocks are
// updated, then all black ones, each as a sweep of its own; so all blocks of a colour can be at a time, and the result
// depends on the size of the blocks.
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/stencil/blocks.hpp>

#include <cstddef>

namespace weir::bench {

inline constexpr int colours = 2;

// 0: red, the colour of the first block; 1: black.
inline int colour_of(const stencil::block_grid& grid, std::size_t b) {
  const stencil::extent at = grid.position(b);
  return static_cast<int>((at.rows + at.columns) % 2);
}

// The value is a std::vector<double>, row major.
serial_result solve_red_black(const configuration&);

}  // namespace weir::bench
