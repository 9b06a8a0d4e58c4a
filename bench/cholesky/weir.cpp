// cholesky under weir.
//
// One datum a tile of the lower triangle. A task reads one or two tiles and updates one in place: to write a new
// version of it would be to copy it first. The tiles on the diagonal are the critical path: their factorizations have
// high priority.
//
// The shared variant updates tiles in place in one interleaved array; empty data, one a tile, carry the dependences.
// In own memory a tile is a piece of one array, and tasks name it.
#include <bench/cholesky/result.hpp>
#include <bench/common/check.hpp>
#include <bench/common/control.hpp>
#include <bench/common/cyclic_owners.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/registry.hpp>

#include <cstdio>
#include <cstring>
#include <limits>

namespace weir::bench {
namespace {

using namespace factorization;

constexpr task_options named_fill{.name = "fill"}, named_trsm{.name = "trsm"}, named_syrk{.name = "syrk"}, named_gemm{.name = "gemm"}, control{.name = "control"};
constexpr task_options named_potrf{.name = "potrf", .priority = priority::high};

// The tiles of the lower triangle as data.
class private_tiles {
 public:
  private_tiles(runtime& rt, const tiling& t) : t_(t) {
    for (std::size_t i = 0; i < t.tiles(); i++)
      for (std::size_t j = 0; j <= i; j++) a_.push_back(rt.make_data<double>(t.elements(i, j), "tile"));
  }
  const data<double>& at(std::size_t i, std::size_t j) const { return a_[t_.index(i, j)]; }
  std::vector<double> values(std::size_t i, std::size_t j) const {
    const auto tile = at(i, j).read();
    return {tile.begin(), tile.end()};
  }

 private:
  tiling t_;
  std::vector<data<double>> a_;
};

// In own memory, one after the other.
class own_tiles {
 public:
  own_tiles(runtime&, const tiling& t) : t_(t), a_(t.count() * t.tile * t.tile) {}

  auto at(std::size_t i, std::size_t j) const { return weir::ref(tile(i, j)); }
  std::vector<double> values(std::size_t i, std::size_t j) const {
    const auto values = tile(i, j);
    return {values.begin(), values.end()};
  }

 private:
  std::span<double> tile(std::size_t i, std::size_t j) const {
    return a_.part(t_.index(i, j) * t_.tile * t_.tile, t_.elements(i, j));
  }

  tiling t_;
  own_array<double> a_;
};

// Tasks that name the tiles they work on.
template <class Tiles>
class tile_tasks {
 public:
  tile_tasks(runtime& rt, const tiling& t, page_checker* pages) : rt_(rt), t_(t), pages_(pages), a_(rt, t) {}

  void fill(std::size_t i, std::size_t j) {
    rt_.spawn(named_fill, out(at(i, j)), [this, i, j](std::span<double> a) {
      fill_tile(t_, i, j, a.data());
      written(pages_, a);  // the only version that is new: the others lie where this one does
    });
  }
  void potrf(std::size_t k) {
    rt_.spawn(named_potrf, inout(at(k, k)), [this, k](auto a) { factorization::potrf(t_.rows(k), a.data()); });
  }
  void trsm(std::size_t i, std::size_t k) {
    rt_.spawn(named_trsm, in(at(k, k)), inout(at(i, k)), [this, i, k](auto l, auto b) { factorization::trsm(t_.rows(i), t_.rows(k), l.data(), t_.rows(k), b.data(), t_.rows(i)); });
  }
  void syrk(std::size_t i, std::size_t k) {
    rt_.spawn(named_syrk, in(at(i, k)), inout(at(i, i)), [this, i, k](auto a, auto c) { factorization::syrk(t_.rows(i), t_.rows(k), a.data(), t_.rows(i), c.data(), t_.rows(i)); });
  }
  void gemm(std::size_t i, std::size_t j, std::size_t k) {
    rt_.spawn(named_gemm, in(at(i, k)), in(at(j, k)), inout(at(i, j)), [this, i, j, k](auto a, auto b, auto c) { factorization::gemm(t_.rows(i), t_.rows(j), t_.rows(k), a.data(), t_.rows(i), b.data(), t_.rows(j), c.data(), t_.rows(i)); });
  }
  std::vector<double> collect(std::size_t i, std::size_t j) const { return a_.values(i, j); }

 private:
  decltype(auto) at(std::size_t i, std::size_t j) const { return a_.at(i, j); }

  runtime& rt_;
  tiling t_;
  page_checker* pages_;
  Tiles a_;
};

class shared_tasks {
 public:
  shared_tasks(runtime& rt, const tiling& t, page_checker*) : rt_(rt), t_(t), a_(t.count() * t.tile * t.tile) {
    for (std::size_t i = 0; i < t.count(); i++) tokens_.push_back(rt.make_data<char>(0, "tile token"));
  }
  void fill(std::size_t i, std::size_t j) {
    rt_.spawn(named_fill, out(token(i, j)), [this, i, j](auto) { fill_tile(t_, i, j, at(i, j)); });
  }
  void potrf(std::size_t k) {
    rt_.spawn(named_potrf, inout(token(k, k)), [this, k](auto) { factorization::potrf(t_.rows(k), at(k, k)); });
  }
  void trsm(std::size_t i, std::size_t k) {
    rt_.spawn(named_trsm, in(token(k, k)), inout(token(i, k)), [this, i, k](auto...) { factorization::trsm(t_.rows(i), t_.rows(k), at(k, k), t_.rows(k), at(i, k), t_.rows(i)); });
  }
  void syrk(std::size_t i, std::size_t k) {
    rt_.spawn(named_syrk, in(token(i, k)), inout(token(i, i)), [this, i, k](auto...) { factorization::syrk(t_.rows(i), t_.rows(k), at(i, k), t_.rows(i), at(i, i), t_.rows(i)); });
  }
  void gemm(std::size_t i, std::size_t j, std::size_t k) {
    rt_.spawn(named_gemm, in(token(i, k)), in(token(j, k)), inout(token(i, j)), [this, i, j, k](auto...) {
      factorization::gemm(t_.rows(i), t_.rows(j), t_.rows(k), at(i, k), t_.rows(i), at(j, k), t_.rows(j), at(i, j), t_.rows(i));
    });
  }
  std::vector<double> collect(std::size_t i, std::size_t j) { return {at(i, j), at(i, j) + t_.elements(i, j)}; }

