// red-black, sequentially: block by block in one array.
#include <bench/common/stencil/serial.hpp>
#include <bench/red-black/colours.hpp>
#include <bench/seidel-2d/tile.hpp>

namespace weir::bench {

serial_result solve_red_black(const configuration& c) {
  const stencil::extent size = stencil::extent::of(c.size);
  const stencil::block_grid grid(size, stencil::extent::of(c.block));
  std::vector<double> memory(stencil::padded_array<2>::memory_elements(size));
  const stencil::padded_array<2> array(memory.data(), size);
  array.fill(c.seed, {0, 0, 0}, size);

  const stopwatch watch;
  for (int t = 0; t < c.iterations; t++)
    for (int colour = 0; colour < colours; colour++)
      for (std::size_t b = 0; b < grid.count(); b++)
        if (colour_of(grid, b) == colour) seidel_2d_tile(tile_of(array, array, grid.origin(b), grid.shape(b)));
  const double seconds = watch.seconds();
  return {stencil::values_of(array), seconds};
}

}  // namespace weir::bench
