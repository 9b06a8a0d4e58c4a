// The matrix, what is computed on one block, and the check of a solution.
#include <bench/conjugate-gradient/system.hpp>

#include <bench/common/stencil/padded_array.hpp>
#include <bench/common/verify.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weir::bench::conjugate_gradient {

linear_system::linear_system(const configuration& c)
    : rows_(c.size[0]), row_(c.size[1]), block_rows_(c.block[0]), seed_(c.seed),
      values_(parts(), [this](std::size_t b) { return entries(b); }),
      columns_(parts(), [this](std::size_t b) { return entries(b); }),
      starts_(parts(), [this](std::size_t b) { return rows_of(b) * row_ + 1; }), x_(rows_ * row_), r_(rows_ * row_),
      p_(rows_ * row_), q_(rows_ * row_), pq_(parts() * line), rr_(parts() * line), scalars_(3 * line) {}

// A point, and its neighbours to the west and east, north and south.
std::size_t linear_system::entries(std::size_t b) const {
  std::size_t n = rows_of(b) * (5 * row_ - 2);
  if (b == 0) n -= row_;
  if (b + 1 == parts()) n -= row_;
  return n;
}

double linear_system::right_side(std::size_t i) const { return stencil::initial_value(seed_, i); }

void linear_system::fill(std::size_t b) const {
  std::size_t k = 0, i = 0;
  const auto add = [&](std::size_t column, double value) {
    columns_[b][k] = static_cast<std::int32_t>(column);
    values_[b][k++] = value;
  };
  for (std::size_t row = first_row(b); row < first_row(b) + rows_of(b); row++)
    for (std::size_t c = 0; c < row_; c++, i++) {
      const std::size_t point = row * row_ + c;
      starts_[b][i] = static_cast<std::int32_t>(k);
      if (row > 0) add(point - row_, -1);
      if (c > 0) add(point - 1, -1);
      add(point, 4);
      if (c + 1 < row_) add(point + 1, -1);
      if (row + 1 < rows_) add(point + row_, -1);
      x(b)[i] = q(b)[i] = 0;
      r(b)[i] = p(b)[i] = right_side(point);
    }
  starts_[b][i] = static_cast<std::int32_t>(k);
  pq(b) = rr(b) = 0;
  for (const double value : r(b)) rr(b) += value * value;
}

double linear_system::sum_of(std::span<const double> sums) const {
  double sum = 0;
  for (std::size_t b = 0; b < parts(); b++) sum += sums[b * line];
  return sum;
}

void linear_system::begin() const { rho() = sum_of(all_rr()); }

void linear_system::multiply(std::size_t b) const {
  double sum = 0;
  for_each_product(b, p_.span(), [&](std::size_t i, double product) {
    q(b)[i] = product;
    sum += p(b)[i] * product;
  });
  pq(b) = sum;
}

// Zeros where the solution has been reached.
void linear_system::step_length() const {
  const double sum = sum_of(all_pq());
  alpha() = sum == 0 ? 0 : rho() / sum;
}

void linear_system::advance(std::size_t b) const {
  double sum = 0;
  const auto xs = x(b), rs = r(b), ps = p(b), qs = q(b);
  for (std::size_t i = 0; i < xs.size(); i++) {
    xs[i] += alpha() * ps[i];
    rs[i] -= alpha() * qs[i];
    sum += rs[i] * rs[i];
  }
  rr(b) = sum;
}

void linear_system::step_direction() const {
  const double sum = sum_of(all_rr());
  beta() = rho() == 0 ? 0 : sum / rho();
  rho() = sum;
}

void linear_system::turn(std::size_t b) const {
  const auto rs = r(b), ps = p(b);
  for (std::size_t i = 0; i < ps.size(); i++) ps[i] = rs[i] + beta() * ps[i];
}

double linear_system::residual() const {
  double error = 0, norm = 0;
  for (std::size_t b = 0; b < parts(); b++)
    for_each_product(b, x_.span(), [&](std::size_t i, double product) {
      const double right = right_side(first_row(b) * row_ + i), rest = right - product;
      error += rest * rest;
      norm += right * right;
    });
  return std::sqrt(error / norm);
}

// The r that is carried along must be what is left of b: else the iterations were not those of the method.
verification linear_system::verify(const std::any& expected) const {
  verification v = compare_bits(x_.span(), std::any_cast<const std::vector<double>&>(expected));
  double carried = 0, norm = 0;
  for (std::size_t i = 0; i < r_.span().size(); i++) {
    carried += r_.span()[i] * r_.span()[i];
    norm += right_side(i) * right_side(i);
  }
  const double rest = residual();
  v.passed = v.passed && std::abs(rest - std::sqrt(carried / norm)) < 1e-10;
  char text[128];
  std::snprintf(text, sizeof text, "solution bit for bit with the sequential program; residual %.2g", rest);
  v.what = text;
  return v;
}

std::vector<std::span<std::byte>> linear_system::memory() const {
  std::vector<std::span<std::byte>> all = {std::as_writable_bytes(values_.whole()),
                                           std::as_writable_bytes(columns_.whole()),
                                           std::as_writable_bytes(starts_.whole())};
  for (const auto* v : {&x_, &r_, &p_, &q_, &pq_, &rr_}) all.push_back(std::as_writable_bytes(v->span()));
  return all;
}

std::uint64_t linear_system::bytes() const {
  std::uint64_t sum = 0;
  for (const auto array : memory()) sum += array.size();
  return sum;
}

}  // namespace weir::bench::conjugate_gradient
