// red-black under OpenMP: tasks with dependences, or a static loop over the blocks of a colour.
#include <bench/peers/openmp_application.hpp>
#include <bench/peers/tiled_stencil.hpp>
#include <bench/red-black/colours.hpp>
#include <bench/seidel-2d/tile.hpp>

namespace {

using namespace weir::bench;
using problem = peers::tiled_stencil<stencil::method::seidel>;

void fills(const problem& p) { peers::create_fills(p); }

void tasks(const problem& p, int iterations) {
  for (int step = 1; step <= colours * iterations; step++)
    for (std::size_t b = 0; b < p.parts(); b++)
      if (colour_of(p.grid(), b) == (step - 1) % colours) peers::create_seidel_task(p, b, seidel_2d_tile);
}

// The loop goes over all blocks, so that a block always belongs to the thread that filled it.
void loop(const problem& p, int iterations) {
  for (int step = 1; step <= colours * iterations; step++) {
#pragma omp for schedule(static)
    for (std::size_t b = 0; b < p.parts(); b++)
      if (colour_of(p.grid(), b) == (step - 1) % colours) seidel_2d_tile(p.tile(0, b));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return peers::run_application<problem>(argc, argv, {}, "red-black", solve_red_black,
                                         {.fills = fills, .tasks = tasks, .loop = loop});
}
