// Krylov methods: what they have in common, and the choice among them.
#include <weir/solver/krylov.hpp>

#include "krylov_run.hpp"

#include <string>

namespace weir::solver {
namespace {

void check_options(const matrix& a, std::span<const double> b, std::span<double> x, const krylov_options& o) {
  if (b.size() != a.order() || x.size() != a.order()) throw usage_error("solve: vectors of " + std::to_string(b.size()) + " and " + std::to_string(x.size()) + " elements: expected " + std::to_string(a.order()) + ", as the matrix has rows");
  if (!(o.tolerance > 0) || !std::isfinite(o.tolerance)) throw usage_error("solve: the tolerance must be larger than 0");
  if (o.most_iterations < 0) throw usage_error("solve: " + std::to_string(o.most_iterations) + " iterations: expected 0 or more");
  if (o.restart < 1) throw usage_error("solve: a restart after " + std::to_string(o.restart) + " vectors: expected 1 or more");
}

void iterate(detail::krylov_run& run) {
  switch (run.options.method) {
    case krylov_method::gmres: return gmres(run);
    case krylov_method::cg: return cg(run);
    case krylov_method::bicgstab: return bicgstab(run);
  }
}

}  // namespace

krylov_method parse_method(const std::string& name) {
  if (name == "gmres") return krylov_method::gmres;
  if (name == "cg") return krylov_method::cg;
  if (name == "bicgstab") return krylov_method::bicgstab;
  throw usage_error("method \"" + name + "\": expected gmres, cg or bicgstab");
}

krylov_result solve(runtime& rt, const matrix& a, const preconditioner& m, std::span<const double> b, std::span<double> x, const krylov_options& options) {
  check_options(a, b, x, options);
  detail::krylov_run run(rt, a, m, b, x, options);
  if (run.norm_of_b == 0) {
    std::ranges::fill(x, 0.0);
    run.result.converged = true;
    return std::move(run.result);
  }
  array<double> r = run.new_vector();
  double norm = run.true_residual(r);
  run.report(norm);
  // A recurrence may drift away from b - A x: then it begins anew from where it is.
  while (!run.small(norm) && run.result.why[0] == '\0' && !run.must_stop(norm)) {
    iterate(run);
    norm = run.true_residual(r);
  }
  run.result.residual = norm / run.norm_of_b;
  run.result.converged = run.small(norm);
  if (run.result.converged) run.result.why = "";
  return std::move(run.result);
}

krylov_result solve(runtime& rt, const matrix& a, const ilu& m, std::span<const double> b, std::span<double> x, const krylov_options& options) {
  return solve(rt, a, [&m](std::span<const double> in, std::span<double> out) { m.solve(in, out); }, b, x, options);
}

}  // namespace weir::solver
