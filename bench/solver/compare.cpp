// solver-petsc: ILU(k) and triangular solves of weir and of PETSc, one core, in turn, and whether they give the same.
//
//   build/bin/peers/solver-petsc --matrix cube:100 --ilu 0,1,2 --order natural,nd
#include "petsc.hpp"

#include <bench/common/output.hpp>
#include <bench/common/parser.hpp>
#include <bench/common/stopwatch.hpp>

#include <weir/solver.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace weir::solver;

struct options {
  std::vector<std::string> matrices, orders{"natural"};
  std::vector<int> levels{0, 1, 2};
  int repeat = 5, restart = 30, iterations = 1000;
};

double seconds_of(const auto& what) {
  const weir::bench::stopwatch watch;
  what();
  return watch.seconds();
}

// What disturbs a run only makes it longer.
double shortest(const std::vector<double>& v) { return *std::ranges::min_element(v); }

// The times of one phase under both.
struct pair_of_times {
  std::vector<double> weir, petsc;

  void measure(const auto& of_weir, const auto& of_petsc) {
    weir.push_back(seconds_of(of_weir));
    petsc.push_back(seconds_of(of_petsc));
  }
  std::string text() const { return fmt::format("{:10.1f} {:10.1f} {:6.2f}", shortest(weir) * 1e6, shortest(petsc) * 1e6, shortest(petsc) / shortest(weir)); }
};

double largest_difference(const array<double>& x, const array<double>& y) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); i++) {
    difference = std::max(difference, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return largest > 0 ? difference / largest : difference;
}

void compare(const matrix& a, const std::string& name, const std::string& order, int level, const options& o) {
  array<double> b(a.order()), x(a.order()), y(a.order());
  for (std::size_t i = 0; i < b.size(); i++) b[i] = std::sin(static_cast<double>(i + 1));
  pair_of_times symbolic, numeric, substitution;
  weir::bench::petsc::ilu theirs(a);
  ilu ours(a, {.level = level});
  for (int r = 0; r < o.repeat; r++) {
    symbolic.measure([&] { ours = ilu(a, {.level = level}); }, [&] { theirs.symbolic(level); });
    numeric.measure([&] { ours.factor(a); }, [&] { theirs.numeric(); });
    for (int s = 0; s < 3; s++) substitution.measure([&] { ours.solve(b, x); }, [&] { theirs.solve(b, y); });
  }
  const std::size_t numbers = ours.entries() * static_cast<std::size_t>(a.block * a.block);
  fmt::print("{:<24} {:<8} {}  {}  {}  {}  {:.0e}{}", name, order, level, symbolic.text(), numeric.text(), substitution.text(), largest_difference(x, y), numbers == theirs.numbers() ? "" : "  other pattern");
  if (o.iterations > 0) {
    const krylov_options k{.method = krylov_method::gmres, .tolerance = 1e-8, .most_iterations = o.iterations, .restart = o.restart};
    weir::runtime rt(weir::runtime_options{.workers = 1});
    std::ranges::fill(x, 0.0);
    const krylov_result result = solve(rt, a, ours, b, x, k);
    fmt::print("  {:5} {:5}", result.converged ? result.iterations : -1, theirs.gmres(b, o.restart, 1e-8, o.iterations));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

void run(const options& o) {
  weir::bench::petsc::session session;
  fmt::print("times in us, weir and PETSc, and how much longer PETSc takes; the largest difference of M^-1 b{}\n", o.iterations > 0 ? "; GMRES iterations to 1e-8" : "");
  fmt::print("{:<24} {:<8} k  {:>28}  {:>28}  {:>28}  diff.\n", "matrix", "order", "symbolic", "numeric", "solve pair");
  for (const std::string& name : o.matrices) {
    const matrix natural = name.ends_with(".mtx") ? read_matrix_market(name) : generate(name);
    for (const std::string& order : o.orders) {
      const matrix a = permute(natural, order_rows(natural, parse_ordering(order)));
      for (const int level : o.levels) compare(a, name.substr(name.rfind('/') + 1), order, level, o);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app{"ILU(k) and triangular solves of weir and of PETSc on one core, in turn."};
  app.add_option("--matrix", o.matrices, "Matrix Market files (.mtx) or generators")->required()->delimiter(',')->type_name("M[,M...]");
  app.add_option("--order", o.orders, "natural, rcm, nd")->delimiter(',');
  app.add_option("--ilu", o.levels, "Levels of fill")
      ->delimiter(',')
      ->transform(weir::bench::whole_number(0, largest_level));
  app.add_option("--repeat", o.repeat, "Runs; three solves each")->transform(weir::bench::whole_number(1, 1000));
  app.add_option("--restart", o.restart, "Restart of GMRES")->transform(weir::bench::whole_number(1, 1000));
  app.add_option("--iterations", o.iterations, "Most iterations of GMRES; 0: no GMRES")
      ->transform(weir::bench::whole_number(0, 1000000));
  if (const auto status = weir::bench::parse(app, "solver-petsc", argc, argv)) return *status;
  try {
    run(o);
  } catch (const std::exception& e) {
    fmt::print(stderr, "solver-petsc: {}\n", e.what());
    return 1;
  }
  return weir::bench::close_output("solver-petsc", 0);
}
