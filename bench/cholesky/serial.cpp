// cholesky, sequentially: the same tiles, right-looking as the tasks, and the check of a factor.
#include <bench/cholesky/result.hpp>
#include <bench/common/stopwatch.hpp>


namespace weir::bench {

namespace factorization {

double residual(const tiling& t, const factor& l) {
  double error = 0, norm = 0;
  const auto add = [&](std::size_t i, std::size_t j, const std::vector<double>& a, const std::vector<double>& rest) {
    for (std::size_t e = 0; e < a.size(); e++) {
      // Off the diagonal every element counts twice; on diagonal tiles only the lower triangle was computed.
      const std::size_t column = e / static_cast<std::size_t>(t.rows(i)), row = e % static_cast<std::size_t>(t.rows(i));
      const double weight = i != j || row > column ? 2 : row == column ? 1 : 0;
      error += weight * rest[e] * rest[e];
      norm += weight * a[e] * a[e];
    }
  };
  for (std::size_t i = 0; i < t.tiles(); i++)
    for (std::size_t j = 0; j <= i; j++) {
      std::vector<double> a(t.elements(i, j));
      fill_tile(t, i, j, a.data());
      std::vector<double> rest = a;
      for (std::size_t k = 0; k <= j; k++)
        gemm(t.rows(i), t.rows(j), t.rows(k), l[t.index(i, k)].data(), t.rows(i), l[t.index(j, k)].data(), t.rows(j), rest.data(), t.rows(i));
      add(i, j, a, rest);
    }
  return std::sqrt(error / norm);
}

}  // namespace factorization

serial_result solve_cholesky(const configuration& c) {
  using namespace factorization;
  const tiling t = tiling_of(c);
  factor l(t.count());
  const auto tile = [&](std::size_t i, std::size_t j) { return l[t.index(i, j)].data(); };
  for (std::size_t i = 0; i < t.tiles(); i++)
    for (std::size_t j = 0; j <= i; j++) {
      l[t.index(i, j)].resize(t.elements(i, j));
      fill_tile(t, i, j, tile(i, j));
    }

  const stopwatch watch;
  for (std::size_t k = 0; k < t.tiles(); k++) {
    potrf(t.rows(k), tile(k, k));
    for (std::size_t i = k + 1; i < t.tiles(); i++) trsm(t.rows(i), t.rows(k), tile(k, k), t.rows(k), tile(i, k), t.rows(i));
    for (std::size_t i = k + 1; i < t.tiles(); i++) {
      for (std::size_t j = k + 1; j < i; j++) gemm(t.rows(i), t.rows(j), t.rows(k), tile(i, k), t.rows(i), tile(j, k), t.rows(j), tile(i, j), t.rows(i));
      syrk(t.rows(i), t.rows(k), tile(i, k), t.rows(i), tile(i, i), t.rows(i));
    }
  }
  const double seconds = watch.seconds();
  return {std::move(l), seconds};
}

}  // namespace weir::bench
