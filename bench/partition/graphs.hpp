// Task graphs to divide: of the kernels, of the shapes of bench/shapes, and at random.
#pragma once

#include "partition/partition.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weir::bench {

// `cost` in ns; bytes in any unit: what matters is how they compare with each other.
struct task_graph {
  std::string name;
  std::vector<std::uint64_t> cost;
  std::vector<partition::edge> edges;

  partition::vertex add(std::uint64_t ns = 10'000) {
    cost.push_back(ns);
    return static_cast<partition::vertex>(cost.size() - 1);
  }
  void read(partition::vertex reader, partition::vertex writer, std::uint64_t bytes) {
    edges.push_back({writer, reader, bytes});
  }
};

// A line of `width` tasks in each of `steps`: each reads its own block, 128, and of its neighbours halos, 4 each, or
// their blocks `whole`, as far as one knows where dependences have no lengths.
task_graph stencil(std::size_t steps, std::size_t width, bool whole = false);
// A square of side x side tasks in each step, blocks and halos as above.
task_graph square_stencil(std::size_t steps, std::size_t side);
// In place: each reads what its left neighbour has written in this step, and its right one in the step before.
task_graph gauss_seidel(std::size_t steps, std::size_t width);
// Half of the blocks of a line in each half step.
task_graph red_black(std::size_t steps, std::size_t width);
// side x side tiles; each reads its neighbours above and on the left.
task_graph wavefront(std::size_t side);
// Tiles of the lower triangle: factorise, solve, update.
task_graph cholesky(std::size_t tiles);
task_graph chains(std::size_t count, std::size_t length);
// A reduction of `leaves` to one.
task_graph tree(std::size_t leaves);
// Each task reads up to three of the `reach` before it, few or many bytes.
task_graph random_dag(std::size_t tasks, std::size_t reach, std::uint64_t seed);
// Each reads `degree` of all before it: nothing in it is local.
task_graph scattered(std::size_t tasks, std::size_t degree, std::uint64_t seed);
// Blocks exchanged at distances 1, 2, 4, ...
task_graph butterfly(std::size_t width);
// Rounds of tasks that all read what one task has made of those before.
task_graph fork_join(std::size_t rounds, std::size_t width);

// One of each, of some thousands to a million tasks.
std::vector<task_graph> graphs_to_divide();
// Of 100,000 tasks and 500,000 edges, and ten times that: a stencil, and what is worst for every partitioner.
std::vector<task_graph> large_graphs();

}  // namespace weir::bench
