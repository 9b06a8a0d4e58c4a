// ILU(k) against definitions: levels by the recurrence on a dense matrix, factors whose product is the matrix on their
// pattern, complete factorisations that solve exactly, rows in lists, pivots.
#include <weir/solver/ilu.hpp>

#include <weir/solver/generators.hpp>

#include "test_support.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weir::solver {
namespace {

constexpr int no_entry = 1 << 20;

// Levels of all entries of the complete factorisation of the block pattern.
std::vector<int> levels_by_definition(const matrix& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<int> level(n * n, no_entry);
  for (std::size_t i = 0; i < n; i++) {
    level[i * n + i] = 0;
    for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) level[i * n + static_cast<std::size_t>(a.columns[p])] = 0;
  }
  for (std::size_t h = 0; h < n; h++)
    for (std::size_t i = h + 1; i < n; i++)
      for (std::size_t j = h + 1; j < n; j++) level[i * n + j] = std::min(level[i * n + j], level[i * n + h] + level[h * n + j] + 1);
  return level;
}

TEST(ilu, pattern_has_the_entries_up_to_the_level) {
  std::mt19937_64 random(test_seed());
  for (int k = 0; k < 40; k++) {
    const matrix a = random_matrix(std::uniform_int_distribution<index>(1, 30)(random), 1, 3, random);
    const auto n = static_cast<std::size_t>(a.rows);
    const std::vector<int> levels = levels_by_definition(a);
    for (const int most : {0, 1, 2, 3, a.rows}) {
      const ilu f(a, {.level = most});
      std::size_t expected = 0;
      for (std::size_t i = 0; i < n; i++) {
        std::vector<index> lower;
        for (std::size_t j = 0; j < n; j++) {
          const bool there = levels[i * n + j] <= most;
          expected += there;
          if (there && j < i) lower.push_back(static_cast<index>(j));
        }
        const auto begin = static_cast<std::size_t>(f.lower_begin()[i]), end = static_cast<std::size_t>(f.lower_begin()[i + 1]);
        EXPECT_TRUE(std::ranges::equal(lower, f.lower_columns().subspan(begin, end - begin))) << "row " << i << ", level " << most;
      }
      EXPECT_EQ(f.entries(), expected) << "level " << most;
    }
  }
}

// The product of the factors is what their solve undoes: columns of its inverse, inverted again by Gauss and Jordan.
dense product_of_factors(const ilu& f) {
  const std::size_t n = f.order();
  dense inverse(n), product(n);
  array<double> unit(n, 0.0), column(n);
  for (std::size_t j = 0; j < n; j++) {
    unit[j] = 1;
    f.solve(unit, column);
    unit[j] = 0;
    for (std::size_t i = 0; i < n; i++) inverse.at(i, j) = column[i];
    product.at(j, j) = 1;
  }
  for (std::size_t k = 0; k < n; k++) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; i++)
      if (std::abs(inverse.at(i, k)) > std::abs(inverse.at(pivot, k))) pivot = i;
    for (std::size_t j = 0; j < n; j++) std::swap(inverse.at(k, j), inverse.at(pivot, j)), std::swap(product.at(k, j), product.at(pivot, j));
    const double scale = 1 / inverse.at(k, k);
    for (std::size_t j = 0; j < n; j++) inverse.at(k, j) *= scale, product.at(k, j) *= scale;
    for (std::size_t i = 0; i < n; i++) {
      const double factor = i == k ? 0 : inverse.at(i, k);
      for (std::size_t j = 0; j < n; j++) inverse.at(i, j) -= factor * inverse.at(k, j), product.at(i, j) -= factor * product.at(k, j);
    }
  }
  return product;
}

