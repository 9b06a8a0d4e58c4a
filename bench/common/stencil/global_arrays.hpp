// The whole array before and after, in memory that no task owns: where a program keeps what it reads and what it gives
// back (Drebes et al., PACT 2016, section 4.3), with pages interleaved over the nodes.
#pragma once

#include <bench/common/control.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/stencil/block_tile.hpp>

#include <weir/weir.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace weir::bench::stencil {

template <int Dimensions>
class global_arrays {
 public:
  // Makes both, and has tasks write the first values; waits for them. The grid outlives this.
  void fill(runtime& rt, const block_grid& grid, std::uint64_t seed) {
    grid_ = &grid;
    for (auto* a : {&before_, &after_}) *a = interleaved_array<double>(grid.size.elements());
    fill_by_chunks(rt, chunking::of(grid.outer(Dimensions), grid.count() / grid.outer(Dimensions), rt.workers()),
                   [&](std::size_t first, std::size_t last) {
                     rt.spawn({.name = "fill"}, [this, seed, first, last] {
                       for (std::size_t b = first; b < last; b++) fill_block(seed, b);
                     });
                   });
  }

  // Between a block's datum, with its packed sides, and its part of the arrays.
  void load(std::size_t b, std::span<double> block) const {
    double* to = block.data();
    for_each_row(b, [&](std::size_t index, std::size_t n) { to = std::copy_n(before_.data() + index, n, to); });
    pack_sides<Dimensions>(grid_->shape(b), block);
  }
  void store(std::size_t b, std::span<const double> block) {
    const double* from = block.data();
    for_each_row(b, [&](std::size_t index, std::size_t n) {
      std::copy_n(from, n, after_.data() + index);
      from += n;
    });
  }

  const double* row(std::size_t index) const { return after_.data() + index; }

 private:
  void fill_block(std::uint64_t seed, std::size_t b) {
    for_each_row(b, [&](std::size_t index, std::size_t n) {
      for (std::size_t i = index; i < index + n; i++) before_[i] = initial_value(seed, i);
    });
  }
  // f(index of its first element in the whole array, elements)
  template <class F>
  void for_each_row(std::size_t b, F&& f) const {
    const extent o = grid_->origin(b), shape = grid_->shape(b);
    for (std::size_t p = 0; p < shape.planes; p++)
      for (std::size_t r = 0; r < shape.rows; r++) f(grid_->index(o, p, r), shape.columns);
  }

  const block_grid* grid_ = nullptr;
  interleaved_array<double> before_, after_;
};

}  // namespace weir::bench::stencil
