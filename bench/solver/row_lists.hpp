// The rows of a factorisation as tasks in the form that other runtimes want: lists of rows, what each waits for, what waits
// for it, and levels; forwards and, turned round, backwards.
#pragma once

#include <weir/solver/ilu.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace weir::bench {

using solver::index;

// One way through the graph.
struct row_lists {
  std::vector<std::size_t> begin, before_begin, after_begin;  // tasks + 1 entries each
  std::vector<index> rows;                                    // of each task, in the order they are worked on
  std::vector<std::uint32_t> before, after;                   // tasks
  std::vector<std::uint32_t> by_level;                        // a topological order: tasks by the longest path to them
  std::vector<std::size_t> level_begin;                       // levels + 1 entries, into by_level

  std::size_t tasks() const { return begin.size() - 1; }
  std::span<const index> rows_of(std::size_t t) const { return {rows.data() + begin[t], begin[t + 1] - begin[t]}; }
  std::span<const std::uint32_t> before_of(std::size_t t) const { return {before.data() + before_begin[t], before_begin[t + 1] - before_begin[t]}; }
  std::span<const std::uint32_t> after_of(std::size_t t) const { return {after.data() + after_begin[t], after_begin[t + 1] - after_begin[t]}; }
};

struct row_graph {
  // `coarsen`: a coarse string, or "none": a task a row. For factors of symmetric pattern. Throws weir::configuration_error.
  row_graph(const solver::ilu& f, const std::string& coarsen);
  row_lists forward, backward;
};

}  // namespace weir::bench
