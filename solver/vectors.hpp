// Vector operations of the Krylov methods: parallel loops over chunks. A runtime of one worker runs them in one task.
#pragma once

#include <weir/parallel.hpp>
#include <weir/runtime.hpp>
#include <weir/solver/matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace weir::solver::detail {

using in_vector = std::span<const double>;
using out_vector = std::span<double>;

class vector_operations {
 public:
  explicit vector_operations(runtime& rt) : rt_(rt) {}

  // body(begin, end) for chunks of 0 to n - 1.
  template <class Body>
  void chunks(std::size_t n, const Body& body) const {
    parallel_for(rt_, std::size_t{0}, n, body);
  }

  double dot(in_vector x, in_vector y) const {
    return parallel_reduce(rt_, std::size_t{0}, x.size(), 0.0, [&](std::size_t begin, std::size_t end) { return dot_of(x, y, begin, end); }, std::plus());
  }
  double norm(in_vector x) const { return std::sqrt(dot(x, x)); }

  void fill(double value, out_vector y) const {
    chunks(y.size(), [&](std::size_t begin, std::size_t end) { std::fill(y.begin() + static_cast<std::ptrdiff_t>(begin), y.begin() + static_cast<std::ptrdiff_t>(end), value); });
  }
  // y = a x
  void scale(double a, in_vector x, out_vector y) const {
    chunks(x.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) y[i] = a * x[i];
    });
  }
  // y = a x + b y
  void combine(double a, in_vector x, double b, out_vector y) const {
    chunks(x.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i++) y[i] = a * x[i] + b * y[i];
    });
  }
  void add(double a, in_vector x, out_vector y) const { combine(a, x, 1, y); }

  // h[k] = vectors[k] . w, for the first n vectors, in one pass through w.
  std::vector<double> dots(const std::vector<array<double>>& vectors, std::size_t n, in_vector w) const {
    const auto of_chunk = [&](std::size_t begin, std::size_t end) {
      std::vector<double> h(n);
      for (std::size_t k = 0; k < n; k++) h[k] = dot_of(vectors[k], w, begin, end);
      return h;
    };
    const auto sum = [](std::vector<double> left, const std::vector<double>& right) {
      for (std::size_t k = 0; k < left.size(); k++) left[k] += right[k];
      return left;
    };
    return parallel_reduce(rt_, std::size_t{0}, w.size(), std::vector<double>(n, 0.0), of_chunk, sum);
  }
  // w += sum of sign * h[k] * vectors[k], in one pass through w.
  void add_all(double sign, const std::vector<double>& h, const std::vector<array<double>>& vectors, out_vector w) const {
    chunks(w.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = 0; k < h.size(); k++) {
        const double* const v = vectors[k].data();
        const double factor = sign * h[k];
        for (std::size_t i = begin; i < end; i++) w[i] += factor * v[i];
      }
    });
  }

  // y = A x, y = b - A x
  void multiply(const matrix& a, in_vector x, out_vector y) const {
    parallel_for(rt_, index{0}, a.rows, [&](index begin, index end) { multiply_rows(a, x, y, begin, end); });
  }
  void residual(const matrix& a, in_vector x, in_vector b, out_vector y) const {
    parallel_for(rt_, index{0}, a.rows, [&](index begin, index end) { residual_rows(a, x, b, y, begin, end); });
  }

 private:
  // Four sums side by side: one would wait for each addition before the next.
  static double dot_of(in_vector x, in_vector y, std::size_t begin, std::size_t end) {
    double sum[4] = {};
    std::size_t i = begin;
    for (; i + 4 <= end; i += 4)
      for (std::size_t k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
    for (; i < end; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  runtime& rt_;
};

}  // namespace weir::solver::detail
