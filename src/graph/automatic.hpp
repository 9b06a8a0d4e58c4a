// Which coarse string for this graph and machine: candidates that fit the graph's shape, and how long each would take.
#pragma once

#include "graph/aggregate.hpp"

#include <string>
#include <vector>

namespace weir::graphs {

// What a prediction goes by; nanoseconds.
struct run_costs {
  int workers = 1;
  double task_ns = 100;     // mean cost of a task of weight 1, or of a unit of weight
  double manage_ns = 200;   // making one aggregate ready, moving it to a worker, and starting it
  double jump_ns = 20;      // a member that does not follow its predecessor in memory: what it waits for its data
  double handed_on_ns = 5;  // an edge to another aggregate: data that may lie in another worker's cache
};

struct candidate {
  std::string coarse_string;
  aggregation result;
  double predicted_ns = 0;
};

// Everything in one aggregate: what a sequential program does.
inline constexpr const char* everything_in_one = "F(1)D(1000000000)";

// Time of a run by a greedy scheduler on so many equal workers (Graham, 1966), the first ready aggregate first.
// O(tasks + edges + aggregates log aggregates).
double predicted_ns(const coarse_input&, const aggregation&, const run_costs&);
// Of one worker without any management, tasks in their order.
double sequential_ns(const coarse_input&, const run_costs&);

// Coarse strings that suit the graph, best prediction first; the sequential one is among them. One string of each family of
// them is aggregated, and the others of those that promise something: five to fifteen aggregations.
std::vector<candidate> candidates(const coarse_input&, const lists& after, const run_costs&, std::size_t most_kept);

}  // namespace weir::graphs
