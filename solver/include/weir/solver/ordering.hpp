// The order of rows and columns: it decides how much fill there is, how good the preconditioner is, and how many rows can
// be worked on at the same time.
#pragma once

#include <weir/solver/matrix.hpp>

#include <span>
#include <string>

namespace weir::solver {

enum class ordering : std::uint8_t {
  natural,            // when the matrix comes in a good order already, as grids do
  rcm,                // reverse Cuthill-McKee: when entries lie far from the diagonal; little fill, long chains of rows
  nested_dissection,  // when many rows shall be worked on at once; more iterations than the others, as a rule
};

// "natural", "rcm" or "nd". Throws usage_error that lists these.
ordering parse_ordering(const std::string& name);

// Which row of the matrix becomes row 0, 1, ... Works on the pattern of A + A^T, by blocks. Reverse Cuthill-McKee (George
// and Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981, chapter 4; each component begins at a
// pseudo-peripheral row) is linear but for sorting the neighbours of each row; nested dissection is Scotch's, some 10 us a row.
// Deterministic. Throws matrix_error if Scotch fails.
array<index> order_rows(const matrix& a, ordering how);

// The matrix with the rows and columns order[0], order[1], ... O(entries * log(entries of a row)).
matrix permute(const matrix& a, std::span<const index> order);

// to[i] = from[order[i]] and to[order[i]] = from[i], by blocks of `block` numbers.
void permute(std::span<const double> from, std::span<double> to, std::span<const index> order, int block);
void permute_back(std::span<const double> from, std::span<double> to, std::span<const index> order, int block);

}  // namespace weir::solver
