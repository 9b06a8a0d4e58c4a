// The tiles' operations, and the check of a factor.
#include <bench/qr/matrix.hpp>

#include <bench/common/stencil/padded_array.hpp>
#include <bench/common/verify.hpp>
#include <bench/qr/tile.hpp>

#include <cmath>
#include <cstdio>
#include <limits>

namespace weir::bench::orthogonal {
namespace {

// C (n x n) = C + sign A^T A
void add_square(std::size_t n, double sign, const std::vector<double>& a, std::vector<double>& c) {
  const int order = static_cast<int>(n);
  const double one = 1;
  dgemm_("T", "N", &order, &order, &order, &sign, a.data(), &order, a.data(), &order, &one, c.data(), &order);
}

double norm_squared(const std::vector<double>& a) {
  double sum = 0;
  for (const double value : a) sum += value * value;
  return sum;
}

}  // namespace

matrix::matrix(const configuration& c)
    : order_(c.size[0]), tile_(c.block[0]), tiles_((order_ + tile_ - 1) / tile_), seed_(c.seed),
      a_(tiles_ * tiles_ * tile_ * tile_), t_(tiles_ * (tiles_ + 1) / 2 * panel * tile_), v_(tiles_ * tile_ * tile_) {}

double matrix::element(std::size_t row, std::size_t column) const {
  return stencil::initial_value(seed_, row * order_ + column) - 0.5;
}

std::span<double> matrix::t(std::size_t i, std::size_t k) const {
  const std::size_t each = panel * tile_;
  return t_.part((i * (i + 1) / 2 + k) * each, static_cast<std::size_t>(panel) * static_cast<std::size_t>(rows(k)));
}

void matrix::fill(std::size_t part) const {
  const std::size_t i = part / tiles_, j = part % tiles_;
  double* to = tile(i, j).data();
  for (std::size_t c = j * tile_; c < std::min(order_, (j + 1) * tile_); c++)
    for (std::size_t r = i * tile_; r < std::min(order_, (i + 1) * tile_); r++) *to++ = element(r, c);
  if (i >= j) std::ranges::fill(t(i, j), 0.0);
  if (i == j) std::ranges::fill(reflectors(i), 0.0);
}

void matrix::geqrt(std::size_t k) const {
  orthogonal::geqrt(rows(k), rows(k), tile(k, k).data(), t(k, k).data());
  std::ranges::copy(tile(k, k), reflectors(k).begin());
}

void matrix::unmqr(std::size_t k, std::size_t j) const {
  orthogonal::unmqr(rows(k), rows(j), reflectors(k).data(), t(k, k).data(), tile(k, j).data());
}

void matrix::tsqrt(std::size_t i, std::size_t k) const {
  orthogonal::tsqrt(rows(i), rows(k), tile(k, k).data(), tile(i, k).data(), t(i, k).data());
}

void matrix::tsmqr(std::size_t i, std::size_t j, std::size_t k) const {
  orthogonal::tsmqr(rows(i), rows(j), rows(k), tile(i, k).data(), t(i, k).data(), tile(k, j).data(),
                    tile(i, j).data());
}

double matrix::residual() const {
  const std::size_t n = order_;
  std::vector<double> a(n * n), r(n * n), rest(n * n);
  for (std::size_t c = 0; c < n; c++)
    for (std::size_t row = 0; row < n; row++) a[c * n + row] = element(row, c);
  for (std::size_t i = 0; i < tiles_; i++)
    for (std::size_t j = i; j < tiles_; j++) {
      const double* value = tile(i, j).data();
      for (std::size_t c = j * tile_; c < std::min(n, (j + 1) * tile_); c++)
        for (std::size_t row = i * tile_; row < std::min(n, (i + 1) * tile_); row++, value++)
          if (row <= c) r[c * n + row] = *value;
    }
  add_square(n, 1, a, rest);
  add_square(n, -1, r, rest);
  return std::sqrt(norm_squared(rest)) / norm_squared(a);
}

verification matrix::verify(const std::any& expected) const {
  verification v = compare_bits(a_.span(), std::any_cast<const std::vector<double>&>(expected));
  const double rest = residual();
  v.passed = v.passed && rest < static_cast<double>(order_) * std::numeric_limits<double>::epsilon();
  char text[128];
  std::snprintf(text, sizeof text, "factors bit for bit with the sequential program; residual %.2g", rest);
  v.what = text;
  return v;
}

}  // namespace weir::bench::orthogonal
