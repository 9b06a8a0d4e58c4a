// cholesky by dpotrf of a LAPACK with threads of its own, such as Intel's MKL: a library that is not part of this
// project, and is given by its path. One array, column by column, whose pages lie where a static loop over the columns
// touches them first, or interleaved.
#include <bench/cholesky/result.hpp>
#include <bench/peers/openmp.hpp>

#include <limits>
#include <string>

#include <dlfcn.h>

namespace {

using namespace weir::bench;
using namespace weir::bench::factorization;

using dpotrf = void(const char* triangle, const int* order, double* a, const int* stride, int* wrong);

constexpr std::size_t most_rows = std::size_t{1} << 30;  // LAPACK counts them in 32 bits, and bytes fit 64

dpotrf* find_dpotrf(const std::string& library) {
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) refuse(std::string("--library: ") + ::dlerror());
  void* const found = ::dlsym(opened, "dpotrf_");
  if (found == nullptr) refuse("--library " + library + ": expected a LAPACK, which has dpotrf_");
  return reinterpret_cast<dpotrf*>(found);
}

class matrix {
 public:
  explicit matrix(const peers::options& o)
      : t_{o.size.rows, o.block.rows, o.seed}, memory_(t_.order * t_.order * sizeof(double), o.interleave) {
#pragma omp parallel for schedule(static)
    for (std::size_t c = 0; c < t_.order; c++)
      for (std::size_t r = 0; r < t_.order; r++) at(r, c) = r < c ? 0.0 : matrix_element(t_, r, c);
  }

  double& at(std::size_t r, std::size_t c) const { return memory_.doubles()[c * t_.order + r]; }
  void factorize(dpotrf* library) const {
    const int order = static_cast<int>(t_.order);
    int wrong = 0;
    library("L", &order, memory_.doubles(), &order, &wrong);
    if (wrong != 0) refuse("dpotrf says that argument or row " + std::to_string(wrong) + " is wrong");
  }
  bool is_right() const {
    factor l;
    for (std::size_t i = 0; i < t_.tiles(); i++)
      for (std::size_t j = 0; j <= i; j++) l.push_back(tile(i, j));
    return residual(t_, l) < static_cast<double>(t_.order) * std::numeric_limits<double>::epsilon();
  }

 private:
  std::vector<double> tile(std::size_t i, std::size_t j) const {
    std::vector<double> elements;
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.rows(j)); c++)
      for (std::size_t r = 0; r < static_cast<std::size_t>(t_.rows(i)); r++)
        elements.push_back(at(i * t_.tile + r, j * t_.tile + c));
    return elements;
  }

  const tiling t_;
  const peers::pages memory_;
};

}  // namespace

int main(int argc, char** argv) {
  static constexpr std::string_view modes[] = {"dpotrf"};
  const peers::program_form form{.modes = modes, .dimensions = 1, .block_dimensions = 1, .iterations = false,
                                 .library = true, .defaults = {.size = {1, 1536, 1}, .block = {1, 128, 1}}};
  const peers::options o = peers::parse_options(argc, argv, form);
  if (o.size.rows > most_rows) refuse("--size: expected " + std::to_string(most_rows) + " rows or fewer");
  dpotrf* const library = find_dpotrf(o.library);
  matrix(o).factorize(library);  // it may make its threads with its first call
  const matrix m(o);
  peers::measurement result{.runtime = "lapack", .kernel = "cholesky", .threads = omp_get_max_threads()};
  result.seconds = peers::measure([&] { m.factorize(library); });
  if (o.verify) result.verified = m.is_right();
  peers::print(o, result, form);
  return close_output(argv[0], result.verified.value_or(true) ? 0 : 1);
}
