// The inverse of a small dense block.
#pragma once

#include "block.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::solver::detail {

// inverse := block^-1 by Gauss-Jordan elimination with partial pivoting. Returns -1, or the column for which no pivot
// larger than the tolerance was left.
template <int B>
int invert(const double* block, double* inverse, double tolerance) {
  double a[B][2 * B] = {};  // by rows: the block and, beside it, the identity
  for (int r = 0; r < B; r++) {
    for (int c = 0; c < B; c++) a[r][c] = block[c * B + r];
    a[r][B + r] = 1;
  }
  for (int k = 0; k < B; k++) {
    int pivot = k;
    for (int r = k + 1; r < B; r++)
      if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
    if (!(std::abs(a[pivot][k]) > tolerance)) return k;
    if (pivot != k) std::swap_ranges(a[k], a[k] + 2 * B, a[pivot]);
    const double scale = 1 / a[k][k];
    for (int c = 0; c < 2 * B; c++) a[k][c] *= scale;
    for (int r = 0; r < B; r++) {
      if (r == k) continue;
      const double factor = a[r][k];
      for (int c = 0; c < 2 * B; c++) a[r][c] -= factor * a[k][c];
    }
  }
  for (int r = 0; r < B; r++)
    for (int c = 0; c < B; c++) inverse[c * B + r] = a[r][B + c];
  return -1;
}

}  // namespace weir::solver::detail
