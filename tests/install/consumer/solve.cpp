// A program outside the repository, built with the installed solver: a small system, its rows as tasks.
#include <weir/solver.hpp>

#include <cmath>
#include <cstdio>

int main() {
  using namespace weir::solver;
  const matrix a = permute(cube(10), order_rows(cube(10), ordering::nested_dissection));
  weir::runtime rt;
  ilu factors(a, {.level = 1});
  row_tasks tasks(factors, "D(30)");
  tasks.factor(rt, factors, a);
  array<double> ones(a.order(), 1.0), b(a.order()), x(a.order(), 0.0);
  multiply(a, ones, b);
  const krylov_result r = solve(rt, a, [&](auto in, auto out) { tasks.solve(rt, factors, in, out); }, b, x, {.tolerance = 1e-10});
  double error = 0;
  for (const double v : x) error = std::max(error, std::abs(v - 1));
  std::printf("%s\n", r.converged && error < 1e-8 ? "solved" : "not solved");
  return r.converged ? 0 : 1;
}
