// jacobi-1d under weir.
//
// Tasks read the previous iteration of their block and of their neighbours' sides. Each block has two data, written in
// turn, so that "the previous iteration" is what was announced last, in whatever order one iteration's tasks are
// created. In own memory it has two places.
#include <bench/jacobi-1d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/program.hpp>

namespace weir::bench {
namespace {

using stencil::side;
using base = stencil::program<1, stencil::method::jacobi>;

class program final : public base {
 public:
  using base::base;

 private:
  void spawn_private(runtime& rt, int t, std::size_t b) override { spawn(rt, b, blocks(t - 1), blocks(t)); }
  void spawn_own(runtime& rt, int t, std::size_t b) override { spawn(rt, b, own(t - 1), own(t)); }

  template <class Blocks>
  void spawn(runtime& rt, std::size_t b, const Blocks& old, const Blocks& now) {
    const auto halo = [&](side s) { return in(halo_of(old, b, s)); };
    rt.spawn(named, halo(side::west), halo(side::east), in(centre(old, b)), out(whole(now[b])),
             [this, b](auto west, auto east, auto centre, auto next) {
               jacobi_1d_tile(private_tile(b, centre, next, {west, east}));
               written(pages(), next);
             });
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& old = tokens(t - 1);
    const auto& now = tokens(t);
    const auto token = [&](side s) { return in(token_of(old, b, s)); };
    rt.spawn(named, token(side::west), token(side::east), in(old[b]), out(now[b]),
             [this, t, b](auto...) { jacobi_1d_tile(shared_tile(t, b)); });
  }

  static constexpr task_options named{.name = "jacobi-1d"};
};

}  // namespace

kernel jacobi_1d() {
  kernel k = stencil::describe<1, stencil::method::jacobi>();
  k.name = "jacobi-1d";
  k.description = "Jacobi stencil, 3 points, 1 dimension, double precision";
  k.defaults.size = {1 << 22};
  k.defaults.block = {1 << 14};
  k.defaults.iterations = 20;
  k.solve = solve_jacobi_1d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
