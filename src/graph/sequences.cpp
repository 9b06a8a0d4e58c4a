// S: sequences (Rossignon et al., PDSEC 2013, section III.A.1).
//
// No cycle: into an aggregate edges lead only to its first task, out of it only from its last one. So they lead from one
// first task to a later one, in any topological order.
#include "graph/aggregate.hpp"

namespace weir::graphs {

partition aggregate_sequences(const coarse_input& in) {
  std::vector<index> followers(in.tasks, 0);
  for (index t = 0; t < in.tasks; t++)
    for (index b : in.before.of(t)) followers[b]++;
  partition p{std::vector<index>(in.tasks), 0};
  for (std::size_t i = 0; i < in.tasks; i++) {
    const index t = in.at(i);
    const auto before = in.before.of(t);
    if (before.size() == 1 && followers[before[0]] == 1) p.of[t] = p.of[before[0]];
    else p.of[t] = static_cast<index>(p.count++);
  }
  return p;
}

}  // namespace weir::graphs
