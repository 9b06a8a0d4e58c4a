// Other runtimes, as they run a graph of rows: made once for a graph, run again and again.
#pragma once

#include "row_lists.hpp"

#include <functional>
#include <memory>
#include <string>

namespace weir::bench {

// The rows of one task, and the number of the thread, 0 to workers - 1, that works on them.
using row_body = std::function<void(std::span<const index> rows, int thread)>;

class row_runner {
 public:
  virtual ~row_runner() = default;
  // All tasks, and waits.
  virtual void run(const row_body& body, bool backwards) = 0;
};

// A oneTBB flow graph: a continue_node a task, made once, for either way.
std::unique_ptr<row_runner> make_onetbb(const row_graph& g, int workers);
// OpenMP tasks with dependences: created anew by every run, as they cannot be kept.
std::unique_ptr<row_runner> make_openmp_tasks(const row_graph& g, int workers);
// Level scheduling: a parallel loop of OpenMP's over the tasks of each level, one level after the other (Anderson and Saad,
// Solving Sparse Triangular Systems on Parallel Computers, 1989).
std::unique_ptr<row_runner> make_levels(const row_graph& g, int workers);

}  // namespace weir::bench
