// seidel-2d, sequentially.
#include <bench/seidel-2d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/serial.hpp>

namespace weir::bench {

serial_result solve_seidel_2d(const configuration& c) { return stencil::solve<2, stencil::method::seidel>(c, seidel_2d_tile); }

}  // namespace weir::bench
