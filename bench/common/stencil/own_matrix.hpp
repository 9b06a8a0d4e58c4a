// A program's own matrix: row-major, from the C library, with a layer of fixed values around it. Tasks name rows of it
// as ranges, and blocks as tiles.
#pragma once

#include <bench/common/own_array.hpp>
#include <bench/common/stencil/padded_array.hpp>

#include <weir/weir.hpp>

#include <cstddef>
#include <span>

namespace weir::bench::stencil {

class own_matrix {
 public:
  own_matrix() = default;
  explicit own_matrix(const extent& size)
      : size_(size), memory_(padded_array<2>::memory_elements(size)) {}

  padded_array<2> array() const { return {memory_.span().data(), size_}; }

  // A block, with the layer on the sides where it touches that; and the same of all of its rows.
  memory_tile<double> block_with_layer(const extent& origin, const extent& shape) const {
    const std::size_t left = origin.columns == 0 ? 0 : 1;
    const std::size_t right = origin.columns + shape.columns == size_.columns ? 2 : 1;
    return tile_at(first_row(origin), end_row(origin, shape) - first_row(origin), origin.columns + left,
                   shape.columns + right - left);
  }
  memory_range<double> rows_with_layer(const extent& origin, const extent& shape) const {
    return rows_at(first_row(origin), end_row(origin, shape) - first_row(origin));
  }
  memory_tile<double> block(const extent& origin, const extent& shape) const {
    return tile_at(origin.rows + 1, shape.rows, origin.columns + 1, shape.columns);
  }
  // What lies beside a block where the matrix ends: a row or column of the layer.
  memory_tile<double> layer_beside(const extent& origin, const extent& shape, side s) const {
    switch (s) {
      case side::north: return tile_at(0, 1, origin.columns + 1, shape.columns);
      case side::south: return tile_at(size_.rows + 1, 1, origin.columns + 1, shape.columns);
      case side::west: return tile_at(origin.rows + 1, shape.rows, 0, 1);
      default: return tile_at(origin.rows + 1, shape.rows, size_.columns + 1, 1);
    }
  }
  // All of a block's rows, and of the row above or below.
  memory_range<double> rows(const extent& origin, const extent& shape) const {
    return rows_at(origin.rows + 1, shape.rows);
  }
  memory_range<double> row_above(const extent& origin) const { return rows_at(origin.rows, 1); }
  memory_range<double> row_below(const extent& origin, const extent& shape) const {
    return rows_at(origin.rows + shape.rows + 1, 1);
  }

 private:
  std::size_t stride() const { return size_.columns + 2; }
  static std::size_t first_row(const extent& origin) { return origin.rows == 0 ? 0 : origin.rows + 1; }
  std::size_t end_row(const extent& origin, const extent& shape) const {
    const std::size_t end = origin.rows + shape.rows;
    return end == size_.rows ? end + 2 : end + 1;
  }
  // Counted from the layer.
  memory_range<double> rows_at(std::size_t first, std::size_t count) const {
    return weir::ref(memory_.part(first * stride(), count * stride()));
  }
  memory_tile<double> tile_at(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) const {
    return weir::ref(weir::tile(memory_.span().data(), stride(), row, rows, column, columns));
  }

  extent size_;
  own_array<double> memory_;
};

}  // namespace weir::bench::stencil
