// jacobi-2d, sequentially.
#include <bench/jacobi-2d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/serial.hpp>

namespace weir::bench {

serial_result solve_jacobi_2d(const configuration& c) { return stencil::solve<2, stencil::method::jacobi>(c, jacobi_2d_tile); }

}  // namespace weir::bench
