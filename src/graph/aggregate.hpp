// Aggregation of graphs: tasks are put together until managing one costs little beside running it (Rossignon, Henon,
// Aumage and Thibault, PDSEC 2013, section III).
//
// An algorithm looks at a graph and says for every task which aggregate it belongs to. The aggregates are a graph again,
// without a cycle, on which the next algorithm works.
#pragma once

#include "graph/dag.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::graphs {

// One step of a coarse string, such as D(300).
struct coarsening {
  char algorithm = 'S';             // S, C, D, F or T
  std::optional<index> parameter;   // C may go without, S does
};

// From a coarse string: "SD(300)F(32)" is S, then D(300), then F(32). Throws configuration_error of three lines: what was
// expected, the string, and a caret below the place.
std::vector<coarsening> parse_coarse_string(std::string_view text);
std::string to_string(const std::vector<coarsening>&);

// What an algorithm looks at. Nothing here is its own.
struct coarse_input {
  lists before;
  std::size_t tasks = 0;
  std::span<const float> weight = {};  // of each task; empty: all alike
  std::span<const index> order = {};   // a topological order; empty: 0, 1, 2, ... is one

  index at(std::size_t position) const { return order.empty() ? static_cast<index>(position) : order[position]; }
  double weight_of(index t) const { return weight.empty() ? 1 : static_cast<double>(weight[t]); }
};

// Which aggregate each task belongs to. Every number below `count` is somebody's, and edges between aggregates make no
// cycle.
struct partition {
  std::vector<index> of;
  std::size_t count = 0;
};

// S (section III.A.1): a task joins its predecessor if each is the other's only one. O(tasks + edges).
partition aggregate_sequences(const coarse_input&);
// F(n) (III.A.2): the tasks of each level (longest path from a first task) become at most n aggregates of similar weight,
// each a range of the level in order of the tasks' numbers. O(tasks + edges).
partition aggregate_fronts(const coarse_input&, std::size_t most_per_level);
// The same cut for placement: which part each task is in. A part gets `shares[part]` of each level's weight in proportion;
// of tasks of equal weight as many as the largest remainders give it, the first ones first where these are equal. A level
// with few tasks leaves some parts empty. O(tasks + edges + levels * parts).
std::vector<index> parts_of_levels(const coarse_input&, std::span<const index> shares);
// D(m) (III.A.3, Algorithm 1): a ready task and up to m - 1 of the tasks that become ready by it, breadth first, those with
// more predecessors in the aggregate before others of their level. O(tasks log m + edges).
partition aggregate_depth_fronts(const coarse_input&, const lists& after, std::size_t most_tasks);
// C(n) (III.A.4): a task continues the aggregate that its nearest predecessor ends, if no cycle can come of it; at most n
// tasks each. O(tasks + edges).
partition aggregate_continuations(const coarse_input&, std::size_t most_tasks);

// T(n), not in the paper: the largest parts of at most n tasks that lie one behind the other and wait for nothing
// outside, as those of a nested dissection do. Tasks that separate such parts stay alone. O(tasks + edges).
partition aggregate_subtrees(const coarse_input&, std::size_t most_tasks);

// The members of every aggregate, in an order that keeps dependences. O(tasks).
own_lists members_of(const coarse_input&, const partition&);
// What comes before each aggregate, every one named once. O(tasks + edges).
own_lists quotient(const coarse_input&, const partition&, const own_lists& members);

struct aggregation {
  own_lists members;  // of every aggregate, tasks of the original graph in an order that keeps dependences
  own_lists before;
};

// After some steps of a coarse string, so that strings which begin alike share these. first_step O(tasks + edges), next_step
// O(tasks + edges between aggregates), last_step O(tasks).
struct stage {
  partition whole;  // of the original graph
  own_lists before;
  std::vector<float> weight;  // of each aggregate
};
stage first_step(const coarse_input&, const lists& after, const coarsening&);
stage next_step(stage, const coarsening&);
aggregation last_step(const coarse_input&, stage);

// All steps, one after the other.
aggregation aggregate(const coarse_input&, const lists& after, const std::vector<coarsening>&);

}  // namespace weir::graphs
