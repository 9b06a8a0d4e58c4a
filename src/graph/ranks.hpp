// What is still to come behind each task of a graph: for schedulers that take the tasks with most behind them first.
#pragma once

#include "graph/dag.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weir::graphs {

inline constexpr int rank_classes = 16;

// Of each task the weight of the heaviest chain that begins with it (the upward rank of Topcuoglu, Hariri and Wu, IEEE
// Transactions on Parallel and Distributed Systems 13, 2002, section 4.1, of tasks that tell each other nothing), as one
// of so many equal classes: 0 for what has most behind it. `weight`: of each task. O(tasks + edges).
std::vector<std::uint8_t> ranks_of(const lists& before, const lists& after, std::span<const float> weight);

}  // namespace weir::graphs
