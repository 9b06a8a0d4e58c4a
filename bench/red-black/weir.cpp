// red-black under weir: the tasks of seidel-2d, created colour by colour. A block's neighbours have the other colour,
// so in() finds what the last step of these wrote.
#include <bench/common/registry.hpp>
#include <bench/red-black/colours.hpp>
#include <bench/seidel-2d/program.hpp>

namespace weir::bench {
namespace {

class program final : public seidel_2d_program {
 public:
  explicit program(const configuration& c) : seidel_2d_program(c, "red-black") {}

 private:
  int steps() const override { return colours * options().iterations; }
  creation_order order() const override { return creation_order::old_neighbours; }
  void spawn(runtime& rt, int step, std::size_t b) override {
    if (colour_of(grid(), b) == (step - 1) % colours) spawn_task(rt, step, b);
  }
};

}  // namespace

kernel red_black() {
  kernel k = stencil::describe<2, stencil::method::seidel>();
  k.name = "red-black";
  k.description = "Gauss-Seidel stencil, 5 points, on blocks in two colours, double precision";
  k.defaults.size = {2048, 2048};
  k.defaults.block = {64, 256};
  k.defaults.iterations = 20;
  k.uses.by_hand = true;
  k.solve = solve_red_black;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
