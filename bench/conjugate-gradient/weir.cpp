// conjugate-gradient under weir: three tasks a block and iteration, and two that add up what the blocks have.
#include <bench/common/check.hpp>
#include <bench/common/own_program.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/conjugate-gradient/system.hpp>

#include <limits>
#include <optional>

namespace weir::bench {
namespace {

class program final : public own_program {
 public:
  using own_program::own_program;

  verification verify(const std::any& expected) const override { return s_->verify(expected); }
  std::uint64_t live_bytes() const override { return s_->bytes(); }

 private:
  void allocate() override { s_.emplace(options()); }
  std::size_t parts() const override { return s_->parts(); }
  void fill(std::size_t b) override { s_->fill(b); }
  void spawn_fill(runtime& rt, std::size_t b) override;
  // Before the iterations, one step adds up r r.
  int steps() const override { return 1 + options().iterations; }
  void create(runtime& rt, int step) override;
  void spawn_multiply(runtime& rt, std::size_t b);
  void spawn_advance(runtime& rt, std::size_t b);

  std::optional<conjugate_gradient::linear_system> s_;
};

// The matrix is only read after this, so that the tasks may name it as const.
void program::spawn_fill(runtime& rt, std::size_t b) {
  const auto written_by_fill = [](auto part) {
    using element = std::remove_const_t<typename decltype(part)::element_type>;
    return out(ref(std::span<element>(const_cast<element*>(part.data()), part.size())));
  };
  rt.spawn(named_fill(b, parts()), written_by_fill(s_->values(b)), written_by_fill(s_->columns(b)),
           written_by_fill(s_->starts(b)), out(ref(s_->x(b))), out(ref(s_->r(b))), out(ref(s_->p(b))),
           out(ref(s_->q(b))), out(ref(s_->pq(b))), out(ref(s_->rr(b))), [this, b](auto...) { fill(b); });
}

void program::spawn_multiply(runtime& rt, std::size_t b) {
  rt.spawn(named("multiply", b, parts()), in(ref(s_->values(b))), in(ref(s_->columns(b))), in(ref(s_->starts(b))),
           in(ref(s_->p_before(b))), in(ref(s_->p(b))), in(ref(s_->p_after(b))), out(ref(s_->q(b))),
           out(ref(s_->pq(b))), [this, b](auto...) {
             s_->multiply(b);
             written(pages(), s_->q(b));
           });
}

void program::spawn_advance(runtime& rt, std::size_t b) {
  rt.spawn(named("advance", b, parts()), in(ref(s_->alpha())), in(ref(s_->p(b))), in(ref(s_->q(b))),
           inout(ref(s_->x(b))), inout(ref(s_->r(b))), out(ref(s_->rr(b))), [this, b](auto...) {
             s_->advance(b);
             written(pages(), s_->x(b));
           });
}

void program::create(runtime& rt, int step) {
  if (step == 0) {
    rt.spawn(named("begin"), in(ref(s_->all_rr())), out(ref(s_->rho())), [this](auto...) { s_->begin(); });
    return;
  }
  for (std::size_t b = 0; b < parts(); b++) spawn_multiply(rt, b);
  rt.spawn(named("step length"), in(ref(s_->all_pq())), in(ref(s_->rho())), out(ref(s_->alpha())),
           [this](auto...) { s_->step_length(); });
  for (std::size_t b = 0; b < parts(); b++) spawn_advance(rt, b);
  rt.spawn(named("step direction"), in(ref(s_->all_rr())), inout(ref(s_->rho())), out(ref(s_->beta())),
           [this](auto...) { s_->step_direction(); });
  for (std::size_t b = 0; b < parts(); b++)
    rt.spawn(named("turn", b, parts()), in(ref(s_->beta())), in(ref(s_->r(b))), inout(ref(s_->p(b))),
             [this, b](auto...) { s_->turn(b); });
}

void complete(configuration& c) {
  if (c.size.size() != 2) return;
  if (c.block.size() == 1) c.block.push_back(c.size[1]);
  if (c.block.size() == 2 && c.block[1] != c.size[1])
    throw input_error("conjugate-gradient: --block: rows of the grid are not cut; expected one number, of rows");
  // Entries are counted in 32 bits, as in the matrices people have.
  if (saturating_product(c.size, 5) > std::numeric_limits<std::int32_t>::max())
    throw input_error("conjugate-gradient: --size " + format_size(c.size) +
                      " has more entries than 32 bits can count");
}

// Of each point five entries, a row and four vectors; twice, because the sequential program has its own; its result.
std::uint64_t memory_bytes(const configuration& c) {
  return saturating_product(c.size, 2 * (5 * 12 + 4 + 4 * 8) + 8);
}

}  // namespace

kernel conjugate_gradient_kernel() {
  kernel k;
  k.name = "conjugate-gradient";
  k.description = "conjugate gradients on a sparse matrix (Laplacian of a grid), double precision";
  k.size_meaning = "ROWSxCOLUMNS";
  k.block_meaning = "ROWS";
  k.uses = own_program_uses();
  k.uses.iterations = true;
  k.defaults.size = {1024, 1024};
  k.defaults.block = {16};
  k.defaults.iterations = 20;
  k.defaults.init = first_touch::tasks;
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_conjugate_gradient;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
