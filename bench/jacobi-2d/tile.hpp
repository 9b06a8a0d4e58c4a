// jacobi-2d on one block: every element becomes the average of itself and its 4 nearest neighbours in the previous iteration.
// Outside the array every value is stencil::boundary_value.
#pragma once

#include <bench/common/stencil/relax.hpp>

namespace weir::bench {

// One block, one iteration. Shared by the sequential program, weir and the peers.
inline void jacobi_2d_tile(const stencil::tile& t) { stencil::relax<2, stencil::method::jacobi>(t); }

}  // namespace weir::bench
