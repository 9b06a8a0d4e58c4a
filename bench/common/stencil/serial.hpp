// The sequential stencil programs: whole array, one iteration after the other, in tiles that keep the lines above an
// element in the cache until the element below is computed.
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/stencil/padded_array.hpp>
#include <bench/common/stopwatch.hpp>

#include <vector>

namespace weir::bench::stencil {

// Tile of the sequential sweep: three lines (3d: three planes of lines) of it fit into a second-level cache of 256 KiB.
// Gauss-Seidel keeps the order of the sweep: every element comes after its west, north and front neighbours.
template <int Dimensions>
extent sequential_tile(const extent& size) {
  if constexpr (Dimensions == 1) return size;
  const std::size_t columns = std::min<std::size_t>(size.columns, Dimensions == 3 ? 512 : 2048);
  if constexpr (Dimensions == 2) return {1, size.rows, columns};
  return {size.planes, std::min<std::size_t>(size.rows, std::max<std::size_t>(1, (std::size_t{1} << 18) / (3 * sizeof(double) * columns))), columns};
}

// What is inside, row major.
template <int Dimensions>
std::vector<double> values_of(const padded_array<Dimensions>& array) {
  const extent& size = array.size();
  std::vector<double> values;
  values.reserve(size.elements());
  for (std::size_t p = 0; p < size.planes; p++)
    for (std::size_t r = 0; r < size.rows; r++) {
      const double* line = array.at(p, r, 0);
      values.insert(values.end(), line, line + size.columns);
    }
  return values;
}

// relax_tile(tile) is the kernel's computation on one tile.
template <int Dimensions, method Method, class Tile>
serial_result solve(const configuration& c, const Tile& relax_tile) {
  constexpr int generations = Method == method::jacobi ? 2 : 1;
  const extent size = extent::of(c.size);
  const block_grid tiles(size, sequential_tile<Dimensions>(size));
  std::vector<double> memory[2];
  for (int g = 0; g < generations; g++) memory[g].resize(padded_array<Dimensions>::memory_elements(size));
  const auto array = [&](int t) { return padded_array<Dimensions>(memory[t & (generations - 1)].data(), size); };
  for (int g = 0; g < generations; g++) array(g).fill(c.seed, {0, 0, 0}, size);

  const stopwatch watch;
  for (int t = 1; t <= c.iterations; t++)
    for (std::size_t b = 0; b < tiles.count(); b++) relax_tile(tile_of(array(t - 1), array(t), tiles.origin(b), tiles.shape(b)));
  const double seconds = watch.seconds();
  return {values_of(array(c.iterations)), seconds};
}

}  // namespace weir::bench::stencil
