// seidel-2d under OpenMP: a loop over each diagonal of blocks, or tasks with dependences.
#include <bench/common/registry.hpp>
#include <bench/seidel-2d/tile.hpp>
#include <bench/peers/openmp.hpp>

namespace {

using namespace weir::bench;
using stencil::side;
using problem = peers::stencil_problem<stencil::method::seidel>;

// The loop goes over all rows of blocks, so that a row always belongs to the thread that filled it.
void loop(const problem& p) {
#pragma omp parallel
  for (int t = 1; t <= p.iterations(); t++)
    for (int diagonal = 0; diagonal < p.rows() + p.columns() - 1; diagonal++) {
#pragma omp for schedule(static)
      for (int row = 0; row < p.rows(); row++) {
        const int column = diagonal - row;
        if (column >= 0 && column < p.columns()) seidel_2d_tile(p.tile(t, row * p.columns() + column));
      }
    }
}

// One address a block stands for it in the dependences. At the end of the array a neighbour is the block itself.
void tasks(const problem& p) {
  const std::vector<char> addresses(p.grid().count());
  [[maybe_unused]] const char* x = addresses.data();
#pragma omp parallel
#pragma omp single
  for (int t = 1; t <= p.iterations(); t++)
    for (int b = 0; b < p.blocks(); b++) {
      [[maybe_unused]] const int north = p.neighbour(b, side::north), west = p.neighbour(b, side::west), east = p.neighbour(b, side::east), south = p.neighbour(b, side::south);
#pragma omp task firstprivate(t, b) shared(p) depend(in : x[north], x[west], x[east], x[south]) depend(inout : x[b])
      seidel_2d_tile(p.tile(t, b));
    }
}

void tiles(const peers::tiled_stencil<stencil::method::seidel>& p, int iterations) {
  for (int t = 1; t <= iterations; t++)
    for (std::size_t b = 0; b < p.parts(); b++) peers::create_seidel_task(p, b, seidel_2d_tile);
}

}  // namespace

int main(int argc, char** argv) {
  return peers::run_openmp<stencil::method::seidel>(argc, argv, "seidel-2d", seidel_2d_tile, solve_seidel_2d,
                                                    {.loop = loop, .tasks = tasks, .tiles = tiles});
}
