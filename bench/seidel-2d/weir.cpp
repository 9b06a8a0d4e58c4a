// seidel-2d under weir.
//
// Tasks are created in the order of the sweep, so in() finds what this iteration has already written to the
// north and west, and what the previous one wrote to the east and south. out(x[b]) makes a new version:
// nobody who still reads the old one is disturbed.
//
// The west comes last: of inputs equally far from the beginning the last one is awaited first. So of the tasks that wait for
// a block its neighbour in the row was the first to wait, and runs first: rows are finished one after the other, and
// whoever owns the next rows can begin.
#include <bench/common/registry.hpp>
#include <bench/seidel-2d/program.hpp>

namespace weir::bench {

kernel seidel_2d() {
  kernel k = stencil::describe<2, stencil::method::seidel>();
  k.name = "seidel-2d";
  k.description = "Gauss-Seidel stencil, 5 points, 2 dimensions, double precision";
  k.defaults.size = {2048, 2048};
  k.defaults.block = {64, 256};
  k.defaults.iterations = 20;
  k.uses.by_hand = true;
  k.solve = solve_seidel_2d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> {
    return std::make_unique<seidel_2d_program>(c, "seidel-2d");
  };
  return k;
}

}  // namespace weir::bench
