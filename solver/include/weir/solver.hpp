// A solver for sparse linear systems, on weir: incomplete factorisations and triangular solves as task graphs with one task
// a row, aggregated; Krylov methods; orderings; Matrix Market files.
//
//   weir::runtime rt;
//   const weir::solver::matrix a = weir::solver::read_matrix_market("a.mtx");
//   weir::solver::ilu factors(a, {.level = 1});
//   weir::solver::row_tasks tasks(factors, "CD(4)");
//   tasks.factor(rt, factors, a);
//   weir::solver::array<double> b(a.order(), 1.0), x(a.order(), 0.0);
//   const auto precondition = [&](std::span<const double> in, std::span<double> out) { tasks.solve(rt, factors, in, out); };
//   const auto result = weir::solver::solve(rt, a, precondition, b, x, {.tolerance = 1e-8});
#pragma once

#include <weir/solver/generators.hpp>
#include <weir/solver/ilu.hpp>
#include <weir/solver/krylov.hpp>
#include <weir/solver/matrix.hpp>
#include <weir/solver/matrix_market.hpp>
#include <weir/solver/ordering.hpp>
#include <weir/solver/row_tasks.hpp>
