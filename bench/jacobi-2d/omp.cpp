// jacobi-2d under OpenMP: a static loop over the blocks, or tasks with dependences.
#include <bench/common/registry.hpp>
#include <bench/jacobi-2d/tile.hpp>
#include <bench/peers/openmp.hpp>

namespace {

using namespace weir::bench;
using stencil::side;
using problem = peers::stencil_problem<stencil::method::jacobi>;

void loop(const problem& p) {
#pragma omp parallel
  for (int t = 1; t <= p.iterations(); t++) {
#pragma omp for schedule(static)
    for (int b = 0; b < p.blocks(); b++) jacobi_2d_tile(p.tile(t, b));
  }
}

// One address a block and array stands for the block in the dependences.
void tasks(const problem& p) {
  std::vector<char> addresses[2] = {std::vector<char>(p.grid().count()), std::vector<char>(p.grid().count())};
#pragma omp parallel
#pragma omp single
  for (int t = 1; t <= p.iterations(); t++) {
    [[maybe_unused]] const char *old = addresses[(t - 1) & 1].data(), *next = addresses[t & 1].data();
    for (int b = 0; b < p.blocks(); b++) {
      [[maybe_unused]] const int north = p.neighbour(b, side::north), west = p.neighbour(b, side::west), east = p.neighbour(b, side::east), south = p.neighbour(b, side::south);
#pragma omp task firstprivate(t, b) shared(p) depend(in : old[north], old[west], old[b], old[east], old[south]) depend(out : next[b])
      jacobi_2d_tile(p.tile(t, b));
    }
  }
}

// A block's first element stands for it.
void tiles(const peers::tiled_stencil<stencil::method::jacobi>& p, int iterations) {
  for (int t = 1; t <= iterations; t++)
    for (std::size_t b = 0; b < p.parts(); b++) {
      [[maybe_unused]] const double *const old = p.first(t - 1, b), *const north = p.first(t - 1, b, side::north),
                                    *const west = p.first(t - 1, b, side::west),
                                    *const east = p.first(t - 1, b, side::east),
                                    *const south = p.first(t - 1, b, side::south), *const next = p.first(t, b);
#pragma omp task firstprivate(t, b) shared(p) \
    depend(in : old[0], north[0], west[0], east[0], south[0]) depend(out : next[0])
      jacobi_2d_tile(p.tile(t, b));
    }
}

}  // namespace

int main(int argc, char** argv) {
  return peers::run_openmp<stencil::method::jacobi>(argc, argv, "jacobi-2d", jacobi_2d_tile, solve_jacobi_2d,
                                                    {.loop = loop, .tasks = tasks, .tiles = tiles});
}
