// What several tests of the solver need: random matrices, dense copies, seeds.
#pragma once

#include <weir/solver/matrix.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

namespace weir::solver {

// Printed, so that a run can be repeated: WEIR_TEST_SEED.
inline std::uint64_t test_seed() {
  const char* const given = std::getenv("WEIR_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "WEIR_TEST_SEED=" << seed << "\n";
  return seed;
}

// Repetitions of a random test; WEIR_TEST_EFFORT=N: N times as many.
inline std::size_t test_effort(std::size_t n) {
  const char* const more = std::getenv("WEIR_TEST_EFFORT");
  return n * (more != nullptr ? std::strtoul(more, nullptr, 10) : 1);
}

// By rows, scalar.
struct dense {
  explicit dense(std::size_t order) : n(order), values(order * order, 0.0) {}
  explicit dense(const matrix& a) : dense(a.order()) {
    const auto b = static_cast<std::size_t>(a.block);
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); i++)
      for (auto p = static_cast<std::size_t>(a.row_begin[i]); p < static_cast<std::size_t>(a.row_begin[i + 1]); p++)
        for (std::size_t k = 0; k < b * b; k++) at(i * b + k % b, static_cast<std::size_t>(a.columns[p]) * b + k / b) = a.values[p * b * b + k];
  }
  double& at(std::size_t i, std::size_t j) { return values[i * n + j]; }
  double at(std::size_t i, std::size_t j) const { return values[i * n + j]; }

  std::size_t n;
  std::vector<double> values;
};

// About `per_row` entries beside the diagonal in each row, which dominates: every factorisation of it exists.
template <class Random>
matrix random_matrix(index rows, int block, double per_row, Random& random) {
  std::uniform_real_distribution<double> value(-1, 1), chance(0, 1);
  matrix a;
  a.rows = rows;
  a.block = block;
  a.row_begin.push_back(0);
  for (index i = 0; i < rows; i++) {
    for (index j = 0; j < rows; j++) {
      if (i != j && chance(random) >= per_row / rows) continue;
      a.columns.push_back(j);
      for (int c = 0; c < block; c++)
        for (int r = 0; r < block; r++) a.values.push_back(value(random) + (i == j && r == c ? 3 * (per_row + 1) * block : 0));
    }
    a.row_begin.push_back(static_cast<index>(a.columns.size()));
  }
  return a;
}

template <class Random>
array<double> random_vector(std::size_t n, Random& random) {
  std::uniform_real_distribution<double> value(-1, 1);
  array<double> v(n);
  for (double& x : v) x = value(random);
  return v;
}

}  // namespace weir::solver
