// jacobi-3d under weir.
//
// Tasks read the previous iteration of their block and of their neighbours' sides. Each block has two data, written in
// turn, so that "the previous iteration" is what was announced last, in whatever order one iteration's tasks are
// created. In own memory it has two places.
#include <bench/jacobi-3d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/program.hpp>

namespace weir::bench {
namespace {

using stencil::side;
using base = stencil::program<3, stencil::method::jacobi>;

class program final : public base {
 public:
  using base::base;

 private:
  void spawn_private(runtime& rt, int t, std::size_t b) override { spawn(rt, b, blocks(t - 1), blocks(t)); }
  void spawn_own(runtime& rt, int t, std::size_t b) override { spawn(rt, b, own(t - 1), own(t)); }

  template <class Blocks>
  void spawn(runtime& rt, std::size_t b, const Blocks& old, const Blocks& now) {
    const auto halo = [&](side s) { return in(halo_of(old, b, s)); };
    rt.spawn(named, halo(side::front), halo(side::north), halo(side::west),
             halo(side::east), halo(side::south), halo(side::back), in(centre(old, b)), out(whole(now[b])),
             [this, b](auto front, auto north, auto west, auto east, auto south, auto back, auto centre, auto next) {
               jacobi_3d_tile(private_tile(b, centre, next, {front, north, west, east, south, back}));
               written(pages(), next);
             });
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& old = tokens(t - 1);
    const auto& now = tokens(t);
    const auto token = [&](side s) { return in(token_of(old, b, s)); };
    rt.spawn(named, token(side::front), token(side::north), token(side::west),
             token(side::east), token(side::south), token(side::back), in(old[b]), out(now[b]),
             [this, t, b](auto...) { jacobi_3d_tile(shared_tile(t, b)); });
  }

  static constexpr task_options named{.name = "jacobi-3d"};
};

}  // namespace

kernel jacobi_3d() {
  kernel k = stencil::describe<3, stencil::method::jacobi>();
  k.name = "jacobi-3d";
  k.description = "Jacobi stencil, 7 points, 3 dimensions, double precision";
  k.defaults.size = {128, 192, 192};
  k.defaults.block = {16, 32, 64};
  k.defaults.iterations = 20;
  k.solve = solve_jacobi_3d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
