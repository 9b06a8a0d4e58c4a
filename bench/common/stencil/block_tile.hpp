// A block that lies in one piece (block_layout): its first values, and the tile that a body works on.
#pragma once

#include <bench/common/stencil/padded_array.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::bench::stencil {

// As many values of what lies outside the array as the longest side of a block has.
template <int Dimensions>
std::vector<double> boundary_of(const extent& block) {
  const std::size_t longest = Dimensions == 1 ? 1
                              : Dimensions == 2
                                  ? std::max(block.rows, block.columns)
                                  : std::max({block.planes * block.rows, block.planes * block.columns,
                                              block.rows * block.columns});
  return std::vector<double>(longest, boundary_value);
}

// Copies the sides of a block that are not contiguous behind it.
template <int Dimensions>
void pack_sides(const extent& shape, std::span<double> block) {
  const block_layout<Dimensions> layout{shape};
  const auto pack = [&](side s, std::size_t plane_stride, std::size_t row_stride, std::size_t first, std::size_t rows,
                        std::size_t columns) {
    double* to = block.data() + layout.of(s).offset;
    for (std::size_t p = 0; p < shape.planes; p++)
      for (std::size_t r = 0; r < rows; r++)
        for (std::size_t c = 0; c < columns; c++) *to++ = block[p * plane_stride + r * row_stride + first + c];
  };
  const std::size_t row = shape.columns, plane = shape.rows * row;
  if constexpr (Dimensions > 1) {
    pack(side::west, plane, row, 0, shape.rows, 1);
    pack(side::east, plane, row, row - 1, shape.rows, 1);
  }
  if constexpr (Dimensions == 3) {
    pack(side::north, plane, row, 0, 1, row);
    pack(side::south, plane, row, plane - row, 1, row);
  }
}

// Writes the first values of block b, and its packed sides.
template <int Dimensions>
void fill_block(const block_grid& grid, std::uint64_t seed, std::size_t b, std::span<double> block) {
  const extent o = grid.origin(b), shape = grid.shape(b);
  double* next = block.data();
  for (std::size_t p = 0; p < shape.planes; p++)
    for (std::size_t r = 0; r < shape.rows; r++) {
      const std::size_t index = grid.index(o, p, r);
      for (std::size_t c = 0; c < shape.columns; c++) *next++ = initial_value(seed, index + c);
    }
  pack_sides<Dimensions>(shape, block);
}

// The tile of a block of this layout. Halos are sides of the neighbours, as they lie there, in the order of `side`; an
// empty one means the boundary (boundary_of()).
template <int Dimensions>
tile block_tile(const block_layout<Dimensions>& l, std::span<const double> old, std::span<double> next,
                const std::array<std::span<const double>, 2 * Dimensions>& halos, const double* boundary) {
  const extent& s = l.shape;
  const std::size_t row = s.columns, plane = s.rows * row;
  tile t{.shape = s, .old = old.data(), .old_plane = plane, .old_row = row};
  t.next = next.data(), t.next_plane = plane, t.next_row = row;
  // West and east have an element a row, north and south a line a plane.
  const auto set = [&](side which, std::size_t given, std::size_t plane_stride, std::size_t row_stride) {
    t.at(which) = {halos[given].empty() ? boundary : halos[given].data(), plane_stride, row_stride};
  };
  if constexpr (Dimensions == 1) {
    set(side::west, 0, 0, 0), set(side::east, 1, 0, 0);
  } else {
    constexpr std::size_t first = Dimensions == 3 ? 1 : 0;
    set(side::north, first, row, 0), set(side::south, first + 3, row, 0);
    set(side::west, first + 1, s.rows, 1), set(side::east, first + 2, s.rows, 1);
    t.packed[0] = next.data() + l.of(side::west).offset;
    t.packed[1] = next.data() + l.of(side::east).offset;
  }
  if constexpr (Dimensions == 3) {
    set(side::front, 0, 0, row), set(side::back, 5, 0, row);
    t.packed[2] = next.data() + l.of(side::north).offset;
    t.packed[3] = next.data() + l.of(side::south).offset;
  }
  return t;
}

}  // namespace weir::bench::stencil
