// cholesky under OpenMP: the tiles of the serial program as tasks with dependences, in one array whose pages lie where a
// static loop over the tiles touches them first, or interleaved.
#include <bench/cholesky/result.hpp>
#include <bench/peers/openmp.hpp>

#include <limits>

namespace {

using namespace weir::bench;
using namespace weir::bench::factorization;

class matrix {
 public:
  explicit matrix(const peers::options& o) : t_{o.size.rows, o.block.rows, o.seed}, memory_(t_.count() * t_.tile * t_.tile * sizeof(double), o.interleave) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < t_.tiles(); i++)
      for (std::size_t j = 0; j <= i; j++) fill_tile(t_, i, j, at(i, j));
  }

  const tiling& tiles() const { return t_; }
  double* at(std::size_t i, std::size_t j) const { return memory_.doubles() + t_.index(i, j) * t_.tile * t_.tile; }

 private:
  tiling t_;
  peers::pages memory_;
};

// A tile's first element stands for it in the dependences.
void factorize(const matrix& m) {
  const tiling& t = m.tiles();
#pragma omp parallel
#pragma omp single
  for (std::size_t k = 0; k < t.tiles(); k++) {
    [[maybe_unused]] double* const diagonal = m.at(k, k);
#pragma omp task firstprivate(k) shared(m, t) depend(inout : diagonal[0]) priority(1)
    potrf(t.rows(k), m.at(k, k));
    for (std::size_t i = k + 1; i < t.tiles(); i++) {
      [[maybe_unused]] double* const below = m.at(i, k);
#pragma omp task firstprivate(i, k) shared(m, t) depend(in : diagonal[0]) depend(inout : below[0])
      trsm(t.rows(i), t.rows(k), m.at(k, k), t.rows(k), m.at(i, k), t.rows(i));
    }
    for (std::size_t i = k + 1; i < t.tiles(); i++) {
      [[maybe_unused]] double *const left = m.at(i, k), *const own = m.at(i, i);
      for (std::size_t j = k + 1; j < i; j++) {
        [[maybe_unused]] double *const top = m.at(j, k), *const tile = m.at(i, j);
#pragma omp task firstprivate(i, j, k) shared(m, t) depend(in : left[0], top[0]) depend(inout : tile[0])
        gemm(t.rows(i), t.rows(j), t.rows(k), m.at(i, k), t.rows(i), m.at(j, k), t.rows(j), m.at(i, j), t.rows(i));
      }
#pragma omp task firstprivate(i, k) shared(m, t) depend(in : left[0]) depend(inout : own[0])
      syrk(t.rows(i), t.rows(k), m.at(i, k), t.rows(i), m.at(i, i), t.rows(i));
    }
  }
}

bool verify(const matrix& m) {
  factor l;
  for (std::size_t i = 0; i < m.tiles().tiles(); i++)
    for (std::size_t j = 0; j <= i; j++) l.emplace_back(m.at(i, j), m.at(i, j) + m.tiles().elements(i, j));
  return residual(m.tiles(), l) < static_cast<double>(m.tiles().order) * std::numeric_limits<double>::epsilon();
}

}  // namespace

int main(int argc, char** argv) {
  static constexpr std::string_view modes[] = {"tasks"};
  const peers::program_form form{.modes = modes, .dimensions = 1, .block_dimensions = 1, .iterations = false,
                                 .defaults = {.size = {1, 1536, 1}, .block = {1, 128, 1}}};
  const peers::options o = peers::parse_options(argc, argv, form);
  const matrix m(o);
  peers::measurement result{.runtime = peers::openmp_runtime, .kernel = "cholesky", .threads = omp_get_max_threads()};
  result.seconds = peers::measure([&] { factorize(m); });
  if (o.verify) result.verified = verify(m);
  peers::print(o, result, form);
  return close_output(argv[0], result.verified.value_or(true) ? 0 : 1);
}
