// Orderings: permutations, which keep the matrix and do what they are for.
#include <weir/solver/ordering.hpp>

#include <weir/solver/generators.hpp>
#include <weir/solver/ilu.hpp>

#include "test_support.hpp"

#include <algorithm>
#include <numeric>

namespace weir::solver {
namespace {

constexpr ordering all[] = {ordering::natural, ordering::rcm, ordering::nested_dissection};

TEST(ordering, names) {
  EXPECT_EQ(parse_ordering("natural"), ordering::natural);
  EXPECT_EQ(parse_ordering("rcm"), ordering::rcm);
  EXPECT_EQ(parse_ordering("nd"), ordering::nested_dissection);
  EXPECT_THROW(parse_ordering("random"), usage_error);
}

TEST(ordering, permutes_every_entry_and_back) {
  std::mt19937_64 random(test_seed());
  for (const ordering how : all)
    for (const index n : {1, 2, 40}) {
      const matrix a = random_matrix(n, 2, 3, random);
      const array<index> order = order_rows(a, how);
      array<index> sorted = order;
      std::ranges::sort(sorted);
      for (index i = 0; i < n; i++) ASSERT_EQ(sorted[i], i);
      const matrix b = permute(a, order);
      check(b);
      const dense da(a), db(b);
      for (std::size_t i = 0; i < db.n; i++)
        for (std::size_t j = 0; j < db.n; j++) EXPECT_EQ(db.at(i, j), da.at(order[i / 2] * 2u + i % 2, order[j / 2] * 2u + j % 2));
      const array<double> x = random_vector(a.order(), random);
      array<double> y(x.size()), z(x.size());
      permute(x, y, order, 2);
      permute_back(y, z, order, 2);
      EXPECT_EQ(x, z);
      EXPECT_EQ(y[0], x[order[0] * 2u]);
    }
}

TEST(ordering, is_the_same_each_time) {
  const matrix a = cube(8);
  for (const ordering how : all) EXPECT_EQ(order_rows(a, how), order_rows(a, how));
}

index bandwidth(const matrix& a) {
  index widest = 0;
  for (index i = 0; i < a.rows; i++)
    for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) widest = std::max(widest, std::abs(i - a.columns[p]));
  return widest;
}

TEST(ordering, rcm_finds_a_narrow_band_in_a_shuffled_one) {
  std::mt19937_64 random(test_seed());
  matrix band;  // |i - j| <= 2, and a second component
  band.rows = 300;
  band.row_begin.push_back(0);
  for (index i = 0; i < band.rows; i++) {
    for (index j = std::max(0, i - 2); j <= std::min(band.rows - 1, i + 2); j++)
      if ((i < 200) == (j < 200)) band.columns.push_back(j), band.values.push_back(1);
    band.row_begin.push_back(static_cast<index>(band.columns.size()));
  }
  array<index> shuffle(300);
  std::iota(shuffle.begin(), shuffle.end(), 0);
  std::ranges::shuffle(shuffle, random);
  const matrix shuffled = permute(band, shuffle);
  EXPECT_GT(bandwidth(shuffled), 100);
  EXPECT_LE(bandwidth(permute(shuffled, order_rows(shuffled, ordering::rcm))), 4);
}

// The longest chain of rows that have to wait for each other.
index depth(const matrix& a) {
  const ilu f(a, {});
  array<index> level(static_cast<std::size_t>(a.rows), 1);
  for (index i = 0; i < a.rows; i++)
    for (index p = f.lower_begin()[i]; p < f.lower_begin()[i + 1]; p++) level[i] = std::max(level[i], level[f.lower_columns()[p]] + 1);
  return *std::ranges::max_element(level);
}

TEST(ordering, nested_dissection_shortens_chains) {
  const matrix a = cube(20);
  EXPECT_EQ(depth(a), 58);
  EXPECT_LT(depth(permute(a, order_rows(a, ordering::nested_dissection))), 40);
}

}  // namespace
}  // namespace weir::solver
