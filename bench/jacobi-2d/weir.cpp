// jacobi-2d under weir.
//
// Tasks read the previous iteration of their block and of their neighbours' sides. Each block has two data, written in
// turn, so that "the previous iteration" is what was announced last, in whatever order one iteration's tasks are
// created. In own memory it has two places.
#include <bench/jacobi-2d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/program.hpp>

namespace weir::bench {
namespace {

using stencil::side;
using base = stencil::program<2, stencil::method::jacobi>;

class program final : public base {
 public:
  using base::base;

 private:
  void spawn_private(runtime& rt, int t, std::size_t b) override {
    const auto& old = blocks(t - 1);
    const auto halo = [&](side s) { return in(halo_of(old, b, s)); };
    rt.spawn(named, halo(side::north), halo(side::west), halo(side::east), halo(side::south), in(centre(old, b)),
             out(blocks(t)[b]), [this, b](auto north, auto west, auto east, auto south, auto centre, auto next) {
               jacobi_2d_tile(private_tile(b, centre, next, {north, west, east, south}));
               written(pages(), next);
             });
  }

  void spawn_own(runtime& rt, int t, std::size_t b) override {
    const auto relax = [this, t, b](auto...) {
      jacobi_2d_tile(own_tile(t, b));
      written_own(t, b);
    };
    const task_options task = named_of(named.name, b);
    if (blocks_are_rows()) {
      rt.spawn(task, in(strip_above(t - 1, b)), in(strip(t - 1, b)), in(strip_below(t - 1, b)), out(strip(t, b)),
               relax);
      return;
    }
    const auto beside = [&](side s) { return in(own_beside(t - 1, b, s)); };
    rt.spawn(task, beside(side::north), beside(side::west), beside(side::east), beside(side::south),
             in(own_block(t - 1, b)), out(own_block(t, b)), relax);
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& old = tokens(t - 1);
    const auto& now = tokens(t);
    const auto token = [&](side s) { return in(token_of(old, b, s)); };
    rt.spawn(named, token(side::north), token(side::west), token(side::east), token(side::south), in(old[b]), out(now[b]),
             [this, t, b](auto...) { jacobi_2d_tile(shared_tile(t, b)); });
  }

  static constexpr task_options named{.name = "jacobi-2d"};
};

}  // namespace

kernel jacobi_2d() {
  kernel k = stencil::describe<2, stencil::method::jacobi>();
  k.name = "jacobi-2d";
  k.description = "Jacobi stencil, 5 points, 2 dimensions, double precision";
  k.defaults.size = {2048, 2048};
  k.defaults.block = {64, 256};
  k.defaults.iterations = 20;
  k.uses.by_hand = true;
  k.solve = solve_jacobi_2d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
