// Square sparse matrices by rows (CSR), whose entries are small dense blocks of b x b numbers; b is 1 for scalar ones.
#pragma once

#include <weir/error.hpp>
#include <weir/solver/array.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weir::solver {

// Rows, columns and positions of entries: 32 bits, because a triangular solve is as fast as its entries can be read.
using index = std::int32_t;

// A matrix, vector or file that cannot be used; what() says where and what was expected.
class matrix_error : public error {
 public:
  using error::error;
};

// Elimination met a pivot that is zero to rounding.
class zero_pivot_error : public matrix_error {
 public:
  zero_pivot_error(const std::string& message, std::int64_t row) : matrix_error(message), row_(row) {}
  // The scalar row, from 0, of the matrix that was factored (after its ordering).
  std::int64_t row() const noexcept { return row_; }

 private:
  std::int64_t row_;
};

inline constexpr int largest_block = 5;

struct matrix {
  index rows = 0;               // block rows, as many as block columns
  int block = 1;                // b, 1 to largest_block
  array<index> row_begin = {};  // rows + 1 positions: row i has the entries row_begin[i] to row_begin[i + 1] - 1
  array<index> columns = {};    // block columns, ascending within a row
  array<double> values = {};    // b * b numbers an entry, column by column

  std::size_t entries() const noexcept { return columns.size(); }                    // blocks
  std::size_t numbers() const noexcept { return values.size(); }                     // stored numbers: entries * b * b
  std::size_t order() const noexcept { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(block); }  // length of a vector
};

// Throws matrix_error if the arrays do not fit each other, a column is out of range, twice in a row or not ascending, a
// block is larger than largest_block or a value is not finite. O(entries).
void check(const matrix&);

// Throws matrix_error if no choice of values for the stored entries would make the matrix regular (its structural rank,
// that of the block pattern, is smaller than its order); names a row that is left over. O(entries) where all diagonal
// entries are stored; else a maximum matching by augmenting paths (Duff, MC21, ACM TOMS 7, 1981), at worst O(rows * entries).
void check_structural_rank(const matrix&);

// y = A x and y = b - A x, one after the other; vectors have a.order() elements. Rows [first, last) only.
void multiply_rows(const matrix& a, std::span<const double> x, std::span<double> y, index first, index last);
void residual_rows(const matrix& a, std::span<const double> x, std::span<const double> b, std::span<double> y, index first, index last);
inline void multiply(const matrix& a, std::span<const double> x, std::span<double> y) { multiply_rows(a, x, y, 0, a.rows); }

}  // namespace weir::solver
