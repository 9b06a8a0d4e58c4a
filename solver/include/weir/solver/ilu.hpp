// Incomplete LU factorisation with levels of fill, ILU(k), by rows, and the triangular solves with it.
//
//   weir::solver::ilu preconditioner(a, {.level = 1});   // symbolic phase: which entries the factors have
//   preconditioner.factor(a);                            // numeric phase: their values; again whenever those of a change
//   preconditioner.solve(b, x);                          // x = U^-1 L^-1 b
//
// A row can be factored as soon as the rows named by its entries left of the diagonal are, and the same entries say which
// unknowns must be known before one in the forward solve: the rows are a task graph, which weir::solver::row_tasks runs.
// The rows_... functions are what its tasks call.
#pragma once

#include <weir/numa.hpp>
#include <weir/solver/matrix.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::solver {

struct ilu_options {
  // Fill with a level up to this one is kept: 0 is the pattern of the matrix, rows - 1 the complete factorisation.
  int level = 0;
  // 0: a pivot that is zero to rounding is an error. Else such a pivot becomes shift * the largest absolute value of its
  // row in the matrix; within blocks, this is added to the block's diagonal. 1e-3 to 1 are usual.
  double shift = 0;
};

inline constexpr int largest_level = 65534;

// A pivot is zero to rounding if it is not larger than this times the largest absolute value of its row in the matrix.
inline constexpr double zero_pivot_tolerance = 1e-14;

class ilu {
 public:
  // Symbolic phase: level of an entry (i, j) is 0 where the matrix has one, else the smallest level(i, h) + level(h, j) + 1
  // over rows h above both (Saad, Iterative Methods for Sparse Linear Systems, section 10.3.3). Each row is a merge of
  // sorted rows of U, linear in their length. Diagonal entries are added where the matrix has none.
  // Throws usage_error for a level or shift out of range, matrix_error beyond 2^31 - 1 entries.
  ilu(const matrix& a, const ilu_options& options);

  // Numeric phase, one row after the other, in the row-wise (IKJ) form. `a` has the pattern the symbolic phase saw.
  // Throws zero_pivot_error; the factors are then useless until the next call.
  void factor(const matrix& a);

  // x = (L U)^-1 b, vectors of order(); b and x may be the same. After factor().
  void solve(std::span<const double> b, std::span<double> x) const;

  index rows() const noexcept { return rows_; }  // block rows
  int block() const noexcept { return block_; }
  std::size_t order() const noexcept { return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(block_); }
  // Entries (blocks) of both factors, the diagonal once; and the bytes one pair of triangular solves reads of them.
  std::size_t entries() const noexcept { return lower_.columns.size() + upper_.columns.size() + static_cast<std::size_t>(rows_); }
  std::size_t bytes() const noexcept;
  // Pivots that were shifted by the last factor().
  std::int64_t shifted() const noexcept { return shifted_; }

  // What is done before row i, in the numeric phase and forwards: the rows lower_columns()[lower_begin()[i]] to
  // [lower_begin()[i + 1] - 1], ascending. Backwards: the rows upper_columns(i), descending.
  std::span<const index> lower_begin() const noexcept { return lower_.begin; }
  std::span<const index> lower_columns() const noexcept { return lower_.columns; }
  std::span<const index> lower_columns(index i) const noexcept { return {lower_.columns.data() + lower_.begin[i], static_cast<std::size_t>(lower_.begin[i + 1] - lower_.begin[i])}; }
  std::span<const index> upper_columns(index i) const noexcept {
    const index at = rows_ - 1 - i;
    return {upper_.columns.data() + upper_.begin[at], static_cast<std::size_t>(upper_.begin[at + 1] - upper_.begin[at])};
  }

  // ---- a part of the rows, for tasks

  // What one thread needs beside the factors: 8 bytes a row for scalars, 4 for blocks.
  class workspace {
   public:
    workspace() = default;
    explicit workspace(const ilu&);
    bool made() const noexcept { return !row.empty(); }

   private:
    friend class ilu;
    friend struct ilu_kernels;
    array<double> row;      // scalars: the row being factored, by column; blocks: by slot
    array<index> slot_of;   // blocks: the slot of a column, from 1; 0: not in this row
    std::int64_t shifted = 0;
  };

  // Before and after the rows of a factorisation: sets shifted() to the sum of the workspaces'.
  void begin_factor(std::span<workspace>) const;
  void end_factor(std::span<const workspace>);

  // These rows, in this order; what they depend on is done. Disjoint lists may be worked on at the same time.
  void factor_rows(const matrix& a, std::span<const index> rows, workspace&);
  void forward_rows(std::span<const double> b, std::span<double> x, std::span<const index> rows) const;
  // The last row first.
  void backward_rows(std::span<double> x, std::span<const index> rows) const;
  // What a task writes, and reads alone, of both factors: the row's numbers, columns and where they begin.
  void add_memory(index row, written_memory&);
  // See solver::in_small_pages: the numbers of both factors. Not their columns, which task graphs refer to.
  struct in_small_pages;

 private:
  friend struct ilu_kernels;

  void find_alike();

  // A triangle without its diagonal, in the order in which its solve reads it: the upper one from the last row to the
  // first, and in a row from right to left, because what prefetches memory is best at going forward.
  struct triangle {
    array<index> begin;    // rows + 1, by position: row i of the upper triangle is at position rows - 1 - i
    array<index> columns;
    array<double> values;  // a block an entry. Upper: before those of each row, the inverse of its diagonal block
  };

  index rows_ = 0;
  int block_ = 1;
  index longest_row_ = 0;      // entries of both factors, the diagonal once
  bool pattern_of_matrix_ = false;  // no fill and no added diagonal: every entry is set by the matrix
  // By row, for scalars only: 1 if the next row has the same columns, but for the two rows themselves, right of the diagonal;
  // left of it.
  array<std::uint8_t> alike_above_, alike_below_;
  bool many_alike_ = false;  // enough of them that the triangular solves look for pairs
  double shift_ = 0;
  std::int64_t shifted_ = 0;
  triangle lower_, upper_;      // unit lower and, for scalars, unit upper: A = L D U there, L U for blocks
};

struct ilu::in_small_pages {
  explicit in_small_pages(ilu& f) : lower(f.lower_.values), upper(f.upper_.values) {}
  solver::in_small_pages<double> lower, upper;
};

}  // namespace weir::solver
