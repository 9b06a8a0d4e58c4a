// One run of a Krylov method: the system, the options, and what was reported. The methods are functions on it.
#pragma once

#include <weir/solver/krylov.hpp>

#include "vectors.hpp"

#include <cmath>

namespace weir::solver::detail {

class krylov_run {
 public:
  krylov_run(runtime& rt, const matrix& matrix_, const preconditioner& m, in_vector rhs, out_vector solution, const krylov_options& o)
      : a(matrix_), precondition(m), b(rhs), x(solution), options(o), on(rt), norm_of_b(on.norm(rhs)) {}

  const matrix& a;
  const preconditioner& precondition;
  const in_vector b;
  const out_vector x;
  const krylov_options& options;
  const vector_operations on;
  const double norm_of_b;
  krylov_result result;

  // r = b - A x; its norm.
  double true_residual(out_vector r) const {
    on.residual(a, x, b, r);
    return on.norm(r);
  }
  void report(double residual_norm) {
    const double relative = residual_norm / norm_of_b;
    result.history.push_back(relative);
    if (options.progress) options.progress(result.iterations, relative);
  }
  bool small(double residual_norm) const { return residual_norm <= options.tolerance * norm_of_b; }
  // True if there is no way on, for this reason.
  bool give_up(bool condition, const char* reason) {
    if (condition) result.why = reason;
    return condition;
  }
  // True if iterations are used up or the residual is no number.
  bool must_stop(double residual_norm) {
    return give_up(!std::isfinite(residual_norm), "the residual is no finite number any more") || give_up(result.iterations >= options.most_iterations, "the number of iterations is used up");
  }
  array<double> new_vector() const {
    array<double> v(b.size());
    if (options.place) options.place(v);
    on.fill(0, v);
    return v;
  }
};

// Each goes on from x until its recurrence says that the residual is small, or there is no way on.
void gmres(krylov_run&);
void cg(krylov_run&);
void bicgstab(krylov_run&);

}  // namespace weir::solver::detail
