// BiCGStab, preconditioned from the right.
#include "krylov_run.hpp"

namespace weir::solver::detail {

void bicgstab(krylov_run& run) {
  const vector_operations& on = run.on;
  array<double> r = run.new_vector(), p = run.new_vector(), v = run.new_vector(), t = run.new_vector(), preconditioned = run.new_vector();
  double residual = run.true_residual(r), rho_before = 1, alpha = 1, omega = 1;
  const array<double> shadow = r;
  for (bool first = true; !run.small(residual) && !run.must_stop(residual); first = false) {
    const double rho = on.dot(shadow, r);
    if (run.give_up(rho == 0 || omega == 0, "BiCGStab broke down")) return;
    if (first) {
      on.scale(1, r, p);
    } else {
      on.add(-omega, v, p);
      on.combine(1, r, rho / rho_before * (alpha / omega), p);
    }
    run.precondition(p, preconditioned);
    on.multiply(run.a, preconditioned, v);
    const double projection = on.dot(shadow, v);
    if (run.give_up(projection == 0, "BiCGStab broke down")) return;
    alpha = rho / projection;
    on.add(alpha, preconditioned, run.x);
    on.add(-alpha, v, r);  // r is what is usually called s
    run.precondition(r, preconditioned);
    on.multiply(run.a, preconditioned, t);
    const double length = on.dot(t, t);
    omega = length > 0 ? on.dot(t, r) / length : 0;
    on.add(omega, preconditioned, run.x);
    on.add(-omega, t, r);
    residual = on.norm(r);
    rho_before = rho;
    run.result.iterations++;
    run.report(residual);
  }
}

}  // namespace weir::solver::detail
