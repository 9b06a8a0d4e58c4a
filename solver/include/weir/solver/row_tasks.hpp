// The rows of a factorisation as a task graph, for the numeric phase and for both triangular solves (Rossignon, Henon,
// Aumage and Thibault, PDSEC 2013, section IV): row i after the rows that its entries left of the diagonal name;
// backwards against the same edges. Where the pattern is not symmetric, rows are also ordered by the entries right of
// the diagonal, so that the same edges serve both ways.
//
//   weir::solver::row_tasks tasks(factors, "CD(4)");
//   tasks.factor(rt, factors, a);
//   tasks.solve(rt, factors, b, x);
#pragma once

#include <weir/coarse_graph.hpp>
#include <weir/graph.hpp>
#include <weir/numa.hpp>
#include <weir/runtime.hpp>
#include <weir/solver/ilu.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weir::solver {

class row_tasks {
 public:
  // `coarsen`: a coarse string for weir::aggregate, or "none": a task a row, which costs more to manage than to run.
  // `f` must live as long and stay where it is. Valid for every factorisation with this pattern. O(entries). Throws
  // configuration_error for a coarse string that cannot be used.
  row_tasks(const ilu& f, const std::string& coarsen);
  // The same, or "auto": a coarse string is chosen by trying some with this runtime on forward solves, with the factors that
  // `f` has. A phase that no string makes faster is not run as tasks: its rows follow each other on the calling thread. Pairs of
  // solves and factorisations of `a` are tried with those that come near the fastest in forward solves; if solves are left
  // sequential, factorisations with others, too. Leaves `f` factored. Some ten aggregations, fifty pairs of solves and, where
  // they are long, fifteen factorisations.
  row_tasks(ilu& f, const matrix& a, const std::string& coarsen, runtime& rt);
  row_tasks(const row_tasks&) = delete;
  row_tasks& operator=(const row_tasks&) = delete;

  // As ilu::factor and ilu::solve, by all workers. The result is the same, bit for bit. Not in two threads at once.
  // factor throws zero_pivot_error for a row that may be another one than the sequential factorisation's, if there are several.
  void factor(runtime& rt, ilu& f, const matrix& a);
  void solve(runtime& rt, const ilu& f, std::span<const double> b, std::span<double> x);

  // On several nodes: shares the aggregates out among them (coarse_graph::distribute), and moves the memory of each row, in
  // the factors and in the matrix, to where it will be worked on. Best before the factors are written first, and under the
  // policy `node-queues`. Throws configuration_error without aggregation. O(entries), and what moving pages costs; large arrays
  // are copied into others of small pages, and spans of a.values and a.columns are then no longer valid.
  move_report distribute(runtime& rt, ilu& f, matrix& a);
  // Moves a vector of the triangular solves to where its rows are, page by page; nothing before distribute(). Placed so for
  // the solves, not for the product with the matrix, they are read where they were written (Rossignon et al., PDSEC
  // 2013, section VI.C, blame their losses on the other way round). O(rows in a page), and what moving pages costs.
  move_report place(std::span<double> vector) const;

  std::size_t tasks() const noexcept { return rows_.tasks(); }
  std::size_t edges() const noexcept { return rows_.edges(); }
  // The coarse string; or "none". Of what was chosen: that, "sequential", or "C, solves CD(4)" where phases differ.
  std::string coarsening() const;
  // Tasks that a factorisation runs: aggregates, or all.
  std::size_t aggregated_tasks() const noexcept;

 private:
  // Predecessors by row: the lower triangle as it is, or what was put together where the pattern is not symmetric.
  struct dependences {
    explicit dependences(const ilu& f);
    std::vector<std::size_t> begin;
    std::vector<index> more;
    std::span<const index> rows;
  };

  // Rows whose part of a vector lies on one node.
  struct home {
    std::size_t end;  // begins where the one before it ends
    int node;
  };
  void find_homes(runtime& rt);
  void choose(ilu& f, const matrix& a, runtime& rt);
  ilu::workspace& my_workspace(const ilu& f);
  const coarse_graph* graph_of_factor() const noexcept { return coarse_factor_ ? &*coarse_factor_ : &*coarse_; }
  coarse_graph* graph_of_factor() noexcept { return coarse_factor_ ? &*coarse_factor_ : &*coarse_; }
  void factor_as_tasks(runtime& rt, ilu& f, const matrix& a);
  void factor_with(coarse_graph* coarse, runtime& rt, ilu& f, const matrix& a);
  void solve_with(coarse_graph* coarse, runtime& rt, const ilu& f, std::span<const double> b, std::span<double> x);

  dependences dependences_;
  graph rows_;
  std::optional<coarse_graph> coarse_;
  std::optional<coarse_graph> coarse_factor_;  // where auto chose another one than for the solves
  bool factor_alone_ = false, solve_alone_ = false;  // auto: the calling thread is as fast
  std::vector<ilu::workspace> workspaces_;  // by worker
  int block_ = 1;
  std::vector<home> homes_;                 // of vectors, ascending; none before distribute()
};

}  // namespace weir::solver
