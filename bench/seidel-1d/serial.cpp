// seidel-1d, sequentially.
#include <bench/seidel-1d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/serial.hpp>

namespace weir::bench {

serial_result solve_seidel_1d(const configuration& c) { return stencil::solve<1, stencil::method::seidel>(c, seidel_1d_tile); }

}  // namespace weir::bench
