// QR factorization on tiles: the four computations (Buttari, Langou, Kurzak and Dongarra, Parallel Computing 35,
// 2009), with their names in PLASMA and LAPACK, on BLAS. Tiles are stored column by column.
//
// Householder reflectors are put together in panels of some columns, which are applied at once: Q = I - V T V^T, with
// T upper triangular (Schreiber and Van Loan, 1989). A T has a row for each column of a panel, `panel` of them, and a
// column for each column of the tile.
#pragma once

#include <bench/common/blas.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace weir::bench::orthogonal {

// Columns. Narrower gives BLAS too little at a time, wider leaves it too little to do.
inline constexpr int panel = 32;

inline std::size_t at(int row, int column, int stride) {
  return static_cast<std::size_t>(column) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(row);
}

inline double dot(int n, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

// Makes the reflector that turns (alpha, x) into (beta, 0): alpha becomes beta, x the rest of v, whose first element
// is 1. Returns tau, of H = I - tau v v^T.
inline double reflect(int n, double& alpha, double* x) {
  const double rest = dot(n, x, x);
  if (rest == 0) return 0;
  const double beta = alpha > 0 ? -std::sqrt(alpha * alpha + rest) : std::sqrt(alpha * alpha + rest);
  const double tau = (beta - alpha) / beta, scale = 1 / (alpha - beta);
  for (int i = 0; i < n; i++) x[i] *= scale;
  alpha = beta;
  return tau;
}

// The panel's next column of T, number j, of which the products of v_j with the reflectors before it are there
// already.
inline void complete_column(int j, double tau, double* t) {
  double* const column = t + at(0, j, panel);
  for (int i = 0; i < j; i++) {
    double sum = 0;
    for (int k = i; k < j; k++) sum += t[at(i, k, panel)] * column[k];
    column[i] = -tau * sum;
  }
  column[j] = tau;
}

// W (k x n) becomes T^T W.
inline void times_t(int k, int n, const double* t, double* w) {
  const double one = 1;
  dtrmm_("L", "U", "T", "N", &k, &n, &one, t, &panel, w, &k);
}

// C (m x n) becomes Q^T C, with k reflectors in V (m x k), whose upper part is that of a unit lower triangle.
inline void apply(int m, int n, int k, const double* v, int ldv, const double* t, double* c, int ldc) {
  if (n == 0) return;
  const double one = 1, minus = -1;
  const int below = m - k;
  std::vector<double> w(static_cast<std::size_t>(k) * static_cast<std::size_t>(n));
  for (int j = 0; j < n; j++) std::copy_n(c + at(0, j, ldc), k, w.data() + at(0, j, k));
  dtrmm_("L", "L", "T", "U", &k, &n, &one, v, &ldv, w.data(), &k);
  if (below > 0) dgemm_("T", "N", &k, &n, &below, &one, v + k, &ldv, c + k, &ldc, &one, w.data(), &k);
  times_t(k, n, t, w.data());
  if (below > 0) dgemm_("N", "N", &below, &n, &k, &minus, v + k, &ldv, w.data(), &k, &one, c + k, &ldc);
  dtrmm_("L", "L", "N", "U", &k, &n, &one, v, &ldv, w.data(), &k);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < k; i++) c[at(i, j, ldc)] -= w[at(i, j, k)];
}

// The same of C1 (k x n) above C2 (m x n), with the unit matrix above V (m x k).
inline void apply_stacked(int m, int n, int k, const double* v, int ldv, const double* t, double* c1, int ldc1,
                          double* c2, int ldc2) {
  if (n == 0) return;
  const double one = 1, minus = -1;
  std::vector<double> w(static_cast<std::size_t>(k) * static_cast<std::size_t>(n));
  for (int j = 0; j < n; j++) std::copy_n(c1 + at(0, j, ldc1), k, w.data() + at(0, j, k));
  dgemm_("T", "N", &k, &n, &m, &one, v, &ldv, c2, &ldc2, &one, w.data(), &k);
  times_t(k, n, t, w.data());
  for (int j = 0; j < n; j++)
    for (int i = 0; i < k; i++) c1[at(i, j, ldc1)] -= w[at(i, j, k)];
  dgemm_("N", "N", &m, &n, &k, &minus, v, &ldv, w.data(), &k, &one, c2, &ldc2);
}

// A (m x n) becomes R on and above its diagonal, and the reflectors below it.
inline void geqrt(int m, int n, double* a, double* t) {
  const int all = std::min(m, n);
  for (int first = 0; first < all; first += panel) {
    const int k = std::min(panel, all - first), end = first + k;
    double* const panel_t = t + at(0, first, panel);
    for (int j = first; j < end; j++) {
      double* const column = a + at(0, j, m);
      const int below = m - j - 1;
      const double tau = reflect(below, column[j], column + j + 1);
      const auto with = [&](int c) { return a[at(j, c, m)] + dot(below, column + j + 1, a + at(j + 1, c, m)); };
      for (int c = j + 1; c < end; c++) {
        const double factor = tau * with(c);
        a[at(j, c, m)] -= factor;
        for (int i = j + 1; i < m; i++) a[at(i, c, m)] -= factor * column[i];
      }
      for (int c = first; c < j; c++) panel_t[at(c - first, j - first, panel)] = with(c);
      complete_column(j - first, tau, panel_t);
    }
    apply(m - first, n - end, k, a + at(first, first, m), m, panel_t, a + at(first, end, m), m);
  }
}

// C (m x n) becomes Q^T C, with the Q of geqrt() of a tile of m x m.
inline void unmqr(int m, int n, const double* v, const double* t, double* c) {
  for (int first = 0; first < m; first += panel)
    apply(m - first, n, std::min(panel, m - first), v + at(first, first, m), m, t + at(0, first, panel), c + first, m);
}

// R (n x n, upper) above A (m x n) become R and zeros, which are the reflectors.
inline void tsqrt(int m, int n, double* r, double* a, double* t) {
  for (int first = 0; first < n; first += panel) {
    const int k = std::min(panel, n - first), end = first + k;
    double* const panel_t = t + at(0, first, panel);
    for (int j = first; j < end; j++) {
      double* const column = a + at(0, j, m);
      const double tau = reflect(m, r[at(j, j, n)], column);
      for (int c = j + 1; c < end; c++) {
        const double factor = tau * (r[at(j, c, n)] + dot(m, column, a + at(0, c, m)));
        r[at(j, c, n)] -= factor;
        for (int i = 0; i < m; i++) a[at(i, c, m)] -= factor * column[i];
      }
      for (int c = first; c < j; c++) panel_t[at(c - first, j - first, panel)] = dot(m, column, a + at(0, c, m));
      complete_column(j - first, tau, panel_t);
    }
    apply_stacked(m, n - end, k, a + at(0, first, m), m, panel_t, r + at(first, end, n), n, a + at(0, end, m), m);
  }
}

// C1 (k x n) above C2 (m x n) become Q^T times that, with the Q of tsqrt() of a tile of m x k.
inline void tsmqr(int m, int n, int k, const double* v, const double* t, double* c1, double* c2) {
  for (int first = 0; first < k; first += panel)
    apply_stacked(m, n, std::min(panel, k - first), v + at(0, first, m), m, t + at(0, first, panel), c1 + first, k, c2,
                  m);
}

}  // namespace weir::bench::orthogonal