// The property that defines an incomplete factorisation (Saad, proposition 10.4).
TEST(ilu, product_of_the_factors_is_the_matrix_on_their_pattern) {
  std::mt19937_64 random(test_seed());
  for (int block = 1; block <= largest_block; block++)
    for (const int level : {0, 1, 2, 30}) {
      const matrix a = random_matrix(14, block, 3, random);
      ilu f(a, {.level = level});
      f.factor(a);
      const std::vector<int> levels = levels_by_definition(a);
      const dense expected(a), product = product_of_factors(f);
      const auto b = static_cast<std::size_t>(block), n = static_cast<std::size_t>(a.rows);
      for (std::size_t i = 0; i < expected.n; i++)
        for (std::size_t j = 0; j < expected.n; j++) {
          if (levels[i / b * n + j / b] > level) continue;
          EXPECT_NEAR(product.at(i, j), expected.at(i, j), 1e-10) << "block " << block << ", level " << level << ", entry " << i << ", " << j;
        }
    }
}

TEST(ilu, complete_factorisation_solves_exactly) {
  std::mt19937_64 random(test_seed());
  for (int block = 1; block <= largest_block; block++) {
    const matrix a = random_matrix(50, block, 4, random);
    const array<double> x = random_vector(a.order(), random);
    array<double> b(x.size()), found(x.size());
    multiply(a, x, b);
    ilu f(a, {.level = a.rows});
    f.factor(a);
    f.solve(b, found);
    for (std::size_t i = 0; i < x.size(); i++) EXPECT_NEAR(found[i], x[i], 1e-12);
    f.solve(b, b);  // in place
    EXPECT_EQ(b, found);
  }
}

// The matrix couples only rows of the same parity, so that all odd ones may come first.
TEST(ilu, rows_in_lists_give_the_same) {
  std::mt19937_64 random(test_seed());
  for (int block = 1; block <= largest_block; block++) {
    matrix a = random_matrix(60, block, 0, random);
    a.columns.clear(), a.values.clear(), a.row_begin.assign(1, 0);
    for (index i = 0; i < a.rows; i++) {
      for (index j = i % 2; j < a.rows; j += 2)
        if (std::abs(i - j) <= 6) {
          a.columns.push_back(j);
          for (int k = 0; k < block * block; k++) a.values.push_back(std::uniform_real_distribution<double>(-1, 1)(random) + (i == j && k % (block + 1) == 0 ? 30 : 0));
        }
      a.row_begin.push_back(static_cast<index>(a.columns.size()));
    }
    check(a);
    ilu f(a, {.level = 1}), g(a, {.level = 1});
    f.factor(a);
    std::vector<index> even, odd;
    for (index i = 0; i < a.rows; i++) (i % 2 == 0 ? even : odd).push_back(i);
    ilu::workspace work[2] = {ilu::workspace(g), ilu::workspace(g)};
    g.begin_factor(work);
    g.factor_rows(a, odd, work[0]);
    g.factor_rows(a, even, work[1]);
    g.end_factor(work);
    const array<double> b = random_vector(a.order(), random);
    array<double> x(b.size()), y(b.size());
    f.solve(b, x);
    for (std::vector<index>* rows : {&odd, &even}) {
      g.forward_rows(b, y, *rows);
      std::ranges::reverse(*rows);
      g.backward_rows(y, *rows);
    }
    EXPECT_EQ(x, y) << "block " << block;
  }
}

// Scalar rows in groups of the same columns take kernels of their own; as blocks they are the same matrix.
TEST(ilu, rows_alike_are_no_exception) {
  std::mt19937_64 random(test_seed());
  for (int block = 2; block <= largest_block; block++) {
    const matrix blocks = random_matrix(20, block, 3, random);
    const dense d(blocks);
    matrix a;
    a.rows = static_cast<index>(d.n);
    a.row_begin.push_back(0);
    for (std::size_t i = 0; i < d.n; i++) {
      for (std::size_t j = 0; j < d.n; j++)
        if (d.at(i, j) != 0) a.columns.push_back(static_cast<index>(j)), a.values.push_back(d.at(i, j));
      a.row_begin.push_back(static_cast<index>(a.columns.size()));
    }
    for (const int level : {0, 1, 100}) {
      ilu f(a, {.level = level}), g(blocks, {.level = level});
      f.factor(a);
      g.factor(blocks);
      const array<double> b = random_vector(d.n, random);
      array<double> x(d.n), y(d.n), z(d.n);
      f.solve(b, x);
      g.solve(b, y);
      for (std::size_t i = 0; i < d.n; i++) EXPECT_NEAR(x[i], y[i], 1e-12) << "block " << block << ", level " << level;
      // One row at a time, where no pairs are found.
      for (index i = 0; i < a.rows; i++) f.forward_rows(b, z, {&i, 1});
      for (index i = a.rows; i-- > 0;) f.backward_rows(z, {&i, 1});
      for (std::size_t i = 0; i < d.n; i++) EXPECT_NEAR(x[i], z[i], 1e-13);
    }
  }
}

