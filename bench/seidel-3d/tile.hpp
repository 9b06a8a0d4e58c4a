// seidel-3d on one block: every element becomes the average of itself and its 6 nearest neighbours, in place, in the order of memory.
// Outside the array every value is stencil::boundary_value.
#pragma once

#include <bench/common/stencil/relax.hpp>

namespace weir::bench {

// One block, one iteration. Shared by the sequential program, weir and the peers.
inline void seidel_3d_tile(const stencil::tile& t) { stencil::relax<3, stencil::method::seidel>(t); }

}  // namespace weir::bench
