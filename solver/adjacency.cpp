// The pattern of A + A^T: rows and columns merged.
#include "adjacency.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weir::solver::detail {
namespace {

// Columns of A^T: ascending, because rows are visited in order.
adjacency transposed(const matrix& a) {
  adjacency t{a.rows, array<index>(static_cast<std::size_t>(a.rows) + 1, 0), array<index>(a.entries())};
  for (const index j : a.columns) t.begin[j + 1]++;
  std::partial_sum(t.begin.begin(), t.begin.end(), t.begin.begin());
  array<index> next(t.begin);
  for (index i = 0; i < a.rows; i++)
    for (index p = a.row_begin[i]; p < a.row_begin[i + 1]; p++) t.neighbours[next[a.columns[p]]++] = i;
  return t;
}

}  // namespace

adjacency adjacency_of(const matrix& a) {
  const adjacency t = transposed(a);
  adjacency g{a.rows, array<index>(static_cast<std::size_t>(a.rows) + 1), {}};
  g.neighbours.reserve(a.entries());
  array<index> both;
  g.begin[0] = 0;
  for (index i = 0; i < a.rows; i++) {
    both.clear();
    const std::span<const index> row(a.columns.data() + a.row_begin[i], static_cast<std::size_t>(a.row_begin[i + 1] - a.row_begin[i]));
    std::ranges::set_union(row, t.of(i), std::back_inserter(both));
    std::ranges::copy_if(both, std::back_inserter(g.neighbours), [i](index j) { return j != i; });
    if (g.neighbours.size() > static_cast<std::size_t>(std::numeric_limits<index>::max())) throw matrix_error("ordering: the pattern of A + A^T has more than 2^31 - 1 entries");
    g.begin[i + 1] = static_cast<index>(g.neighbours.size());
  }
  return g;
}

}  // namespace weir::solver::detail
