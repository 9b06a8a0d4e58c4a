// What the stencil kernels' peer programs share: arrays, tiles, the measured region, the check of the result.
#pragma once

#include <bench/common/output.hpp>
#include <bench/common/stencil/serial.hpp>
#include <bench/peers/measure.hpp>
#include <bench/peers/options.hpp>
#include <bench/peers/pages.hpp>

#include <any>
#include <cstring>

namespace weir::bench::peers {

// The array of a two-dimensional stencil in shared memory (Jacobi: two, used in turn), cut into blocks.
template <stencil::method Method>
class stencil_problem {
 public:
  explicit stencil_problem(const options& o)
      : options_(o), grid_(o.size, o.block), first_(bytes(), o.interleave), second_(Method == stencil::method::jacobi ? bytes() : 1, o.interleave) {}

  const stencil::block_grid& grid() const { return grid_; }
  int iterations() const { return options_.iterations; }
  int blocks() const { return static_cast<int>(grid_.count()); }
  int rows() const { return static_cast<int>(grid_.blocks.rows); }        // of blocks
  int columns() const { return static_cast<int>(grid_.blocks.columns); }  // of blocks

  // First values of block b, in every array.
  void fill(int b) const {
    for (int t = 0; t < (Method == stencil::method::jacobi ? 2 : 1); t++) array(t).fill(options_.seed, grid_.origin(index(b)), grid_.shape(index(b)));
  }
  // Block b in iteration t (1, 2, ...).
  stencil::tile tile(int t, int b) const { return stencil::tile_of(array(t - 1), array(t), grid_.origin(index(b)), grid_.shape(index(b))); }

  // The block next to b, or b itself at the end of the array.
  int neighbour(int b, stencil::side s) const { return static_cast<int>(grid_.has_neighbour(index(b), s) ? grid_.neighbour(index(b), s) : index(b)); }

  // Is the result that of the sequential sweep, bit for bit?
  template <class Tile>
  bool verify(const Tile& relax_tile) const {
    configuration c;
    c.size = {options_.size.rows, options_.size.columns};
    c.iterations = options_.iterations;
    c.seed = options_.seed;
    const std::any value = stencil::solve<2, Method>(c, relax_tile).value;
    const auto& expected = std::any_cast<const std::vector<double>&>(value);
    for (std::size_t r = 0; r < options_.size.rows; r++)
      if (std::memcmp(array(options_.iterations).at(0, r, 0), &expected[r * options_.size.columns], options_.size.columns * sizeof(double)) != 0) return false;
    return true;
  }

 private:
  static std::size_t index(int b) { return static_cast<std::size_t>(b); }
  std::size_t bytes() const { return stencil::padded_array<2>::memory_elements(options_.size) * sizeof(double); }
  stencil::padded_array<2> array(int t) const { return {(Method == stencil::method::jacobi && t & 1 ? second_ : first_).doubles(), options_.size}; }

  options options_;
  stencil::block_grid grid_;
  pages first_, second_;
};

}  // namespace weir::bench::peers
