// The factor Cholesky's programs compute, and how good it is.
#pragma once

#include <bench/cholesky/tile.hpp>
#include <bench/common/kernel.hpp>

#include <vector>

namespace weir::bench {

namespace factorization {

// Tile (i, j) of L is tiles[tiling::index(i, j)].
using factor = std::vector<std::vector<double>>;

inline tiling tiling_of(const configuration& c) { return {c.size[0], c.block[0], c.seed}; }

// ||A - L L^T|| / ||A|| in the Frobenius norm. Costs as much as three factorizations.
double residual(const tiling&, const factor&);

}  // namespace factorization

// The value is a factorization::factor.
serial_result solve_cholesky(const configuration&);

}  // namespace weir::bench
