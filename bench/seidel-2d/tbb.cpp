// seidel-2d under oneTBB: a flow graph.
#include <bench/seidel-2d/tile.hpp>
#include <bench/peers/onetbb.hpp>

namespace {

using namespace weir::bench;
using stencil::side;
using problem = peers::stencil_problem<stencil::method::seidel>;

void flow(const problem& p) {
  peers::run_flow_graph(p, seidel_2d_tile, [&](int t, int b, const auto& after) {
    for (const side s : {side::north, side::west})
      if (const int n = p.neighbour(b, s); n != b) after(t, n);
    if (t == 1) return;
    after(t - 1, b);
    for (const side s : {side::east, side::south})
      if (const int n = p.neighbour(b, s); n != b) after(t - 1, n);
  });
}

}  // namespace

int main(int argc, char** argv) { return peers::run_onetbb<stencil::method::seidel>(argc, argv, "seidel-2d", seidel_2d_tile, flow, nullptr); }
