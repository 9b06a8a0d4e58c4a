// The symbolic phase of ILU(k): the patterns of both factors.
#pragma once

#include <weir/solver/matrix.hpp>

namespace weir::solver::detail {

// Columns left and right of the diagonal, which is in every row and in neither.
struct ilu_pattern {
  array<index> lower_begin, lower_columns, upper_begin, upper_columns;
};

// Throws matrix_error beyond 2^31 - 1 entries.
ilu_pattern symbolic_ilu(const matrix& a, int level);

}  // namespace weir::solver::detail
