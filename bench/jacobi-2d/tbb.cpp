// jacobi-2d under oneTBB: a flow graph, or a loop whose blocks go back to the worker that had them before.
#include <bench/jacobi-2d/tile.hpp>
#include <bench/peers/onetbb.hpp>

namespace {

using namespace weir::bench;
using stencil::side;
using problem = peers::stencil_problem<stencil::method::jacobi>;

void flow(const problem& p) {
  peers::run_flow_graph(p, jacobi_2d_tile, [&](int t, int b, const auto& after) {
    if (t == 1) return;
    after(t - 1, b);
    for (const side s : {side::north, side::west, side::east, side::south})
      if (const int n = p.neighbour(b, s); n != b) after(t - 1, n);
  });
}

void loop(const problem& p, tbb::affinity_partitioner& partition) {
  for (int t = 1; t <= p.iterations(); t++) tbb::parallel_for(0, p.blocks(), [&](int b) { jacobi_2d_tile(p.tile(t, b)); }, partition);
}

}  // namespace

int main(int argc, char** argv) { return peers::run_onetbb<stencil::method::jacobi>(argc, argv, "jacobi-2d", jacobi_2d_tile, flow, loop); }
