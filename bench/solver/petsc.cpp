// PETSc's sequential ILU(k).
#include "petsc.hpp"

#include <petscksp.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace weir::bench::petsc {
namespace {

void check(PetscErrorCode error) {
  if (error == 0) return;
  const char* text = nullptr;
  PetscErrorMessage(error, &text, nullptr);
  throw std::runtime_error("PETSc: " + std::string(text != nullptr ? text : "error " + std::to_string(error)));
}

// PETSc's blocks are by columns, as weir's.
Mat make_matrix(const solver::matrix& a) {
  Mat m = nullptr;
  const auto n = static_cast<PetscInt>(a.order());
  auto* const begin = const_cast<PetscInt*>(a.row_begin.data());
  auto* const columns = const_cast<PetscInt*>(a.columns.data());
  auto* const values = const_cast<PetscScalar*>(a.values.data());
  if (a.block == 1) {
    check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, begin, columns, values, &m));
  } else {
    check(MatCreateSeqBAIJ(PETSC_COMM_SELF, a.block, n, n, 0, nullptr, &m));
    check(MatSetOption(m, MAT_ROW_ORIENTED, PETSC_FALSE));
    check(MatSeqBAIJSetPreallocationCSR(m, a.block, begin, columns, values));
  }
  return m;
}

}  // namespace

struct state {
  std::size_t n = 0;
  Mat a = nullptr, factors = nullptr;
  IS rows = nullptr, columns = nullptr;
  MatFactorInfo info{};
  Vec x = nullptr, b = nullptr;
};

session::session() {
  check(PetscInitializeNoArguments());
  check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
}
session::~session() { PetscFinalize(); }

ilu::ilu(const solver::matrix& a) : state_(std::make_unique<state>()) {
  state& s = *state_;
  s.n = a.order();
  s.a = make_matrix(a);
  check(MatGetOrdering(s.a, MATORDERINGNATURAL, &s.rows, &s.columns));
  check(MatFactorInfoInitialize(&s.info));
  check(VecCreateSeqWithArray(PETSC_COMM_SELF, a.block, static_cast<PetscInt>(s.n), nullptr, &s.x));
  check(VecDuplicate(s.x, &s.b));
  check(VecDestroy(&s.b));
  check(VecCreateSeqWithArray(PETSC_COMM_SELF, a.block, static_cast<PetscInt>(s.n), nullptr, &s.b));
}

ilu::~ilu() {
  VecDestroy(&state_->x);
  VecDestroy(&state_->b);
  ISDestroy(&state_->rows);
  ISDestroy(&state_->columns);
  MatDestroy(&state_->factors);
  MatDestroy(&state_->a);
}

void ilu::symbolic(int level) {
  state& s = *state_;
  check(MatDestroy(&s.factors));
  check(MatGetFactor(s.a, MATSOLVERPETSC, MAT_FACTOR_ILU, &s.factors));
  s.info.levels = level;
  s.info.fill = 1 + 2 * level;  // enough that PETSc needs not grow its arrays
  check(MatILUFactorSymbolic(s.factors, s.a, s.rows, s.columns, &s.info));
}

void ilu::numeric() { check(MatLUFactorNumeric(state_->factors, state_->a, &state_->info)); }

void ilu::solve(std::span<const double> b, std::span<double> x) {
  state& s = *state_;
  check(VecPlaceArray(s.b, b.data()));
  check(VecPlaceArray(s.x, x.data()));
  check(MatSolve(s.factors, s.b, s.x));
  check(VecResetArray(s.b));
  check(VecResetArray(s.x));
}

std::size_t ilu::numbers() const {
  MatInfo info;
  check(MatGetInfo(state_->factors, MAT_LOCAL, &info));
  return static_cast<std::size_t>(info.nz_used);
}

namespace {

PetscErrorCode apply(PC pc, Vec b, Vec x) {
  void* factors = nullptr;
  PetscCall(PCShellGetContext(pc, &factors));
  return MatSolve(static_cast<Mat>(factors), b, x);
}

void set_preconditioner(KSP solver, Mat factors) {
  PC pc = nullptr;
  check(KSPGetPC(solver, &pc));
  check(PCSetType(pc, PCSHELL));
  check(PCShellSetContext(pc, factors));
  check(PCShellSetApply(pc, apply));
}

}  // namespace

int ilu::gmres(std::span<const double> b, int restart, double tolerance, int most_iterations) {
  state& s = *state_;
  KSP solver = nullptr;
  check(KSPCreate(PETSC_COMM_SELF, &solver));
  check(KSPSetOperators(solver, s.a, s.a));
  check(KSPSetType(solver, KSPGMRES));
  check(KSPGMRESSetRestart(solver, restart));
  check(KSPGMRESSetCGSRefinementType(solver, KSP_GMRES_CGS_REFINE_IFNEEDED));
  check(KSPSetPCSide(solver, PC_RIGHT));
  check(KSPSetTolerances(solver, tolerance, 0, PETSC_DEFAULT, most_iterations));
  set_preconditioner(solver, s.factors);
  std::vector<double> x(s.n, 0.0);
  check(VecPlaceArray(s.b, b.data()));
  check(VecPlaceArray(s.x, x.data()));
  check(KSPSolve(solver, s.b, s.x));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
  check(KSPGetConvergedReason(solver, &reason));
  check(KSPGetIterationNumber(solver, &iterations));
  check(VecResetArray(s.b));
  check(VecResetArray(s.x));
  check(KSPDestroy(&solver));
  return reason > 0 ? static_cast<int>(iterations) : -1;
}

}  // namespace weir::bench::petsc
