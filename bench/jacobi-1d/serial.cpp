// jacobi-1d, sequentially.
#include <bench/jacobi-1d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/serial.hpp>

namespace weir::bench {

serial_result solve_jacobi_1d(const configuration& c) { return stencil::solve<1, stencil::method::jacobi>(c, jacobi_1d_tile); }

}  // namespace weir::bench
