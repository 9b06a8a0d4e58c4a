// The tasks of Gauss-Seidel stencils in two dimensions under weir, whatever the order of the blocks.
#pragma once

#include <bench/common/stencil/program.hpp>
#include <bench/seidel-2d/tile.hpp>

namespace weir::bench {

class seidel_2d_program : public stencil::program<2, stencil::method::seidel> {
 public:
  seidel_2d_program(const configuration& c, const char* name) : program(c), named_{.name = name} {}

 private:
  using side = stencil::side;

  void spawn_private(runtime& rt, int t, std::size_t b) override {
    const auto& x = blocks(t);
    const auto halo = [&](side s) { return in(halo_of(x, b, s)); };
    rt.spawn(named_, halo(side::north), halo(side::east), halo(side::south), in(centre(x, b)), halo(side::west),
             out(x[b]), [this, b](auto north, auto east, auto south, auto centre, auto west, auto next) {
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
    const task_options task = named_of(named_.name, b);
    if (blocks_are_rows()) {
      rt.spawn(task, in(strip_below(t, b)), in(strip_above(t, b)), inout(strip(t, b)), relax);
      return;
    }
    const auto beside = [&](side s) { return in(own_beside(t, b, s)); };
    rt.spawn(task, beside(side::north), beside(side::east), beside(side::south), beside(side::west),
             inout(own_block(t, b)), relax);
  }

  void spawn_shared(runtime& rt, int t, std::size_t b) override {
    const auto& x = tokens(t);
    const auto token = [&](side s) { return in(token_of(x, b, s)); };
    rt.spawn(named_, token(side::north), token(side::east), token(side::south), in(x[b]), token(side::west), out(x[b]),
             [this, t, b](auto...) { seidel_2d_tile(shared_tile(t, b)); });
  }

  task_options named_;
};

}  // namespace weir::bench
