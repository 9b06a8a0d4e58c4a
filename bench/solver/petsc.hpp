// PETSc's sequential ILU(k) behind a few functions, so that its headers and macros stay in one file.
#pragma once

#include <weir/solver/matrix.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace weir::bench::petsc {

struct state;

// Starts PETSc as one process, without command-line options.
class session {
 public:
  session();
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;
};

// A matrix of PETSc's, AIJ or, for blocks, BAIJ, and its factors. What PETSc reports is thrown as std::runtime_error.
class ilu {
 public:
  // `a` must live as long.
  explicit ilu(const solver::matrix& a);
  ~ilu();

  void symbolic(int level);  // again: the factors are made anew
  void numeric();
  void solve(std::span<const double> b, std::span<double> x);
  std::size_t numbers() const;  // stored in the factors, the diagonal once

  // Iterations of GMRES(restart) with these factors on the right, from zero, to |b - A x| <= tolerance * |b|; -1: not reached.
  int gmres(std::span<const double> b, int restart, double tolerance, int most_iterations);

 private:
  std::unique_ptr<state> state_;
};

}  // namespace weir::bench::petsc
