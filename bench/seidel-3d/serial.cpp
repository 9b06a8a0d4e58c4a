// seidel-3d, sequentially.
#include <bench/seidel-3d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/serial.hpp>

namespace weir::bench {

serial_result solve_seidel_3d(const configuration& c) { return stencil::solve<3, stencil::method::seidel>(c, seidel_3d_tile); }

}  // namespace weir::bench
