// Whether a matrix can be regular at all: a column for each row, by a maximum matching of the bipartite graph of entries.
#include <weir/solver/matrix.hpp>

#include <algorithm>
#include <vector>

namespace weir::solver {
namespace {

constexpr index none = -1;

bool has_full_diagonal(const matrix& a) {
  for (index i = 0; i < a.rows; i++)
    if (!std::binary_search(a.columns.begin() + a.row_begin[i], a.columns.begin() + a.row_begin[i + 1], i)) return false;
  return true;
}

// Duff's MC21: rows get columns one after the other; who finds all of his taken asks their owners to move, depth first.
class matching {
 public:
  explicit matching(const matrix& a)
      : a_(a), row_of_(n(), none), visited_by_(n(), none), free_from_(a.row_begin.begin(), a.row_begin.end() - 1), next_(n()) {}

  // False: all columns that the row can reach are taken for good.
  bool add(index row) {
    path_.assign(1, row);
    next_[row] = a_.row_begin[row];
    while (!path_.empty()) {
      const index last = path_.back();
      if (const index column = free_column(last); column != none) return take(column), true;
      if (!descend(last, row)) path_.pop_back();
    }
    return false;
  }

 private:
  std::size_t n() const { return static_cast<std::size_t>(a_.rows); }

  // A free column of this row. What was taken once stays taken, so that each entry is looked at only once for all calls.
  index free_column(index row) {
    for (index& p = free_from_[row]; p < a_.row_begin[row + 1]; p++)
      if (row_of_[a_.columns[p]] == none) return a_.columns[p];
    return none;
  }
  // Goes to the owner of the next column that this search has not seen.
  bool descend(index row, index search) {
    for (index& p = next_[row]; p < a_.row_begin[row + 1];) {
      const index column = a_.columns[p++];
      if (visited_by_[column] == search) continue;
      visited_by_[column] = search;
      const index owner = row_of_[column];
      next_[owner] = a_.row_begin[owner];
      path_.push_back(owner);
      return true;
    }
    return false;
  }
  // The last row of the path takes the free column, each one before it the column that its successor leaves.
  void take(index column) {
    row_of_[column] = path_.back();
    for (std::size_t i = path_.size() - 1; i-- > 0;) row_of_[a_.columns[next_[path_[i]] - 1]] = path_[i];
  }

  const matrix& a_;
  std::vector<index> row_of_;      // by column
  std::vector<index> visited_by_;  // by column: the row that was being added
  std::vector<index> free_from_;   // by row: entries before this one have taken columns
  std::vector<index> next_;        // by row: the entry at which the search goes on
  std::vector<index> path_;
};

}  // namespace

void check_structural_rank(const matrix& a) {
  if (has_full_diagonal(a)) return;
  matching found(a);
  index left_over = none, rank = a.rows;
  for (index i = 0; i < a.rows; i++) {
    if (found.add(i)) continue;
    if (left_over == none) left_over = i;
    rank--;
  }
  if (left_over == none) return;
  throw matrix_error("matrix: structurally singular: with these entries the rank is at most " + std::to_string(rank) + " of " + std::to_string(a.rows) + (a.block > 1 ? " block rows" : "") + "; no column is left for row " + std::to_string(left_over + 1));
}

}  // namespace weir::solver
