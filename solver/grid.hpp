// Matrices of 7-point differences on a box of cells: the pattern, and who the neighbours are.
#pragma once

#include <weir/solver/matrix.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <string>

namespace weir::solver::detail {

struct box {
  index nx, ny, nz;

  std::int64_t cells() const { return std::int64_t{nx} * ny * nz; }
  index cell(index x, index y, index z) const { return x + nx * (y + ny * z); }
};

// Columns of a row in ascending order. A neighbour that is not there is missing.
enum side : int { below_z, below_y, below_x, itself, above_x, above_y, above_z };
inline constexpr int sides = 7;

// Throws matrix_error if a side is empty or there are too many cells.
inline void check_box(const box& b, const std::string& name) {
  if (b.nx < 1 || b.ny < 1 || b.nz < 1) throw matrix_error(name + ": expected at least one cell a side");
  // Products of two sides fit in 64 bits, and so does that with the third once they are known to be small.
  const std::int64_t most = std::numeric_limits<index>::max() / sides;
  if (std::int64_t{b.nx} * b.ny > most || std::int64_t{b.nx} * b.ny * b.nz > most) throw matrix_error(name + ": expected at most " + std::to_string(most) + " cells");
}

// Calls entry(side, neighbour, values) for each entry of each row in order; `values` has block * block numbers to be set.
template <class Entry>
matrix make_grid_matrix(const box& b, int block, const Entry& entry) {
  const auto cells = static_cast<std::size_t>(b.cells()), numbers = static_cast<std::size_t>(block * block);
  const auto plane = [](index p, index q, index n) { return 2 * static_cast<std::size_t>(n - 1) * static_cast<std::size_t>(p) * static_cast<std::size_t>(q); };
  const std::size_t entries = cells + plane(b.ny, b.nz, b.nx) + plane(b.nx, b.nz, b.ny) + plane(b.nx, b.ny, b.nz);
  matrix a{static_cast<index>(cells), block, array<index>(cells + 1), array<index>(entries), array<double>(entries * numbers)};
  index at = 0;
  const auto put = [&](bool exists, side s, index cell, index neighbour) {
    if (!exists) return;
    a.columns[at] = neighbour;
    entry(s, cell, neighbour, &a.values[at * numbers]);
    at++;
  };
  for (index z = 0; z < b.nz; z++)
    for (index y = 0; y < b.ny; y++)
      for (index x = 0; x < b.nx; x++) {
        const index i = b.cell(x, y, z);
        a.row_begin[i] = at;
        put(z > 0, below_z, i, i - b.nx * b.ny);
        put(y > 0, below_y, i, i - b.nx);
        put(x > 0, below_x, i, i - 1);
        put(true, itself, i, i);
        put(x + 1 < b.nx, above_x, i, i + 1);
        put(y + 1 < b.ny, above_y, i, i + b.nx);
        put(z + 1 < b.nz, above_z, i, i + b.nx * b.ny);
      }
  a.row_begin[cells] = at;
  return a;
}

}  // namespace weir::solver::detail
