// Cholesky factorization A = L L^T on tiles: the four computations on one tile each, with BLAS.
//
// A tile is stored column by column without gaps. Only the lower triangle of a tile on the diagonal counts; the rest of
// it is zero and stays so.
#pragma once

#include <bench/common/blas.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace weir::bench::factorization {

// Where the tiles of the lower triangle lie and what the matrix holds. Tiles at the lower end may be smaller.
struct tiling {
  std::size_t order, tile;
  std::uint64_t seed;

  std::size_t tiles() const { return (order + tile - 1) / tile; }                              // in a column
  std::size_t count() const { return tiles() * (tiles() + 1) / 2; }                            // in all
  std::size_t index(std::size_t i, std::size_t j) const { return i * (i + 1) / 2 + j; }        // of tile (i, j), i >= j
  int rows(std::size_t i) const { return static_cast<int>(std::min(tile, order - i * tile)); }  // of tiles (i, *)
  std::size_t elements(std::size_t i, std::size_t j) const { return static_cast<std::size_t>(rows(i)) * static_cast<std::size_t>(rows(j)); }
};

// Element of the matrix: symmetric, off the diagonal in [-0.5, 0.5), dominated by the diagonal and so positive definite.
inline double matrix_element(const tiling& t, std::size_t i, std::size_t j) {
  if (i < j) std::swap(i, j);
  std::uint64_t z = t.seed * 0xd1342543de82ef95u + (i * t.order + j + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5 + (i == j ? static_cast<double>(t.order) : 0.0);
}

inline void fill_tile(const tiling& t, std::size_t i, std::size_t j, double* a) {
  for (std::size_t c = j * t.tile; c < std::min(t.order, (j + 1) * t.tile); c++)
    for (std::size_t r = i * t.tile; r < std::min(t.order, (i + 1) * t.tile); r++) *a++ = r < c ? 0.0 : matrix_element(t, r, c);
}

// C (m x n) -= A (m x k) B^T (n x k)
inline void gemm(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c, int ldc) {
  const double minus = -1, one = 1;
  dgemm_("N", "T", &m, &n, &k, &minus, a, &lda, b, &ldb, &one, c, &ldc);
}

// Lower triangle of C (n x n) -= A (n x k) A^T
inline void syrk(int n, int k, const double* a, int lda, double* c, int ldc) {
  const double minus = -1, one = 1;
  dsyrk_("L", "N", &n, &k, &minus, a, &lda, &one, c, &ldc);
}

// B (m x n) becomes B L^-T, with L (n x n) lower triangular
inline void trsm(int m, int n, const double* l, int ldl, double* b, int ldb) {
  const double one = 1;
  dtrsm_("R", "L", "T", "N", &m, &n, &one, l, &ldl, b, &ldb);
}

// Lower triangle of A (n x n, column stride lda) becomes L, column by column.
inline void potrf_column_by_column(int n, double* a, std::size_t lda) {
  for (int j = 0; j < n; j++) {
    double* column = a + static_cast<std::size_t>(j) * lda;
    for (int k = 0; k < j; k++) {
      const double* left = a + static_cast<std::size_t>(k) * lda;
      for (int i = j; i < n; i++) column[i] -= left[i] * left[j];
    }
    if (!(column[j] > 0)) throw std::domain_error("the matrix is not positive definite");
    const double pivot = std::sqrt(column[j]);
    for (int i = j; i < n; i++) column[i] /= pivot;
  }
}

// Lower triangle of A (n x n) becomes L, in panels (left-looking) so that almost all work is done by BLAS.
// Throws std::domain_error if A is not positive definite.
inline void potrf(int n, double* a) {
  constexpr int panel = 32;  // columns; narrower gives BLAS too little at a time, wider leaves it too little to do
  const auto at = [&](int i, int j) { return a + static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + i; };
  for (int k = 0; k < n; k += panel) {
    const int width = std::min(panel, n - k), below = n - k - width;
    syrk(width, k, at(k, 0), n, at(k, k), n);
    potrf_column_by_column(width, at(k, k), static_cast<std::size_t>(n));
    if (below == 0) break;
    gemm(below, width, k, at(k + width, 0), n, at(k, 0), n, at(k + width, k), n);
    trsm(below, width, at(k, k), n, at(k + width, k), n);
  }
}

}  // namespace weir::bench::factorization
