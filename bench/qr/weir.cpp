// qr under weir: a task an operation, which names tiles. The operations on a column of tiles in turn are the critical
// path, and have high priority.
#include <bench/common/check.hpp>
#include <bench/common/cyclic_owners.hpp>
#include <bench/common/own_program.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>
#include <bench/qr/matrix.hpp>

#include <limits>
#include <optional>

namespace weir::bench {
namespace {

class program final : public own_program {
 public:
  using own_program::own_program;

  void prepare(runtime& rt) override {
    owners_ = cyclic_owners(static_cast<std::size_t>(rt.workers()));
    own_program::prepare(rt);
  }
  verification verify(const std::any& expected) const override { return a_->verify(expected); }
  std::uint64_t live_bytes() const override { return options().size[0] * options().size[0] * sizeof(double); }

 private:
  void allocate() override { a_.emplace(options()); }
  std::size_t parts() const override { return a_->parts(); }
  void fill(std::size_t part) override { a_->fill(part); }
  void spawn_fill(runtime& rt, std::size_t part) override;
  int steps() const override { return static_cast<int>(a_->tiles()); }
  void create(runtime& rt, int step) override;

  auto tile(std::size_t i, std::size_t j) const { return ref(a_->tile(i, j)); }
  auto t(std::size_t i, std::size_t k) const { return ref(a_->t(i, k)); }
  task_options named_tile(const char* name, std::size_t i, std::size_t j, priority p = priority::normal) const {
    task_options options = named(name, owners_.of(i, j), owners_.count());
    options.priority = p;
    return options;
  }
  void spawn_geqrt(runtime& rt, std::size_t k) {
    rt.spawn(named_tile("geqrt", k, k, priority::high), inout(tile(k, k)), out(t(k, k)), out(ref(a_->reflectors(k))),
             [this, k](auto tile, auto...) {
               a_->geqrt(k);
               written(pages(), tile);
             });
  }
  void spawn_unmqr(runtime& rt, std::size_t k, std::size_t j) {
    rt.spawn(named_tile("unmqr", k, j), in(ref(a_->reflectors(k))), in(t(k, k)), inout(tile(k, j)),
             [this, k, j](auto, auto, auto tile) {
               a_->unmqr(k, j);
               written(pages(), tile);
             });
  }
  void spawn_tsqrt(runtime& rt, std::size_t i, std::size_t k) {
    rt.spawn(named_tile("tsqrt", i, k, priority::high), inout(tile(k, k)), inout(tile(i, k)), out(t(i, k)),
             [this, i, k](auto, auto tile, auto) {
               a_->tsqrt(i, k);
               written(pages(), tile);
             });
  }
  void spawn_tsmqr(runtime& rt, std::size_t i, std::size_t j, std::size_t k) {
    rt.spawn(named_tile("tsmqr", i, j), in(tile(i, k)), in(t(i, k)), inout(tile(k, j)), inout(tile(i, j)),
             [this, i, j, k](auto, auto, auto, auto tile) {
               a_->tsmqr(i, j, k);
               written(pages(), tile);
             });
  }

  cyclic_owners owners_{1};
  std::optional<orthogonal::matrix> a_;
};

// Also what is made with the tile, so that all of it comes to lie together.
void program::spawn_fill(runtime& rt, std::size_t part) {
  const std::size_t i = part / a_->tiles(), j = part % a_->tiles();
  const task_options named = named_fill(owners_.of(i, j), owners_.count());
  const auto body = [this, part](auto...) { fill(part); };
  if (i == j) rt.spawn(named, out(tile(i, j)), out(t(i, j)), out(ref(a_->reflectors(i))), body);
  if (i > j) rt.spawn(named, out(tile(i, j)), out(t(i, j)), body);
  if (i < j) rt.spawn(named, out(tile(i, j)), body);
}

void program::create(runtime& rt, int step) {
  const std::size_t k = static_cast<std::size_t>(step), n = a_->tiles();
  spawn_geqrt(rt, k);
  for (std::size_t j = k + 1; j < n; j++) spawn_unmqr(rt, k, j);
  for (std::size_t i = k + 1; i < n; i++) {
    spawn_tsqrt(rt, i, k);
    for (std::size_t j = k + 1; j < n; j++) spawn_tsmqr(rt, i, j, k);
  }
}

void complete(configuration& c) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  if (c.size.size() == 1 && c.size[0] > most)
    throw input_error("qr: --size " + std::to_string(c.size[0]) + " is more than BLAS can count (" +
                      std::to_string(most) + ")");
}

// The matrix with whole tiles and what is made with them, twice, its copy, and three matrices for the residual.
std::uint64_t memory_bytes(const configuration& c) {
  const std::uint64_t row = saturating_multiply(c.size[0], sizeof(double));
  return saturating_add(saturating_multiply(row, saturating_multiply(8, c.size[0])),
                        saturating_multiply(row, saturating_multiply(8, c.block[0])));
}

}  // namespace

kernel qr() {
  kernel k;
  k.name = "qr";
  k.description = "QR factorization of a square matrix by tiles, double precision";
  k.size_meaning = k.block_meaning = "ROWS";
  k.uses = own_program_uses();
  k.defaults.size = {1024};
  k.defaults.block = {128};
  k.defaults.init = first_touch::tasks;
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_qr;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> { return std::make_unique<program>(c); };
  return k;
}

}  // namespace weir::bench
