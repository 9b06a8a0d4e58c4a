// The tiles' operations, and the check of an inverse.
#include <bench/symmetric-inverse/matrix.hpp>

#include <bench/common/verify.hpp>
#include <bench/symmetric-inverse/tile.hpp>

#include <cmath>
#include <cstdio>
#include <limits>

namespace weir::bench::inversion {

const char* name_of(kind k) {
  switch (k) {
    case kind::potrf: return "potrf";
    case kind::trsm: return "trsm";
    case kind::syrk: return "syrk";
    case kind::gemm: return "gemm";
    case kind::trsm_from_right: return "trsm from right";
    case kind::gemm_plus: return "gemm plus";
    case kind::trsm_from_left: return "trsm from left";
    case kind::trtri: return "trtri";
    case kind::syrk_transposed: return "syrk transposed";
    case kind::gemm_transposed: return "gemm transposed";
    case kind::trmm: return "trmm";
    case kind::lauum: return "lauum";
  }
  return "";
}

matrix::matrix(const configuration& c)
    : t_{c.size[0], c.block[0], c.seed}, a_(t_.count() * t_.tile * t_.tile) {}

place matrix::place_of(std::size_t part) const {
  std::size_t row = 0;
  while (t_.index(row + 1, 0) <= part) row++;
  return {row, part - t_.index(row, 0)};
}

void matrix::fill(std::size_t part) const {
  const place p = place_of(part);
  factorization::fill_tile(t_, p.row, p.column, tile(p).data());
}

void matrix::execute(const operation& o) const {
  const double *const left = tile(o.left).data(), *const right = tile(o.right).data();
  double* const to = tile(o.to).data();
  const int m = t_.rows(o.to.row), n = t_.rows(o.to.column);
  const int inner = t_.rows(o.left.column), outer = t_.rows(o.left.row);  // of what is multiplied
  switch (o.what) {
    case kind::potrf: return factorization::potrf(m, to);
    case kind::trsm: return factorization::trsm(m, n, left, n, to, m);
    case kind::syrk: return factorization::syrk(m, inner, left, m, to, m);
    case kind::gemm: return factorization::gemm(m, n, inner, left, m, right, n, to, m);
    case kind::trsm_from_right: return inversion::trsm_from_right(m, n, left, to);
    case kind::gemm_plus: return inversion::gemm_plus(m, n, inner, left, right, to);
    case kind::trsm_from_left: return inversion::trsm_from_left(m, n, left, to);
    case kind::trtri: return inversion::trtri(m, to);
    case kind::syrk_transposed: return inversion::syrk_transposed(m, outer, left, to);
    case kind::gemm_transposed: return inversion::gemm_transposed(m, n, outer, left, right, to);
    case kind::trmm: return inversion::trmm(m, n, left, to);
    case kind::lauum: return inversion::lauum(m, to);
  }
}

double matrix::residual() const {
  const std::size_t n = t_.order;
  std::vector<double> a(n * n), x(n * n), rest(n * n);
  const auto at = [n](std::vector<double>& v, std::size_t r, std::size_t c) -> double& { return v[c * n + r]; };
  double norm_a = 0, norm_x = 0, norm_rest = 0;
  for (std::size_t part = 0; part < parts(); part++) {
    const place p = place_of(part);
    const double* value = tile(p).data();
    for (std::size_t c = p.column * t_.tile; c < std::min(n, (p.column + 1) * t_.tile); c++)
      for (std::size_t r = p.row * t_.tile; r < std::min(n, (p.row + 1) * t_.tile); r++, value++)
        if (r >= c) at(x, r, c) = at(x, c, r) = *value;
  }
  for (std::size_t c = 0; c < n; c++)
    for (std::size_t r = 0; r < n; r++) at(a, r, c) = factorization::matrix_element(t_, r, c);
  for (std::size_t i = 0; i < n; i++) at(rest, i, i) = -1;
  const int order = static_cast<int>(n);
  gemm_plus(order, order, order, a.data(), x.data(), rest.data());
  for (std::size_t i = 0; i < n * n; i++) {
    norm_a += a[i] * a[i];
    norm_x += x[i] * x[i];
    norm_rest += rest[i] * rest[i];
  }
  return std::sqrt(norm_rest) / std::sqrt(norm_a * norm_x);
}

verification matrix::verify(const std::any& expected) const {
  verification v = compare_bits(a_.span(), std::any_cast<const std::vector<double>&>(expected));
  const double rest = residual();
  v.passed = v.passed && rest < static_cast<double>(t_.order) * std::numeric_limits<double>::epsilon();
  char text[128];
  std::snprintf(text, sizeof text, "inverse bit for bit with the sequential program; residual %.2g", rest);
  v.what = text;
  return v;
}

}  // namespace weir::bench::inversion
