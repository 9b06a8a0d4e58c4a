// symmetric-inverse under weir: a task an operation, which names the tiles it reads and the one that it updates.
#include <bench/common/check.hpp>
#include <bench/common/cyclic_owners.hpp>
#include <bench/common/own_program.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/symmetric-inverse/matrix.hpp>

#include <limits>
#include <optional>

namespace weir::bench {
namespace {

using inversion::kind;
using inversion::operation;
using inversion::place;

class program final : public own_program {
 public:
  using own_program::own_program;

  void prepare(runtime& rt) override {
    owners_ = cyclic_owners(static_cast<std::size_t>(rt.workers()));
    own_program::prepare(rt);
  }
  verification verify(const std::any& expected) const override { return a_->verify(expected); }
  std::uint64_t live_bytes() const override {
    return options().size[0] * (options().size[0] + 1) / 2 * sizeof(double);
  }

 private:
  void allocate() override { a_.emplace(options()); }
  std::size_t parts() const override { return a_->parts(); }
  void fill(std::size_t part) override { a_->fill(part); }
  void spawn_fill(runtime& rt, std::size_t part) override {
    const place p = a_->place_of(part);
    rt.spawn(named_fill(owners_.of(p.row, p.column), owners_.count()), out(ref(a_->tile(p))), [this, part](auto) { fill(part); });
  }
  int steps() const override { return a_->steps(); }
  void create(runtime& rt, int step) override {
    a_->for_each_operation(step, [&](const operation& o) { spawn(rt, o); });
  }

  void spawn(runtime& rt, const operation& o) {
    task_options named = named_tile(name_of(o.what), o.to);
    const auto body = [this, o](auto...) {
      a_->execute(o);
      written(pages(), a_->tile(o.to));
    };
    const auto tile = [&](place p) { return ref(a_->tile(p)); };
    switch (o.what) {
      case kind::potrf:  // the critical path
        named.priority = priority::high;
        [[fallthrough]];
      case kind::trtri:
      case kind::lauum: return rt.spawn(named, inout(tile(o.to)), body);
      case kind::gemm:
      case kind::gemm_plus:
      case kind::gemm_transposed:
        return rt.spawn(named, in(tile(o.left)), in(tile(o.right)), inout(tile(o.to)), body);
      default: return rt.spawn(named, in(tile(o.left)), inout(tile(o.to)), body);
    }
  }
  task_options named_tile(const char* name, place p) const {
    return named(name, owners_.of(p.row, p.column), owners_.count());
  }

  cyclic_owners owners_{1};
  std::optional<inversion::matrix> a_;
};

void complete(configuration& c) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (c.size.size() == 1 && c.size[0] > most)
    throw input_error("symmetric-inverse: --size " + std::to_string(c.size[0]) + " is more than BLAS can count (" +
                      std::to_string(most) + ")");
}

// Half a matrix, with tiles that are kept whole, twice; its copy; and three matrices for the residual.
std::uint64_t memory_bytes(const configuration& c) {
  const std::uint64_t row = saturating_multiply(c.size[0], sizeof(double));
  return saturating_add(saturating_multiply(row, saturating_multiply(5, c.size[0])),
                        saturating_multiply(row, saturating_multiply(4, c.block[0])));
}

}  // namespace

kernel symmetric_inverse() {
  kernel k;
  k.name = "symmetric-inverse";
  k.description = "inverse of a symmetric positive definite matrix by Cholesky, double precision";
  k.size_meaning = k.block_meaning = "ROWS";
  k.uses = own_program_uses();
  k.defaults.size = {1024};
  k.defaults.block = {128};
  k.defaults.init = first_touch::tasks;
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_symmetric_inverse;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
