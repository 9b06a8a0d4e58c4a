// The tiles' operations. That the runtime's factors are the sequential program's is tested for all kernels alike in
// tests/bench.
#include <bench/common/registry.hpp>
#include <bench/qr/matrix.hpp>
#include <bench/qr/tile.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace weir::bench::orthogonal {
namespace {

configuration problem(std::size_t order, std::size_t tile) {
  configuration c;
  c.size = {order};
  c.block = {tile};
  return c;
}

void factorize(const matrix& a) {
  for (std::size_t part = 0; part < a.parts(); part++) a.fill(part);
  for (std::size_t k = 0; k < a.tiles(); k++) {
    a.geqrt(k);
    for (std::size_t j = k + 1; j < a.tiles(); j++) a.unmqr(k, j);
    for (std::size_t i = k + 1; i < a.tiles(); i++) {
      a.tsqrt(i, k);
      for (std::size_t j = k + 1; j < a.tiles(); j++) a.tsmqr(i, j, k);
    }
  }
}

TEST(qr, residual_is_rounding) {
  for (const std::size_t order : {1u, 2u, 31u, 33u, 100u, 257u})
    for (const std::size_t tile : {order / 40 + 1, order / 3 + 1, order}) {
      const matrix a(problem(order, tile));
      factorize(a);
      EXPECT_LT(a.residual(), 1e-14) << order << " in tiles of " << tile;
    }
}

TEST(qr, residual_finds_one_wrong_element) {
  const matrix a(problem(50, 20));
  factorize(a);
  a.tile(1, 2)[3] += 1e-6;
  EXPECT_GT(a.residual(), 1e-10);
}

// R is the same up to the signs of its rows, however the matrix is cut.
TEST(qr, factor_does_not_depend_on_the_tiles) {
  const std::size_t n = 70;
  const matrix whole(problem(n, n)), cut(problem(n, 32));
  factorize(whole);
  factorize(cut);
  for (std::size_t row = 0; row < n; row++)
    for (std::size_t column = row; column < n; column++) {
      const std::size_t i = row / 32, j = column / 32, rows = std::min<std::size_t>(32, n - i * 32);
      const double here = cut.tile(i, j)[column % 32 * rows + row % 32], there = whole.tile(0, 0)[column * n + row];
      EXPECT_NEAR(std::abs(here), std::abs(there), 1e-12);
    }
}

TEST(qr, a_reflector_turns_a_vector_into_its_length) {
  double alpha = 3, x[] = {0, 4};
  const double tau = reflect(2, alpha, x);
  EXPECT_DOUBLE_EQ(alpha, -5);
  EXPECT_DOUBLE_EQ(tau, 1.6);
  EXPECT_DOUBLE_EQ(x[0], 0);
  EXPECT_DOUBLE_EQ(x[1], 0.5);
  double beta = -2, zeros[] = {0, 0};
  EXPECT_EQ(reflect(2, beta, zeros), 0);
  EXPECT_EQ(beta, -2);
}

}  // namespace
}  // namespace weir::bench::orthogonal
