// An array of one to three dimensions cut into blocks, and how one block's datum is laid out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace weir::bench::stencil {

// Numbers per dimension; a dimension that does not exist has 1 of it.
struct extent {
  std::size_t planes = 1, rows = 1, columns = 1;

  std::size_t elements() const { return planes * rows * columns; }
  // From a list, outermost dimension first.
  static extent of(std::span<const std::size_t> list) {
    const std::size_t n = list.size();
    return {n > 2 ? list[n - 3] : 1, n > 1 ? list[n - 2] : 1, list[n - 1]};
  }
};

// The sides of a block, in the order of memory.
enum class side { front, north, west, east, south, back };

inline side opposite(side s) { return static_cast<side>(5 - static_cast<int>(s)); }

// The blocks, numbered row by row. Blocks at the end of a dimension are smaller where the size is no multiple.
struct block_grid {
  extent size, block, blocks;

  block_grid(const extent& whole, const extent& part) : size(whole), block(part), blocks{pieces(whole.planes, part.planes), pieces(whole.rows, part.rows), pieces(whole.columns, part.columns)} {}

  std::size_t count() const { return blocks.elements(); }
  extent position(std::size_t b) const { return {b / blocks.columns / blocks.rows, b / blocks.columns % blocks.rows, b % blocks.columns}; }
  // First element of a block.
  extent origin(std::size_t b) const {
    const extent at = position(b);
    return {at.planes * block.planes, at.rows * block.rows, at.columns * block.columns};
  }
  extent shape(std::size_t b) const {
    const extent o = origin(b);
    return {std::min(block.planes, size.planes - o.planes), std::min(block.rows, size.rows - o.rows), std::min(block.columns, size.columns - o.columns)};
  }
  // Index in the whole array, row major, of a block's element.
  std::size_t index(const extent& o, std::size_t plane, std::size_t row) const { return ((o.planes + plane) * size.rows + o.rows + row) * size.columns + o.columns; }

  bool has_neighbour(std::size_t b, side s) const {
    const extent at = position(b);
    switch (s) {
      case side::front: return at.planes > 0;
      case side::north: return at.rows > 0;
      case side::west: return at.columns > 0;
      case side::east: return at.columns + 1 < blocks.columns;
      case side::south: return at.rows + 1 < blocks.rows;
      case side::back: return at.planes + 1 < blocks.planes;
    }
    return false;
  }
  std::size_t neighbour(std::size_t b, side s) const {
    switch (s) {
      case side::front: return b - blocks.rows * blocks.columns;
      case side::north: return b - blocks.columns;
      case side::west: return b - 1;
      case side::east: return b + 1;
      case side::south: return b + blocks.columns;
      case side::back: return b + blocks.rows * blocks.columns;
    }
    return b;
  }
  // Blocks with the same outermost coordinate, for control programs.
  std::size_t outer(int dimensions) const { return dimensions == 3 ? blocks.planes : dimensions == 2 ? blocks.rows : blocks.columns; }

 private:
  static std::size_t pieces(std::size_t n, std::size_t piece) { return (n + piece - 1) / piece; }
};

// A block's datum holds its elements row by row. Sides that are not contiguous there are packed behind them, so that
// every side can be read as one slice:
//
//   1d  [columns]                     2d  [rows x columns | west | east]
//   3d  [planes x rows x columns | west | east | north | south]
template <int Dimensions>
struct block_layout {
  extent shape;

  struct part {
    std::size_t offset, count;
  };

  std::size_t elements() const { return shape.elements(); }
  std::size_t size() const { return elements() + 2 * (packed_west() + packed_north()); }
  std::size_t packed_west() const { return Dimensions == 1 ? 0 : shape.planes * shape.rows; }
  std::size_t packed_north() const { return Dimensions == 3 ? shape.planes * shape.columns : 0; }

  part of(side s) const {
    const std::size_t n = elements(), columns = packed_west(), rows = packed_north(), plane = shape.rows * shape.columns;
    switch (s) {
      case side::front: return {0, plane};
      case side::back: return {n - plane, plane};
      case side::west: return Dimensions == 1 ? part{0, 1} : part{n, columns};
      case side::east: return Dimensions == 1 ? part{n - 1, 1} : part{n + columns, columns};
      case side::north: return Dimensions == 2 ? part{0, shape.columns} : part{n + 2 * columns, rows};
      case side::south: return Dimensions == 2 ? part{n - shape.columns, shape.columns} : part{n + 2 * columns + rows, rows};
    }
    return {0, 0};
  }
};

}  // namespace weir::bench::stencil
