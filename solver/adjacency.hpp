// Who is beside whom: the pattern of A + A^T without its diagonal.
#pragma once

#include <weir/solver/matrix.hpp>

#include <span>

namespace weir::solver::detail {

struct adjacency {
  index rows = 0;
  array<index> begin, neighbours;  // ascending

  std::span<const index> of(index i) const { return {neighbours.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])}; }
  index degree(index i) const { return begin[i + 1] - begin[i]; }
};

// Throws matrix_error where there are more than 2^31 - 1 pairs. O(entries).
adjacency adjacency_of(const matrix& a);

// Reverse Cuthill-McKee.
array<index> rcm(const adjacency& g);

// Nested dissection. Throws matrix_error.
array<index> nested_dissection(const adjacency& g);

}  // namespace weir::solver::detail
