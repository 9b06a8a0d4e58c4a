// symmetric-inverse on tiles: what it needs beside the tiles of Cholesky (cholesky/tile.hpp). Tiles are stored column
// by column; of a tile on the diagonal only the lower triangle counts, and the rest is zero and stays so.
#pragma once

#include <bench/cholesky/tile.hpp>

#include <cstddef>

namespace weir::bench::inversion {

// C (m x n) += A (m x k) B (k x n)
inline void gemm_plus(int m, int n, int k, const double* a, const double* b, double* c) {
  const double one = 1;
  dgemm_("N", "N", &m, &n, &k, &one, a, &m, b, &k, &one, c, &m);
}

// C (m x n) += A^T (A is k x m) B (k x n)
inline void gemm_transposed(int m, int n, int k, const double* a, const double* b, double* c) {
  const double one = 1;
  dgemm_("T", "N", &m, &n, &k, &one, a, &k, b, &k, &one, c, &m);
}

// Lower triangle of C (n x n) += A^T A, A is k x n
inline void syrk_transposed(int n, int k, const double* a, double* c) {
  const double one = 1;
  dsyrk_("L", "T", &n, &k, &one, a, &k, &one, c, &n);
}

// B (m x n) becomes -B L^-1, L (n x n)
inline void trsm_from_right(int m, int n, const double* l, double* b) {
  const double minus = -1;
  dtrsm_("R", "L", "N", "N", &m, &n, &minus, l, &n, b, &m);
}

// B (m x n) becomes L^-1 B, L (m x m)
inline void trsm_from_left(int m, int n, const double* l, double* b) {
  const double one = 1;
  dtrsm_("L", "L", "N", "N", &m, &n, &one, l, &m, b, &m);
}

// B (m x n) becomes L^T B, L (m x m)
inline void trmm(int m, int n, const double* l, double* b) {
  const double one = 1;
  dtrmm_("L", "L", "T", "N", &m, &n, &one, l, &m, b, &m);
}

// Lower triangle of L (n x n) becomes its inverse, column by column from the last one: a column of it is the inverse
// behind it times this column of L.
inline void trtri(int n, double* l) {
  const auto column = [&](int j) { return l + static_cast<std::size_t>(j) * static_cast<std::size_t>(n); };
  for (int j = n - 1; j >= 0; j--) {
    double* const x = column(j);
    const double pivot = 1 / x[j];
    // x[j+1..n) = inverse[j+1..n) x[j+1..n), in place: from the last column on, since column k changes rows >= k.
    for (int k = n - 1; k > j; k--) {
      const double* const inverse = column(k);
      const double factor = x[k];
      x[k] = inverse[k] * factor;
      for (int i = k + 1; i < n; i++) x[i] += inverse[i] * factor;
    }
    x[j] = pivot;
    for (int i = j + 1; i < n; i++) x[i] *= -pivot;
  }
}

// Lower triangle of L (n x n) becomes that of L^T L. Element (i, j) needs rows from i on of columns i and j, which are
// still those of L when rows are gone through from the first on.
inline void lauum(int n, double* l) {
  const auto column = [&](int j) { return l + static_cast<std::size_t>(j) * static_cast<std::size_t>(n); };
  for (int j = 0; j < n; j++)
    for (int i = j; i < n; i++) {
      double sum = 0;
      for (int k = i; k < n; k++) sum += column(i)[k] * column(j)[k];
      column(j)[i] = sum;
    }
}

}  // namespace weir::bench::inversion
