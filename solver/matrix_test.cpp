// Matrices: what is refused, products, structural rank against all permutations.
#include <weir/solver/matrix.hpp>

#include "test_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace weir::solver {
namespace {

matrix two_rows() { return {2, 1, {0, 2, 3}, {0, 1, 1}, {4, 1, 3}}; }

TEST(matrix, is_checked) {
  EXPECT_NO_THROW(check(two_rows()));
  const auto refused = [](auto change) {
    matrix a = two_rows();
    change(a);
    EXPECT_THROW(check(a), matrix_error);
  };
  refused([](matrix& a) { a.columns[1] = 2; });
  refused([](matrix& a) { a.columns[0] = -1; });
  refused([](matrix& a) { a.columns[1] = 0; });
  refused([](matrix& a) { std::swap(a.columns[0], a.columns[1]); });
  refused([](matrix& a) { a.values[2] = std::numeric_limits<double>::quiet_NaN(); });
  refused([](matrix& a) { a.values.push_back(1); });
  refused([](matrix& a) { a.row_begin[1] = 4; });
  refused([](matrix& a) { a.row_begin.pop_back(); });
  refused([](matrix& a) { a.block = largest_block + 1; });
  refused([](matrix& a) { a.block = 0; });
}

TEST(matrix, products_are_those_of_the_dense_matrix) {
  std::mt19937_64 random(test_seed());
  for (int block = 1; block <= largest_block; block++) {
    const matrix a = random_matrix(17, block, 4, random);
    const dense d(a);
    const array<double> x = random_vector(a.order(), random), b = random_vector(a.order(), random);
    array<double> y(a.order()), r(a.order());
    multiply(a, x, y);
    residual_rows(a, x, b, r, 0, a.rows);
    for (std::size_t i = 0; i < d.n; i++) {
      double sum = 0;
      for (std::size_t j = 0; j < d.n; j++) sum += d.at(i, j) * x[j];
      EXPECT_NEAR(y[i], sum, 1e-12 * d.n * 100);
      EXPECT_NEAR(r[i], b[i] - sum, 1e-12 * d.n * 100);
    }
  }
}

// Whether some permutation finds an entry in each row.
bool has_transversal(const matrix& a) {
  std::vector<index> order(static_cast<std::size_t>(a.rows));
  std::iota(order.begin(), order.end(), 0);
  const dense d(a);
  do {
    bool all = true;
    for (std::size_t i = 0; i < order.size() && all; i++) all = d.at(i, static_cast<std::size_t>(order[i])) != 0;
    if (all) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

TEST(matrix, structural_rank_is_that_of_the_best_permutation) {
  std::mt19937_64 random(test_seed());
  int regular = 0, singular = 0;
  for (int k = 0; k < 600; k++) {
    const index n = std::uniform_int_distribution<index>(1, 6)(random);
    const double density = std::uniform_real_distribution<double>(0.1, 0.6)(random);
    matrix a;
    a.rows = n;
    a.row_begin.push_back(0);
    for (index i = 0; i < n; i++) {
      for (index j = 0; j < n; j++)
        if (std::bernoulli_distribution(density)(random)) a.columns.push_back(j), a.values.push_back(1);
      a.row_begin.push_back(static_cast<index>(a.columns.size()));
    }
    const bool expected = has_transversal(a);
    (expected ? regular : singular)++;
    if (expected) EXPECT_NO_THROW(check_structural_rank(a));
    else EXPECT_THROW(check_structural_rank(a), matrix_error);
  }
  EXPECT_GT(regular, 20);
  EXPECT_GT(singular, 20);
}

TEST(matrix, structural_rank_of_a_long_chain_is_found_without_recursion) {
  // Row i has columns i and i + 1, the last one only column 0: the one matching moves every row.
  const index n = 200000;
  matrix a;
  a.rows = n;
  a.row_begin.push_back(0);
  for (index i = 0; i < n; i++) {
    if (i + 1 < n) a.columns.push_back(i), a.columns.push_back(i + 1);
    else a.columns.push_back(0);
    a.row_begin.push_back(static_cast<index>(a.columns.size()));
  }
  a.values.assign(a.columns.size(), 1);
  EXPECT_NO_THROW(check_structural_rank(a));
}

}  // namespace
}  // namespace weir::solver