 private:
  double* at(std::size_t i, std::size_t j) { return a_.data() + t_.index(i, j) * t_.tile * t_.tile; }
  const data<char>& token(std::size_t i, std::size_t j) const { return tokens_[t_.index(i, j)]; }

  runtime& rt_;
  tiling t_;
  interleaved_array<double> a_;
  std::vector<data<char>> tokens_;
};

template <class Tasks>
class program final : public instance {
 public:
  explicit program(const configuration& c) : options_(c), t_(tiling_of(c)) {}

  void prepare(runtime& rt) override {
    tasks_ = std::make_unique<Tasks>(rt, t_, options_.pages);
    const cyclic_owners owners(static_cast<std::size_t>(rt.workers()));
    fill_by_chunks(rt, {owners.count(), 1, owners.count()}, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = 0; i < t_.tiles(); i++)
        for (std::size_t j = 0; j <= i; j++)
          if (const std::size_t owner = owners.of(i, j); first <= owner && owner < last) tasks_->fill(i, j);
    });
  }

  void run(runtime& rt) override {
    rt.run([&] {
      const data<char> created = rt.make_data<char>(std::span<const char>{}, "created");
      for (std::size_t k = 0; k < t_.tiles(); k++) {
        if (options_.parallel_control)
          rt.spawn(control, inout(created), [this, k](auto) { create_panel(k); });
        else
          create_panel(k);
      }
    });
    rt.wait();
  }

  void collect(runtime&) override {
    for (std::size_t i = 0; i < t_.tiles(); i++)
      for (std::size_t j = 0; j <= i; j++) result_.push_back(tasks_->collect(i, j));
  }

  verification verify(const std::any& expected) const override {
    const auto& e = std::any_cast<const factor&>(expected);
    bool equal = e.size() == result_.size();
    verification v;
    for (std::size_t i = 0; equal && i < e.size(); i++) {
      equal = e[i].size() == result_[i].size() && std::memcmp(e[i].data(), result_[i].data(), e[i].size() * sizeof(double)) == 0;
      for (std::size_t n = 0; !equal && n < std::min(e[i].size(), result_[i].size()); n++) v.largest_difference = std::max(v.largest_difference, std::abs(e[i][n] - result_[i][n]));
    }
    const double rest = residual(t_, result_);
    v.passed = equal && rest < static_cast<double>(t_.order) * std::numeric_limits<double>::epsilon();
    char text[128];
    std::snprintf(text, sizeof text, "factor bit for bit with the sequential program; residual %.2g", rest);
    v.what = text;
    return v;
  }

  std::uint64_t live_bytes() const override { return t_.order * (t_.order + 1) / 2 * sizeof(double); }

 private:
  // The tasks of step k: the tile on the diagonal, its column, and what these change to the right.
  void create_panel(std::size_t k) {
    tasks_->potrf(k);
    for (std::size_t i = k + 1; i < t_.tiles(); i++) tasks_->trsm(i, k);
    for (std::size_t i = k + 1; i < t_.tiles(); i++) {
      for (std::size_t j = k + 1; j < i; j++) tasks_->gemm(i, j, k);
      tasks_->syrk(i, k);
    }
  }

  configuration options_;
  tiling t_;
  std::unique_ptr<Tasks> tasks_;
  factor result_;
};

void complete(configuration& c) {
  // BLAS counts in int; an index into the matrix is computed in 64 bits.
  constexpr std::size_t max_order = std::numeric_limits<int>::max();
  if (c.size.size() == 1 && c.size[0] > max_order) throw input_error("cholesky: --size " + std::to_string(c.size[0]) + " is more than BLAS can count (" + std::to_string(max_order) + ")");
}

// Every tile and the version being written, and the sequential program's tiles and the two results: 4 halves and a row.
std::uint64_t memory_bytes(const configuration& c) {
  const std::uint64_t row = saturating_multiply(c.size[0], sizeof(double));
  return saturating_add(saturating_multiply(row, saturating_multiply(2, c.size[0])), saturating_multiply(row, saturating_multiply(4, c.block[0])));
}

}  // namespace

kernel cholesky() {
  kernel k;
  k.name = "cholesky";
  k.description = "Cholesky factorization of a symmetric positive definite matrix, double precision";
  k.size_meaning = k.block_meaning = "ROWS";
  k.uses = {.parallel_control = true, .shared = true, .own = true};
  k.defaults.size = {1536};
  k.defaults.block = {128};
  k.complete = complete;
  k.memory_bytes = memory_bytes;
  k.solve = solve_cholesky;
  k.make = [](const configuration& c) -> std::unique_ptr<instance> {
    switch (c.data_in) {
      case storage::versions: return std::make_unique<program<tile_tasks<private_tiles>>>(c);
      case storage::shared: return std::make_unique<program<shared_tasks>>(c);
      case storage::own: return std::make_unique<program<tile_tasks<own_tiles>>>(c);
    }
    return nullptr;
  };
  return k;
}

}  // namespace weir::bench
