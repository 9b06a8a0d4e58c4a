// symmetric-inverse: the inverse of a symmetric positive definite matrix, in place, by tiles of its lower triangle, in
// three phases: A = L L^T, then L becomes its inverse, then that L^-T L^-1 (Agullo, Bouwmeester, Dongarra, Kurzak,
// Langou and Rosenberg, VECPAR 2010). There is no barrier between phases: a tile goes on as soon as it can.
#pragma once

#include <bench/cholesky/tile.hpp>
#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weir::bench::inversion {

enum class kind : std::uint8_t {
  potrf, trsm, syrk, gemm,                                   // A = L L^T
  trsm_from_right, gemm_plus, trsm_from_left, trtri,         // L^-1
  syrk_transposed, gemm_transposed, trmm, lauum,             // L^-T L^-1
};
const char* name_of(kind);

struct place {
  std::size_t row, column;  // of tiles
};

// What a task does: updates `to`, and reads the two others, which may be the same or `to` itself.
struct operation {
  kind what;
  place left, right, to;
};

// The tiles of the lower triangle, each in one piece, in memory that nobody has written.
class matrix {
 public:
  explicit matrix(const configuration&);

  const factorization::tiling& tiling() const { return t_; }
  std::size_t parts() const { return t_.count(); }
  place place_of(std::size_t part) const;
  void fill(std::size_t part) const;
  std::span<double> tile(place p) const {
    return a_.part(t_.index(p.row, p.column) * t_.tile * t_.tile, t_.elements(p.row, p.column));
  }

  // Steps 0, 1, ..., of each phase one for every row of tiles. Calls f(operation) in an order that is right.
  int steps() const { return static_cast<int>(3 * t_.tiles()); }
  template <class F>
  void for_each_operation(int step, const F& f) const;
  void execute(const operation&) const;

  std::vector<double> values() const { return {a_.span().begin(), a_.span().end()}; }
  // ||I - A X|| / (||A|| ||X||) in the Frobenius norm. Costs as much as the inverse.
  double residual() const;
  verification verify(const std::any& expected) const;
  std::vector<std::span<std::byte>> memory() const { return {std::as_writable_bytes(a_.span())}; }

 private:
  template <class F>
  static void factorize(std::size_t k, std::size_t n, const F& f);
  template <class F>
  static void invert(std::size_t k, std::size_t n, const F& f);
  template <class F>
  static void multiply(std::size_t k, const F& f);

  factorization::tiling t_;
  own_array<double> a_;
};

template <class F>
void matrix::factorize(std::size_t k, std::size_t n, const F& f) {
  const place diagonal{k, k};
  f(operation{kind::potrf, diagonal, diagonal, diagonal});
  for (std::size_t i = k + 1; i < n; i++) f(operation{kind::trsm, diagonal, diagonal, {i, k}});
  for (std::size_t i = k + 1; i < n; i++) {
    for (std::size_t j = k + 1; j < i; j++) f(operation{kind::gemm, {i, k}, {j, k}, {i, j}});
    f(operation{kind::syrk, {i, k}, {i, k}, {i, i}});
  }
}

template <class F>
void matrix::invert(std::size_t k, std::size_t n, const F& f) {
  const place diagonal{k, k};
  for (std::size_t i = k + 1; i < n; i++) f(operation{kind::trsm_from_right, diagonal, diagonal, {i, k}});
  for (std::size_t i = k + 1; i < n; i++)
    for (std::size_t j = 0; j < k; j++) f(operation{kind::gemm_plus, {i, k}, {k, j}, {i, j}});
  for (std::size_t j = 0; j < k; j++) f(operation{kind::trsm_from_left, diagonal, diagonal, {k, j}});
  f(operation{kind::trtri, diagonal, diagonal, diagonal});
}

template <class F>
void matrix::multiply(std::size_t k, const F& f) {
  const place diagonal{k, k};
  for (std::size_t j = 0; j < k; j++) {
    f(operation{kind::syrk_transposed, {k, j}, {k, j}, {j, j}});
    for (std::size_t i = j + 1; i < k; i++) f(operation{kind::gemm_transposed, {k, i}, {k, j}, {i, j}});
  }
  for (std::size_t j = 0; j < k; j++) f(operation{kind::trmm, diagonal, diagonal, {k, j}});
  f(operation{kind::lauum, diagonal, diagonal, diagonal});
}

template <class F>
void matrix::for_each_operation(int step, const F& f) const {
  const std::size_t n = t_.tiles(), k = static_cast<std::size_t>(step) % n;
  switch (static_cast<std::size_t>(step) / n) {
    case 0: return factorize(k, n, f);
    case 1: return invert(k, n, f);
    default: return multiply(k, f);
  }
}

}  // namespace weir::bench::inversion

namespace weir::bench {

// The value is what matrix::values() returns.
serial_result solve_symmetric_inverse(const configuration&);

}  // namespace weir::bench
