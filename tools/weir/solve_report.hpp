// What `weir solve` has to say: as a table, as JSON, and as a page with a plot of the residuals.
#pragma once

#include <bench/common/counters.hpp>

#include <weir/numa.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::tools {

// Times in seconds; of repeated runs the shortest.
struct solve_facts {
  std::string matrix, order, method, coarsen, policy, memory;
  int level = 0, workers = 0, nodes = 1, block = 1;
  std::size_t rows = 0, nonzeros = 0, factor_nonzeros = 0;  // numbers, not blocks
  std::size_t tasks = 0, edges = 0, aggregated_tasks = 0;
  std::int64_t shifted_pivots = 0;
  move_report pages;  // distributed over nodes
  double distribute_seconds = 0;
  double read_seconds = 0, order_seconds = 0, symbolic_seconds = 0, aggregate_seconds = 0;
  double factor_seconds = 0, sequential_factor_seconds = 0;
  double solve_seconds = 0, sequential_solve_seconds = 0;  // a pair of triangular solves
  // What such a pair moves at least, factors and vectors; and merely reading as many bytes.
  std::size_t solve_bytes = 0;
  double read_bytes_seconds = 0, sequential_read_bytes_seconds = 0;
  double iterate_seconds = 0;
  int iterations = 0;
  double residual = 0, tolerance = 0;
  bool converged = false;
  std::string why;
  bench::region_counts factor_counts, solve_counts;  // of the last runs
  std::string counters_missing;  // which of them, and why
  std::vector<double> history;  // residuals relative to the right side, from before the first iteration on
};

std::string to_table(const solve_facts&);
std::string to_json(const solve_facts&);
// A page that needs nothing but itself.
std::string to_html(const solve_facts&);

}  // namespace weir::tools
