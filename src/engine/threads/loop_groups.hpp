// Which workers share the lines in which they hear of parallel loops, and in which they come and go.
#pragma once

#include <algorithm>

namespace weir::engine {

// Neighbouring nodes, of about 32 workers together, or one node. Who calls a loop writes, or reads, a line
// for each group, one after the other.
class loop_groups {
 public:
  loop_groups(int nodes, int workers)
      : nodes_a_group_(std::max(1, workers_a_group * nodes / std::max(workers, 1))),
        count_((nodes - 1) / nodes_a_group_ + 1) {}

  int count() const { return count_; }
  int of(int node) const { return std::max(node, 0) / nodes_a_group_; }  // negative: unknown

 private:
  // More: lines go from one to the next for longer. Fewer: the caller begins later, and knows later that all have left.
  static constexpr int workers_a_group = 32;

  const int nodes_a_group_, count_;
};

}  // namespace weir::engine
