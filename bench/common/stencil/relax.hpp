// The computation of the six stencil kernels on one block: each element becomes the average of itself and its nearest
// neighbours (von Neumann neighbourhood; 3, 5 or 7 elements).
//
// Every caller adds in the same order, so results are equal bit for bit whatever the blocks.
#pragma once

#include <bench/common/stencil/blocks.hpp>

#include <array>
#include <cstddef>

namespace weir::bench::stencil {

enum class method {
  jacobi,  // from the previous iteration only
  seidel,  // in place, row by row: what lies before an element is already new (Gauss-Seidel)
};

// A side of the neighbouring block: element (plane, row) or the line starts at first + plane * plane_stride + row * row_stride.
struct halo {
  const double* first = nullptr;
  std::size_t plane_stride = 0, row_stride = 0;
};

// Where one block and its neighbourhood lie. Strides in elements; columns are contiguous. `old` may be `next`.
struct tile {
  extent shape;
  const double* old = nullptr;
  std::size_t old_plane = 0, old_row = 0;
  double* next = nullptr;
  std::size_t next_plane = 0, next_row = 0;
  std::array<halo, 6> halos;               // by side; those of dimensions that do not exist are not looked at
  std::array<double*, 4> packed = {};      // west, east, north, south copies of the result's sides; null: not wanted

  const halo& at(side s) const { return halos[static_cast<std::size_t>(s)]; }
  halo& at(side s) { return halos[static_cast<std::size_t>(s)]; }
};

// One line of n elements; `before` and `after` are the neighbouring lines in the other dimensions. No index arithmetic
// but the column: compilers turn the loop into vector code.
template <std::size_t Others>
inline void jacobi_line(double* next, const double* old, std::size_t n, double west, double east, const std::array<const double*, Others>& before, const std::array<const double*, Others>& after) {
  constexpr double share = 1.0 / (3 + 2 * Others);
  const auto average = [&](std::size_t c, double left, double right) {
    double sum = left + old[c] + right;
    for (std::size_t i = 0; i < Others; i++) sum += before[i][c] + after[i][c];
    return sum * share;
  };
  if (n == 1) {
    next[0] = average(0, west, east);
    return;
  }
  next[0] = average(0, west, old[1]);
#pragma GCC ivdep
  for (std::size_t c = 1; c < n - 1; c++) next[c] = average(c, old[c - 1], old[c + 1]);
  next[n - 1] = average(n - 1, old[n - 2], east);
}

// As above, but `west` and `before` are new values, and so is the left neighbour. First everything that is known is
// added, in vector code; then a pass from left to right, one addition and one multiplication behind the other.
// `next` may be `old`: an element is read before it is overwritten.
template <std::size_t Others>
inline void seidel_line(double* next, const double* old, std::size_t n, double west, double east, const std::array<const double*, Others>& before, const std::array<const double*, Others>& after) {
  constexpr double share = 1.0 / (3 + 2 * Others);
  const auto known = [&](std::size_t c, double right) {
    double sum = old[c] + right;
    for (std::size_t i = 0; i < Others; i++) sum += before[i][c] + after[i][c];
    return sum;
  };
#pragma GCC ivdep
  for (std::size_t c = 0; c < n - 1; c++) next[c] = known(c, old[c + 1]);
  next[n - 1] = known(n - 1, east);
  double left = west;
  for (std::size_t c = 0; c < n; c++) next[c] = left = (next[c] + left) * share;
}

namespace detail {

// Stores through t.packed what neighbours will want of the line that was just written.
template <int Dimensions>
inline void pack_line(const tile& t, const double* line, std::size_t plane, std::size_t row) {
  const std::size_t columns = t.shape.columns;
  t.packed[0][plane * t.shape.rows + row] = line[0];
  t.packed[1][plane * t.shape.rows + row] = line[columns - 1];
  if constexpr (Dimensions == 3) {
    if (row == 0) std::copy_n(line, columns, t.packed[2] + plane * columns);
    if (row == t.shape.rows - 1) std::copy_n(line, columns, t.packed[3] + plane * columns);
  }
}

template <method Method, std::size_t Others>
inline void relax_line(const tile& t, double* next, const double* old, std::size_t plane, std::size_t row, const std::array<const double*, Others>& before, const std::array<const double*, Others>& after) {
  const auto end = [&](const halo& h) { return h.first[plane * h.plane_stride + row * h.row_stride]; };
  const double west = end(t.at(side::west)), east = end(t.at(side::east));
  if constexpr (Method == method::jacobi)
    jacobi_line<Others>(next, old, t.shape.columns, west, east, before, after);
  else
    seidel_line<Others>(next, old, t.shape.columns, west, east, before, after);
}

}  // namespace detail

// One block, one iteration.
template <int Dimensions, method Method>
void relax(const tile& t) {
  constexpr std::size_t others = Dimensions - 1;
  const std::size_t planes = t.shape.planes, rows = t.shape.rows;
  const bool pack = Dimensions > 1 && t.packed[0] != nullptr;
  const auto line = [](const halo& h, std::size_t plane, std::size_t row) { return h.first + plane * h.plane_stride + row * h.row_stride; };

  for (std::size_t p = 0; p < planes; p++) {
    for (std::size_t r = 0; r < rows; r++) {
      const double* old = t.old + p * t.old_plane + r * t.old_row;
      double* next = t.next + p * t.next_plane + r * t.next_row;
      std::array<const double*, others> before{}, after{};
      if constexpr (Dimensions >= 2) {
        const double* above = Method == method::seidel ? next - t.next_row : old - t.old_row;
        before[0] = r == 0 ? line(t.at(side::north), p, 0) : above;
        after[0] = r == rows - 1 ? line(t.at(side::south), p, 0) : old + t.old_row;
      }
      if constexpr (Dimensions == 3) {
        const double* above = Method == method::seidel ? next - t.next_plane : old - t.old_plane;
        before[1] = p == 0 ? line(t.at(side::front), 0, r) : above;
        after[1] = p == planes - 1 ? line(t.at(side::back), 0, r) : old + t.old_plane;
      }
      detail::relax_line<Method, others>(t, next, old, p, r, before, after);
      if constexpr (Dimensions > 1)
        if (pack) detail::pack_line<Dimensions>(t, next, p, r);
    }
  }
}

}  // namespace weir::bench::stencil
