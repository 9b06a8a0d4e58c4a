// seidel-2d under weir.
//
// Tasks are created in the order of the sweep, so in() finds what this iteration has already written to the
// north and west, and what the previous one wrote to the east and south. out(x[b]) makes a new version:
// nobody who still reads the old one is disturbed.
//
// The west comes last: of inputs equally far from the beginning the last one is awaited first. So of the tasks that wait for
// a block its neighbour in the row was the first to wait, and runs first: rows are finished one after the other, and
// whoever owns the next rows can begin.
#include <bench/seidel-2d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/program.hpp>

namespace weir::bench {
namespace {

using stencil::side;
using base = stencil::program<2, stencil::method::seidel>;

class program final : public base {
 public:
  using base::base;

 private:
  void spawn_private(runtime& rt, int t, std::size_t b) override {
    const auto& x = blocks(t);
    const auto halo = [&](side s) { return in(halo_of(x, b, s)); };
    rt.spawn(named, halo(side::north), halo(side::east), halo(side::south), in(centre(x, b)), halo(side::west), out(x[b]),
             [this, b](auto north, auto east, auto south, auto centre, auto west, auto next) {
               seidel_2d_tile(private_tile(b, centre, next, {north, west, east, south}));
               written(pages(), next);
             });
  }

  // In place: whoever still reads the block's old values runs before.
  void spawn_own(runtime& rt, int t, std::size_t b) override {
    const auto relax = [this, t, b](auto...) {
      seidel_2d_tile(own_tile(t, b));
      written_own(t, b);
    };
    if (blocks_are_rows()) {
      rt.spawn(named, in(strip_below(t, b)), in(strip_above(t, b)), inout(strip(t, b)), relax);
      return;
    }
    const auto beside = [&](side s) { return in(own_beside(t, b, s)); };
    rt.spawn(named, beside(side::north), beside(side::east), beside(side::south), beside(side::west),
             inout(own_block(t, b)), relax);
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& x = tokens(t);
    const auto token = [&](side s) { return in(token_of(x, b, s)); };
    rt.spawn(named, token(side::north), token(side::east), token(side::south), in(x[b]), token(side::west), out(x[b]),
             [this, t, b](auto...) { seidel_2d_tile(shared_tile(t, b)); });
  }

  static constexpr task_options named{.name = "seidel-2d"};
};

}  // namespace

kernel seidel_2d() {
  kernel k = stencil::describe<2, stencil::method::seidel>();
  k.name = "seidel-2d";
  k.description = "Gauss-Seidel stencil, 5 points, 2 dimensions, double precision";
  k.defaults.size = {2048, 2048};
  k.defaults.block = {64, 256};
  k.defaults.iterations = 20;
  k.solve = solve_seidel_2d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
