// C(n): continuations (Rossignon et al., PDSEC 2013, section III.A.4), so that an aggregate reads memory from one end
// to the other: for a cube of cells in their natural order it is a row of cells.
//
// The paper says what comes out for a cube, not how. Here a task continues the aggregate that its nearest predecessor
// (the one with the highest number) ends.
//
// No cycle: every aggregate has a rank, given with its first task: one more than the highest rank of an aggregate that a
// predecessor of that task is in. A task joins only if all its other predecessors are in aggregates of lower rank, or in
// the same aggregate. So edges between aggregates always lead to a higher rank.
#include "graph/aggregate.hpp"

#include <algorithm>

namespace weir::graphs {

partition aggregate_continuations(const coarse_input& in, std::size_t most_tasks) {
  struct aggregate {
    index rank, last, tasks;
  };
  std::vector<aggregate> all;
  partition p{std::vector<index>(in.tasks), 0};
  for (std::size_t i = 0; i < in.tasks; i++) {
    const index t = in.at(i);
    const auto before = in.before.of(t);
    index nearest = 0;
    for (index b : before) nearest = std::max(nearest, b);
    const index candidate = before.empty() ? 0 : p.of[nearest];
    bool joins = !before.empty() && all[candidate].last == nearest && all[candidate].tasks < most_tasks;
    index rank = 0;
    for (index b : before) {
      const index other = p.of[b];
      joins = joins && (other == candidate || all[other].rank < all[candidate].rank);
      rank = std::max(rank, all[other].rank + 1);
    }
    if (joins) {
      p.of[t] = candidate;
      all[candidate].last = t;
      all[candidate].tasks++;
    } else {
      p.of[t] = static_cast<index>(all.size());
      all.push_back({rank, t, 1});
    }
  }
  p.count = all.size();
  return p;
}

}  // namespace weir::graphs
