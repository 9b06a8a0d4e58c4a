// Level of fill, row by row: a row of the matrix, merged with the rows of U that its entries left of the diagonal name.
#include "symbolic.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace weir::solver::detail {
namespace {

using level_t = std::uint16_t;

void check_size(std::size_t entries) {
  if (entries > static_cast<std::size_t>(std::numeric_limits<index>::max())) throw matrix_error("ILU: the factors have more than 2^31 - 1 entries: expected a smaller level, or an ordering with less fill");
}

// One row while it is being put together: columns in ascending order as a linked list, with their levels. The list begins
// and ends at column n, which no row has.
class open_row {
 public:
  explicit open_row(index n) : end_(n), next_(static_cast<std::size_t>(n) + 1), level_(static_cast<std::size_t>(n)) {}

  void begin(const matrix& a, index row) {
    index last = end_;
    const auto append = [&](index column) {
      level_[column] = 0;
      next_[last] = column;
      last = column;
    };
    bool has_diagonal = false;
    for (index p = a.row_begin[row]; p < a.row_begin[row + 1]; p++) {
      const index column = a.columns[p];
      if (!has_diagonal && column >= row) {
        has_diagonal = true;
        if (column > row) append(row);
      }
      append(column);
    }
    if (!has_diagonal) append(row);
    next_[last] = end_;
  }

  // Fill by a row of U whose pivot is `pivot`: its columns are ascending, and so is the walk through the list.
  void merge(index pivot, const index* columns, const level_t* levels, index n, int most) {
    const int base = level_[pivot] + 1;
    index at = pivot;
    for (index q = 0; q < n; q++) {
      const int level = base + levels[q];
      if (level > most) continue;
      const index column = columns[q];
      while (next_[at] < column) at = next_[at];
      if (next_[at] != column) insert_behind(at, column, level);
      else level_[column] = static_cast<level_t>(std::min<int>(level_[column], level));
      at = column;
    }
  }

  index first() const { return next_[end_]; }
  index next(index column) const { return next_[column]; }
  index end() const { return end_; }
  level_t level(index column) const { return level_[column]; }

 private:
  void insert_behind(index at, index column, int level) {
    next_[column] = next_[at];
    next_[at] = column;
    level_[column] = static_cast<level_t>(level);
  }

  index end_;
  std::vector<index> next_;
  std::vector<level_t> level_;
};

struct growing_triangle {
  array<index> begin;
  array<index> columns;

  void end_row(index row) {
    check_size(columns.size());
    begin[row + 1] = static_cast<index>(columns.size());
  }
};

growing_triangle empty_triangle(const matrix& a, std::size_t expected) {
  growing_triangle t{array<index>(static_cast<std::size_t>(a.rows) + 1), {}};
  t.begin[0] = 0;
  t.columns.reserve(expected);
  return t;
}

// Level 0: the matrix as it is.
ilu_pattern same_pattern(const matrix& a) {
  growing_triangle lower = empty_triangle(a, a.entries() / 2 + 1), upper = empty_triangle(a, a.entries() / 2 + 1);
  for (index i = 0; i < a.rows; i++) {
    const auto first = a.columns.begin() + a.row_begin[i], last = a.columns.begin() + a.row_begin[i + 1];
    auto p = first;
    for (; p != last && *p < i; ++p) lower.columns.push_back(*p);
    if (p != last && *p == i) ++p;
    upper.columns.insert(upper.columns.end(), p, last);
    lower.end_row(i), upper.end_row(i);
  }
  return {std::move(lower.begin), std::move(lower.columns), std::move(upper.begin), std::move(upper.columns)};
}

ilu_pattern with_fill(const matrix& a, int most) {
  // A guess: what a 7-point grid needs. Where it is too small the arrays grow.
  const std::size_t expected = a.entries() / 2 * static_cast<std::size_t>(std::min(most, 3) + 1);
  growing_triangle lower = empty_triangle(a, expected), upper = empty_triangle(a, expected);
  std::vector<level_t> levels;  // of upper.columns
  levels.reserve(expected);
  open_row row(a.rows);
  for (index i = 0; i < a.rows; i++) {
    row.begin(a, i);
    index j = row.first();
    for (; j < i; j = row.next(j)) {
      lower.columns.push_back(j);
      const index first = upper.begin[j];
      if (row.level(j) < most) row.merge(j, &upper.columns[first], &levels[first], upper.begin[j + 1] - first, most);
    }
    for (j = row.next(i); j != row.end(); j = row.next(j)) {
      upper.columns.push_back(j);
      levels.push_back(row.level(j));
    }
    lower.end_row(i), upper.end_row(i);
  }
  return {std::move(lower.begin), std::move(lower.columns), std::move(upper.begin), std::move(upper.columns)};
}

}  // namespace

ilu_pattern symbolic_ilu(const matrix& a, int level) { return level == 0 ? same_pattern(a) : with_fill(a, level); }

}  // namespace weir::solver::detail