TEST(ilu, counts_what_it_stores) {
  const matrix a = cube(5);
  const ilu zero(a, {}), one(a, {.level = 1});
  EXPECT_EQ(zero.entries(), a.entries());
  EXPECT_GT(one.entries(), a.entries());
  EXPECT_EQ(one.bytes(), one.entries() * 8 + (one.entries() - 125) * 4 + 2 * 126 * 4);
}

TEST(ilu, zero_pivots_name_the_row_or_are_shifted) {
  const matrix missing{3, 1, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {1, 2, 2, 4, 1}};  // the second pivot is 4 - 2 * 2
  ilu f(missing, {});
  try {
    f.factor(missing);
    ADD_FAILURE();
  } catch (const zero_pivot_error& e) {
    EXPECT_EQ(e.row(), 1);
    EXPECT_NE(std::string(e.what()).find("row 2"), std::string::npos);
  }
  ilu shifted(missing, {.shift = 0.5});
  shifted.factor(missing);
  EXPECT_EQ(shifted.shifted(), 1);
  const array<double> b{1, 4, 3};
  array<double> x(3);
  shifted.solve(b, x);  // L = [1; 2 1], U = [1 2; 2]: 0.5 times the largest of row 2, which is 4
  EXPECT_DOUBLE_EQ(x[0], -1);
  EXPECT_DOUBLE_EQ(x[1], 1);
  EXPECT_DOUBLE_EQ(x[2], 3);
}

TEST(ilu, singular_blocks_name_the_row_or_are_shifted) {
  const matrix a{2, 2, {0, 1, 2}, {0, 1}, {2, 0, 0, 2, 1, 2, 2, 4}};
  ilu f(a, {});
  try {
    f.factor(a);
    ADD_FAILURE();
  } catch (const zero_pivot_error& e) {
    EXPECT_EQ(e.row(), 3);
  }
  ilu shifted(a, {.shift = 0.25});
  shifted.factor(a);
  EXPECT_EQ(shifted.shifted(), 1);
  array<double> x{2, 4, 2, 3};  // the second block becomes [2 2; 2 5]
  shifted.solve(x, x);
  EXPECT_NEAR(x[0], 1, 1e-14);
  EXPECT_NEAR(x[1], 2, 1e-14);
  EXPECT_NEAR(x[2], 2.0 / 3, 1e-14);
  EXPECT_NEAR(x[3], 1.0 / 3, 1e-14);
}

TEST(ilu, a_missing_diagonal_entry_may_fill_in) {
  const matrix a{2, 1, {0, 2, 3}, {0, 1, 0}, {2, 4, 3}};  // U = [2 4; -6]
  ilu f(a, {});
  f.factor(a);
  array<double> x{2, 9};
  f.solve(x, x);
  EXPECT_DOUBLE_EQ(x[0], 3);
  EXPECT_DOUBLE_EQ(x[1], -1);
}

TEST(ilu, options_out_of_range_are_refused) {
  const matrix a = cube(2);
  EXPECT_THROW(ilu(a, {.level = -1}), usage_error);
  EXPECT_THROW(ilu(a, {.level = largest_level + 1}), usage_error);
  EXPECT_THROW(ilu(a, {.shift = -1}), usage_error);
  EXPECT_THROW(ilu(a, {.shift = std::nan("")}), usage_error);
}

}  // namespace
}  // namespace weir::solver
