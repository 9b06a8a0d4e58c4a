// Krylov methods for A x = b, preconditioned: their vector operations and products with the matrix are parallel loops.
#pragma once

#include <weir/runtime.hpp>
#include <weir/solver/ilu.hpp>
#include <weir/solver/matrix.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weir::solver {

enum class krylov_method : std::uint8_t {
  gmres,     // for any matrix; memory for `restart` vectors, the work of an iteration grows with their number
  cg,        // for symmetric positive definite matrices: short recurrences, two vectors fewer than bicgstab
  bicgstab,  // for any matrix where GMRES needs too much memory; two products and two preconditioners an iteration
};

// "gmres", "cg" or "bicgstab". Throws usage_error that lists these.
krylov_method parse_method(const std::string& name);

// Called once an iteration with the number of iterations done and the residual relative to the first one.
using krylov_progress = std::function<void(int iteration, double residual)>;

struct krylov_options {
  krylov_method method = krylov_method::gmres;
  double tolerance = 1e-8;      // of |b - A x| / |b|, the Euclidean norms; larger than 0
  int most_iterations = 1000;   // 0 or more
  int restart = 30;             // GMRES: vectors before it begins anew; 1 or more
  krylov_progress progress = nullptr;
  // Called with each vector that a method makes, before anything is written there: to place its memory, as with
  // row_tasks::place. Without it the loops that write a vector first decide where it lies.
  std::function<void(std::span<double>)> place = nullptr;
};

struct krylov_result {
  bool converged = false;
  int iterations = 0;
  double residual = 0;              // |b - A x| / |b|, computed from x, not from recurrences
  std::vector<double> history = {}; // as reported to progress, the one before the first iteration included
  const char* why = "";             // it did not converge: a sentence's end
};

// out = M^-1 in, for vectors of the matrix's order; out and in are different.
using preconditioner = std::function<void(std::span<const double> in, std::span<double> out)>;

// x holds the first guess and then the solution. Preconditioning is from the right, so that residuals are those of the
// system itself; CG's preconditioner must be symmetric and positive definite, too. GMRES (Saad and Schultz, 1986) by
// classical Gram-Schmidt, once more where much was cancelled (Daniel et al., 1976); CG (Hestenes and Stiefel, 1952);
// BiCGStab (van der Vorst, 1992). What converged by its recurrence is confirmed by b - A x, or goes on.
// The same number of workers gives the same bits. Throws usage_error for options out of range and vectors that do not fit.
krylov_result solve(runtime& rt, const matrix& a, const preconditioner& m, std::span<const double> b, std::span<double> x, const krylov_options& options);

// With the triangular solves of one thread.
krylov_result solve(runtime& rt, const matrix& a, const ilu& m, std::span<const double> b, std::span<double> x, const krylov_options& options);

}  // namespace weir::solver
