// seidel-3d under weir.
//
// Tasks are created in the order of the sweep, so in() finds what this iteration has already written to the
// front, north and west, and what the previous one wrote to the east, south and back. out(x[b]) makes a new version:
// nobody who still reads the old one is disturbed. The west comes last for the reason given in seidel-2d.
#include <bench/seidel-3d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/program.hpp>

namespace weir::bench {
namespace {

using stencil::side;
using base = stencil::program<3, stencil::method::seidel>;

class program final : public base {
 public:
  using base::base;

 private:
  void spawn_private(runtime& rt, int t, std::size_t b) override {
    const auto& x = blocks(t);
    const auto halo = [&](side s) { return in(halo_of(x, b, s)); };
    rt.spawn(named, halo(side::front), halo(side::north), halo(side::east),
             halo(side::south), halo(side::back), in(centre(x, b)), halo(side::west), out(x[b]),
             [this, b](auto front, auto north, auto east, auto south, auto back, auto centre, auto west, auto next) {
               seidel_3d_tile(private_tile(b, centre, next, {front, north, west, east, south, back}));
               written(pages(), next);
             });
  }

  // In place: whoever still reads the block's old sides runs before.
  void spawn_own(runtime& rt, int t, std::size_t b) override {
    const auto& x = own(t);
    const auto halo = [&](side s) { return in(halo_of(x, b, s)); };
    rt.spawn(named, halo(side::front), halo(side::north), halo(side::east), halo(side::south), halo(side::back),
             halo(side::west), inout(whole(x[b])),
             [this, b](auto front, auto north, auto east, auto south, auto back, auto west, auto block) {
               seidel_3d_tile(private_tile(b, block, block, {front, north, west, east, south, back}));
               written(pages(), block);
             });
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& x = tokens(t);
    const auto token = [&](side s) { return in(token_of(x, b, s)); };
    rt.spawn(named, token(side::front), token(side::north), token(side::east),
             token(side::south), token(side::back), in(x[b]), token(side::west), out(x[b]),
             [this, t, b](auto...) { seidel_3d_tile(shared_tile(t, b)); });
  }

  static constexpr task_options named{.name = "seidel-3d"};
};

}  // namespace

kernel seidel_3d() {
  kernel k = stencil::describe<3, stencil::method::seidel>();
  k.name = "seidel-3d";
  k.description = "Gauss-Seidel stencil, 7 points, 3 dimensions, double precision";
  k.defaults.size = {128, 192, 192};
  k.defaults.block = {16, 32, 64};
  k.defaults.iterations = 20;
  k.solve = solve_seidel_3d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
