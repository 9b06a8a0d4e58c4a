// nstream under OpenMP: tasks with dependences, or a static loop. A block's first elements stand for it.
#include <bench/nstream/vectors.hpp>
#include <bench/peers/openmp_application.hpp>

namespace {

using namespace weir::bench;
using nstream::vectors;

void fills(const vectors& x) {
  for (std::size_t block = 0; block < x.parts(); block++) {
    [[maybe_unused]] double *const a = x.a(block).data(), *const b = x.b(block).data(), *const c = x.c(block).data();
#pragma omp task firstprivate(block) shared(x) depend(out : a[0], b[0], c[0])
    x.fill(block);
  }
}

void tasks(const vectors& x, int iterations) {
  for (int t = 0; t < iterations; t++)
    for (std::size_t block = 0; block < x.parts(); block++) {
      [[maybe_unused]] double *const a = x.a(block).data(), *const b = x.b(block).data(), *const c = x.c(block).data();
#pragma omp task firstprivate(block) shared(x) depend(in : b[0], c[0]) depend(inout : a[0])
      x.iterate(block);
    }
}

void loop(const vectors& x, int iterations) {
  for (int t = 0; t < iterations; t++) {
#pragma omp for schedule(static)
    for (std::size_t block = 0; block < x.parts(); block++) x.iterate(block);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const peers::program_form form{.dimensions = 1, .block_dimensions = 1,
                                 .defaults = {.size = {1, 1 << 21, 1}, .block = {1, 1 << 15, 1}}};
  return peers::run_application<vectors>(argc, argv, form, "nstream", solve_nstream,
                                         {.fills = fills, .tasks = tasks, .loop = loop});
}
