// The rows of a factorisation as a task graph, for the numeric phase and for both triangular solves (seed 002, section IV):
// row i after the rows that its entries left of the diagonal name; backwards against the same edges. Where the pattern is
// not symmetric, rows are also ordered by the entries right of the diagonal, so that the same edges serve both ways.
//
//   weir::solver::row_tasks tasks(factors, "CD(4)");
//   tasks.factor(rt, factors, a);
//   tasks.solve(rt, factors, b, x);
#pragma once

#include <weir/coarse_graph.hpp>
#include <weir/graph.hpp>
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
  // The same, or "auto": a coarse string is chosen by trying some on forward solves with this runtime, and everything becomes
  // one task where none beats one row after the other. `f` has been factored. Some twenty aggregations and solves.
  row_tasks(const ilu& f, const std::string& coarsen, runtime& rt);
  row_tasks(const row_tasks&) = delete;
  row_tasks& operator=(const row_tasks&) = delete;

  // As ilu::factor and ilu::solve, by all workers. The result is the same, bit for bit. Not in two threads at once.
  // factor throws zero_pivot_error for a row that may be another one than the sequential factorisation's, if there are several.
  void factor(runtime& rt, ilu& f, const matrix& a);
  void solve(runtime& rt, const ilu& f, std::span<const double> b, std::span<double> x);

  std::size_t tasks() const noexcept { return rows_.tasks(); }
  std::size_t edges() const noexcept { return rows_.edges(); }
  // Tasks that are run: aggregates, or all.
  // The coarse string, also where it was chosen; or "none".
  std::string coarsening() const { return coarse_ ? coarse_->algorithms() : "none"; }
  std::size_t aggregated_tasks() const noexcept { return coarse_ ? coarse_->aggregates() : tasks(); }

 private:
  // Predecessors by row: the lower triangle as it is, or what was put together where the pattern is not symmetric.
  struct dependences {
    explicit dependences(const ilu& f);
    std::vector<std::size_t> begin;
    std::vector<index> more;
    std::span<const index> rows;
  };

  dependences dependences_;
  graph rows_;
  std::optional<coarse_graph> coarse_;
  std::vector<ilu::workspace> workspaces_;  // by worker
};

}  // namespace weir::solver
