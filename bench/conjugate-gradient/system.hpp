// conjugate-gradient: a sparse system A x = b by the method of conjugate gradients (Hestenes and Stiefel, 1952). A is
// the matrix of the five-point Laplacian on a grid of points, with zeros around it, in compressed rows. A block is a
// number of rows of the grid: its rows of A, and its part of the vectors.
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::bench::conjugate_gradient {

class linear_system {
 public:
  explicit linear_system(const configuration&);

  std::size_t parts() const { return (rows_ + block_rows_ - 1) / block_rows_; }
  // Writes a block's rows of A and of b, and what belongs to the first guess, x = 0.
  void fill(std::size_t block) const;

  // An iteration: multiply() all blocks, step_length(), advance() all, step_direction(), turn() all. Before the first
  // one begin(). Sums over all blocks are made of the blocks' sums, in their order, by one task.
  void begin() const;                    // rho of the blocks' r r
  void multiply(std::size_t b) const;    // q = A p; the block's p q
  void step_length() const;              // alpha = rho / p q
  void advance(std::size_t b) const;     // x += alpha p, r -= alpha q; the block's r r
  void step_direction() const;           // beta = r r / rho; rho = r r
  void turn(std::size_t b) const;        // p = r + beta p

  // What these read and write. A sum has a cache line of its own.
  std::span<const double> values(std::size_t b) const { return values_[b]; }
  std::span<const std::int32_t> columns(std::size_t b) const { return columns_[b]; }
  std::span<const std::int32_t> starts(std::size_t b) const { return starts_[b]; }
  std::span<double> x(std::size_t b) const { return part_of(x_, b); }
  std::span<double> r(std::size_t b) const { return part_of(r_, b); }
  std::span<double> p(std::size_t b) const { return part_of(p_, b); }
  std::span<double> q(std::size_t b) const { return part_of(q_, b); }
  // The neighbours' p that multiply() reads: their nearest row of the grid. Nothing at the ends.
  std::span<double> p_before(std::size_t b) const { return b == 0 ? p(b).first(0) : p(b - 1).last(row_); }
  std::span<double> p_after(std::size_t b) const { return b + 1 == parts() ? p(b).first(0) : p(b + 1).first(row_); }
  double& pq(std::size_t b) const { return pq_.span()[b * line]; }
  double& rr(std::size_t b) const { return rr_.span()[b * line]; }
  std::span<double> all_pq() const { return pq_.span(); }
  std::span<double> all_rr() const { return rr_.span(); }
  double& rho() const { return scalars_.span()[0]; }
  double& alpha() const { return scalars_.span()[line]; }
  double& beta() const { return scalars_.span()[2 * line]; }

  std::vector<double> solution() const { return {x_.span().begin(), x_.span().end()}; }
  // ||b - A x|| / ||b||, from scratch.
  double residual() const;
  verification verify(const std::any& expected) const;
  std::vector<std::span<std::byte>> memory() const;
  std::uint64_t bytes() const;

 private:
  static constexpr std::size_t line = 64 / sizeof(double);

  std::size_t first_row(std::size_t b) const { return b * block_rows_; }
  std::size_t rows_of(std::size_t b) const { return std::min(block_rows_, rows_ - first_row(b)); }
  std::size_t entries(std::size_t b) const;
  std::span<double> part_of(const own_array<double>& v, std::size_t b) const {
    return v.part(first_row(b) * row_, rows_of(b) * row_);
  }
  double right_side(std::size_t i) const;
  double sum_of(std::span<const double> parts) const;
  // Calls f(row within the block, (A v) of that row).
  template <class F>
  void for_each_product(std::size_t b, std::span<const double> v, const F& f) const {
    const auto starts = starts_[b];
    for (std::size_t i = 0; i + 1 < starts.size(); i++) {
      double sum = 0;
      for (auto k = static_cast<std::size_t>(starts[i]); k < static_cast<std::size_t>(starts[i + 1]); k++)
        sum += values_[b][k] * v[static_cast<std::size_t>(columns_[b][k])];
      f(i, sum);
    }
  }

  std::size_t rows_, row_, block_rows_;  // of the grid; points in a row
  std::uint64_t seed_;
  own_blocks<double> values_;
  own_blocks<std::int32_t> columns_, starts_;
  own_array<double> x_, r_, p_, q_, pq_, rr_, scalars_;
};

}  // namespace weir::bench::conjugate_gradient

namespace weir::bench {

// The value is x, a std::vector<double>.
serial_result solve_conjugate_gradient(const configuration&);

}  // namespace weir::bench
