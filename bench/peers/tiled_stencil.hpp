// The arrays of two-dimensional stencils cut into blocks that each lie in one piece, with packed sides
// (stencil/blocks.hpp), for depend() knows no tiles of a matrix, and blocks of their own share no pages; and the tasks
// on them that two kernels share.
#pragma once

#include <bench/common/own_array.hpp>
#include <bench/common/stencil/block_tile.hpp>
#include <bench/common/verify.hpp>

#include <any>
#include <vector>

namespace weir::bench::peers {

// Jacobi has two arrays, used in turn.
template <stencil::method Method>
class tiled_stencil {
 public:
  explicit tiled_stencil(const configuration& c)
      : options_(c), grid_(stencil::extent::of(c.size), stencil::extent::of(c.block)),
        boundary_(stencil::boundary_of<2>(grid_.block)) {
    for (auto& array : arrays_)
      array = own_blocks<double>(grid_.count(), [this](std::size_t b) { return layout(b).size(); });
  }

  const stencil::block_grid& grid() const { return grid_; }
  std::size_t parts() const { return grid_.count(); }
  void fill(std::size_t b) const {
    stencil::fill_block<2>(grid_, options_.seed, b, arrays_[0][b]);
    // Only so that its pages come to lie here.
    if (generations > 1) std::ranges::fill(arrays_[generations - 1][b], 0.0);
  }
  // A block's first element, which stands for it in dependences: in what iteration t writes, of b or of the block next
  // to it, which is b itself at the end of the array.
  double* first(int t, std::size_t b) const { return array(t)[b].data(); }
  double* first(int t, std::size_t b, stencil::side s) const {
    return first(t, grid_.has_neighbour(b, s) ? grid_.neighbour(b, s) : b);
  }
  // Block b in iteration t (1, 2, ...).
  stencil::tile tile(int t, std::size_t b) const {
    using stencil::side;
    const auto& old = array(t + generations - 1);
    return stencil::block_tile(layout(b), old[b], array(t)[b],
                               {halo(old, b, side::north), halo(old, b, side::west), halo(old, b, side::east),
                                halo(old, b, side::south)},
                               boundary_.data());
  }

  verification verify(const std::any& expected) const {
    std::vector<double> result(grid_.size.elements());
    for (std::size_t b = 0; b < parts(); b++) {
      const stencil::extent shape = grid_.shape(b);
      for (std::size_t r = 0; r < shape.rows; r++)
        std::copy_n(first(options_.iterations, b) + r * shape.columns, shape.columns,
                    result.data() + grid_.index(grid_.origin(b), 0, r));
    }
    return compare_bits(result, std::any_cast<const std::vector<double>&>(expected));
  }
  std::vector<std::span<std::byte>> memory() const {
    std::vector<std::span<std::byte>> all;
    for (const auto& array : arrays_) all.push_back(std::as_writable_bytes(array.whole()));
    return all;
  }

 private:
  static constexpr int generations = Method == stencil::method::jacobi ? 2 : 1;

  stencil::block_layout<2> layout(std::size_t b) const { return {grid_.shape(b)}; }
  const own_blocks<double>& array(int t) const { return arrays_[t % generations]; }
  std::span<const double> halo(const own_blocks<double>& x, std::size_t b, stencil::side s) const {
    if (!grid_.has_neighbour(b, s)) return {};
    const std::size_t n = grid_.neighbour(b, s);
    const auto touching = layout(n).of(opposite(s));
    return x[n].subspan(touching.offset, touching.count);
  }

  configuration options_;
  stencil::block_grid grid_;
  std::vector<double> boundary_;
  own_blocks<double> arrays_[generations];
};

template <class Problem>
void create_fills(const Problem& p) {
  for (std::size_t b = 0; b < p.parts(); b++) {
    [[maybe_unused]] double *const now = p.first(0, b), *const next = p.first(1, b);
#pragma omp task firstprivate(b) shared(p) depend(out : now[0], next[0])
    p.fill(b);
  }
}

// In place, behind the neighbours that come before it and were updated, before those that come after it.
template <class Problem>
void create_seidel_task(const Problem& p, std::size_t b, void (*relax)(const stencil::tile&)) {
  using stencil::side;
  [[maybe_unused]] double *const own = p.first(0, b), *const north = p.first(0, b, side::north),
                          *const west = p.first(0, b, side::west), *const east = p.first(0, b, side::east),
                          *const south = p.first(0, b, side::south);
#pragma omp task firstprivate(b, relax) shared(p) \
    depend(in : north[0], west[0], east[0], south[0]) depend(inout : own[0])
  relax(p.tile(0, b));
}

}  // namespace weir::bench::peers
