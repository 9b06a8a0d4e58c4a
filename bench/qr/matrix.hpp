// qr: A = Q R of a square matrix, by tiles (tile.hpp), each of which lies in one piece. Q is left as its reflectors.
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::bench::orthogonal {

class matrix {
 public:
  // Memory that nobody has written.
  explicit matrix(const configuration&);

  std::size_t tiles() const { return tiles_; }  // in a column, and in a row
  std::size_t parts() const { return tiles_ * tiles_; }
  // Part i * tiles() + j: tile (i, j), and what is made with it.
  void fill(std::size_t part) const;

  std::span<double> tile(std::size_t i, std::size_t j) const {
    return a_.part((i * tiles_ + j) * tile_ * tile_, elements(i, j));
  }
  // The T of tile (i, k), i >= k.
  std::span<double> t(std::size_t i, std::size_t k) const;
  // A copy of tile (k, k) as geqrt() leaves it: what unmqr() needs is the reflectors, and tsqrt() changes only the
  // rest.
  std::span<double> reflectors(std::size_t k) const { return v_.part(k * tile_ * tile_, elements(k, k)); }

  void geqrt(std::size_t k) const;                                 // tile(k, k); writes t(k, k), reflectors(k)
  void unmqr(std::size_t k, std::size_t j) const;                  // tile(k, j); reads t(k, k), reflectors(k)
  void tsqrt(std::size_t i, std::size_t k) const;                  // tile(k, k), tile(i, k); writes t(i, k)
  void tsmqr(std::size_t i, std::size_t j, std::size_t k) const;   // tile(k, j), tile(i, j); reads tile(i, k), t(i, k)

  std::vector<double> values() const { return {a_.span().begin(), a_.span().end()}; }
  // ||A^T A - R^T R|| / ||A||^2 in the Frobenius norm.
  double residual() const;
  verification verify(const std::any& expected) const;
  std::vector<std::span<std::byte>> memory() const {
    return {std::as_writable_bytes(a_.span()), std::as_writable_bytes(t_.span()), std::as_writable_bytes(v_.span())};
  }

 private:
  int rows(std::size_t i) const { return static_cast<int>(std::min(tile_, order_ - i * tile_)); }
  std::size_t elements(std::size_t i, std::size_t j) const {
    return static_cast<std::size_t>(rows(i)) * static_cast<std::size_t>(rows(j));
  }
  double element(std::size_t row, std::size_t column) const;

  std::size_t order_, tile_, tiles_;
  std::uint64_t seed_;
  own_array<double> a_, t_, v_;
};

}  // namespace weir::bench::orthogonal

namespace weir::bench {

// The value is what matrix::values() returns.
serial_result solve_qr(const configuration&);

}  // namespace weir::bench
