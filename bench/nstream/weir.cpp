// nstream under weir: a task a block and iteration.
#include <bench/common/check.hpp>
#include <bench/common/own_program.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/nstream/vectors.hpp>

#include <optional>

namespace weir::bench {
namespace {

class program final : public own_program {
 public:
  using own_program::own_program;

  verification verify(const std::any& expected) const override { return x_->verify(expected); }
  std::uint64_t live_bytes() const override { return 3 * options().size[0] * sizeof(double); }

 private:
  void allocate() override { x_.emplace(options()); }
  std::size_t parts() const override { return x_->parts(); }
  void fill(std::size_t block) override { x_->fill(block); }
  void spawn_fill(runtime& rt, std::size_t block) override {
    rt.spawn(named_fill(block, parts()), out(ref(x_->a(block))), out(ref(x_->b(block))), out(ref(x_->c(block))),
             [this, block](auto...) { fill(block); });
  }
  int steps() const override { return options().iterations; }
  void create(runtime& rt, int) override {
    for (std::size_t block = 0; block < parts(); block++)
      rt.spawn(named("triad", block, parts()), in(ref(x_->b(block))), in(ref(x_->c(block))), inout(ref(x_->a(block))),
               [this](auto b, auto c, auto a) {
                 nstream::triad(a, b, c);
                 written(pages(), a);
               });
  }

  std::optional<nstream::vectors> x_;
};

// The vectors, the sequential program's, and its result.
std::uint64_t memory_bytes(const configuration& c) { return saturating_product(c.size, 7 * sizeof(double)); }

}  // namespace

kernel nstream_kernel() {
  kernel k;
  k.name = "nstream";
  k.description = "a += b + 3 c of vectors (Parallel Research Kernels), double precision";
  k.size_meaning = k.block_meaning = "ELEMENTS";
  k.uses = own_program_uses();
  k.uses.iterations = true;
  k.defaults.size = {1 << 21};
  k.defaults.block = {1 << 15};
  k.defaults.iterations = 20;
  k.defaults.init = first_touch::tasks;
  k.memory_bytes = memory_bytes;
  k.solve = solve_nstream;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
