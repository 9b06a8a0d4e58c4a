// Conjugate gradients, preconditioned.
#include "krylov_run.hpp"

namespace weir::solver::detail {

void cg(krylov_run& run) {
  const vector_operations& on = run.on;
  array<double> r = run.new_vector(), z = run.new_vector(), p = run.new_vector(), q = run.new_vector();
  double residual = run.true_residual(r), rho_before = 1;
  for (bool first = true; !run.small(residual) && !run.must_stop(residual); first = false) {
    run.precondition(r, z);
    const double rho = on.dot(r, z);
    if (run.give_up(!(rho > 0), "CG needs a symmetric positive definite preconditioner, and this one is not")) return;
    on.combine(1, z, first ? 0 : rho / rho_before, p);
    on.multiply(run.a, p, q);
    const double curvature = on.dot(p, q);
    if (run.give_up(!(curvature > 0), "CG needs a symmetric positive definite matrix, and this one is not")) return;
    const double step = rho / curvature;
    on.add(step, p, run.x);
    on.add(-step, q, r);
    residual = on.norm(r);
    rho_before = rho;
    run.result.iterations++;
    run.report(residual);
  }
}

}  // namespace weir::solver::detail
