// jacobi-3d, sequentially.
#include <bench/jacobi-3d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/serial.hpp>

namespace weir::bench {

serial_result solve_jacobi_3d(const configuration& c) { return stencil::solve<3, stencil::method::jacobi>(c, jacobi_3d_tile); }

}  // namespace weir::bench
