// jacobi-1d on one block: every element becomes the average of itself and its 2 nearest neighbours in the previous iteration.
// Outside the array every value is stencil::boundary_value.
#pragma once

#include <bench/common/stencil/relax.hpp>

namespace weir::bench {

// One block, one iteration. Shared by the sequential program, weir and the peers.
inline void jacobi_1d_tile(const stencil::tile& t) { stencil::relax<1, stencil::method::jacobi>(t); }

}  // namespace weir::bench
