// seidel-1d under weir.
//
// Tasks are created in the order of the sweep, so in() finds what this iteration has already written to the
// west, and what the previous one wrote to the east. out(x[b]) makes a new version:
// nobody who still reads the old one is disturbed.
#include <bench/seidel-1d/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stencil/program.hpp>

namespace weir::bench {
namespace {

using stencil::side;
using base = stencil::program<1, stencil::method::seidel>;

class program final : public base {
 public:
  using base::base;

 private:
  void spawn_private(runtime& rt, int t, std::size_t b) override {
    const auto& x = blocks(t);
    const auto halo = [&](side s) { return in(halo_of(x, b, s)); };
    rt.spawn(named, halo(side::west), halo(side::east), in(centre(x, b)), out(x[b]),
             [this, b](auto west, auto east, auto centre, auto next) {
               seidel_1d_tile(private_tile(b, centre, next, {west, east}));
               written(pages(), next);
             });
  }

  // In place: whoever still reads the block's old sides runs before.
  void spawn_own(runtime& rt, int t, std::size_t b) override {
    const auto& x = own(t);
    const auto halo = [&](side s) { return in(halo_of(x, b, s)); };
    rt.spawn(named, halo(side::west), halo(side::east),
             inout(whole(x[b])), [this, b](auto west, auto east, auto block) {
               seidel_1d_tile(private_tile(b, block, block, {west, east}));
               written(pages(), block);
             });
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& x = tokens(t);
    const auto token = [&](side s) { return in(token_of(x, b, s)); };
    rt.spawn(named, token(side::west), token(side::east), in(x[b]), out(x[b]),
             [this, t, b](auto...) { seidel_1d_tile(shared_tile(t, b)); });
  }

  static constexpr task_options named{.name = "seidel-1d"};
};

}  // namespace

kernel seidel_1d() {
  kernel k = stencil::describe<1, stencil::method::seidel>();
  k.name = "seidel-1d";
  k.description = "Gauss-Seidel stencil, 3 points, 1 dimension, double precision";
  k.defaults.size = {1 << 22};
  k.defaults.block = {1 << 14};
  k.defaults.iterations = 20;
  k.solve = solve_seidel_1d;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
