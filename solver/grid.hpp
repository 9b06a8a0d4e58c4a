// Matrices of 7-point differences on a box of cells: the pattern, and who the neighbours are. Cells that are not active have no
// row and are nobody's neighbours.
#pragma once

#include <weir/solver/matrix.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace weir::solver::detail {

struct box {
  index nx, ny, nz;
  std::span<const index> rows = {};  // of each cell, or no_row; empty: all cells are active

  static constexpr index no_row = -1;

  std::int64_t cells() const { return std::int64_t{nx} * ny * nz; }
  index cell(index x, index y, index z) const { return x + nx * (y + ny * z); }
  index row(index cell) const { return rows.empty() ? cell : rows[static_cast<std::size_t>(cell)]; }
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

// Calls f(side, cell) for an active cell itself and for each active neighbour, in the order of their rows.
template <class F>
void for_each_side(const box& b, index x, index y, index z, const F& f) {
  const index i = b.cell(x, y, z);
  const auto at = [&](bool exists, side s, index cell) {
    if (exists && b.row(cell) != box::no_row) f(s, cell);
  };
  at(z > 0, below_z, i - b.nx * b.ny);
  at(y > 0, below_y, i - b.nx);
  at(x > 0, below_x, i - 1);
  f(itself, i);
  at(x + 1 < b.nx, above_x, i + 1);
  at(y + 1 < b.ny, above_y, i + b.nx);
  at(z + 1 < b.nz, above_z, i + b.nx * b.ny);
}

// A row for each of the active cells. Calls entry(side, cell, neighbour, values) for each entry of each row in order; `values` has
// block * block numbers to be set.
template <class Entry>
matrix make_grid_matrix(const box& b, int block, std::size_t active, const Entry& entry) {
  const auto cells = static_cast<std::size_t>(b.cells()), numbers = static_cast<std::size_t>(block * block);
  const auto plane = [](index p, index q, index n) { return 2 * static_cast<std::size_t>(n - 1) * static_cast<std::size_t>(p) * static_cast<std::size_t>(q); };
  const std::size_t most = cells + plane(b.ny, b.nz, b.nx) + plane(b.nx, b.nz, b.ny) + plane(b.nx, b.ny, b.nz);
  matrix a{static_cast<index>(active), block, array<index>(active + 1), array<index>(most), array<double>(most * numbers)};
  std::size_t entries = 0;
  for (index z = 0; z < b.nz; z++)
    for (index y = 0; y < b.ny; y++)
      for (index x = 0; x < b.nx; x++) {
        const index i = b.cell(x, y, z);
        if (b.row(i) == box::no_row) continue;
        a.row_begin[static_cast<std::size_t>(b.row(i))] = static_cast<index>(entries);
        for_each_side(b, x, y, z, [&](side s, index cell) {
          a.columns[entries] = b.row(cell);
          entry(s, i, cell, &a.values[entries * numbers]);
          entries++;
        });
      }
  a.row_begin[active] = static_cast<index>(entries);
  a.columns.resize(entries);
  a.values.resize(entries * numbers);
  return a;
}

}  // namespace weir::solver::detail
