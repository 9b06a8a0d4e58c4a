// What a graph is divided onto: parts, which are nodes of a machine, how much each of them can do, and how far apart
// they are.
#pragma once

#include <cstddef>
#include <vector>

namespace weir::machine {
struct description;
}

namespace weir::partition {

struct target {
  // What each part can do, its number of workers for instance. 0: it gets nothing but what is fixed there.
  std::vector<double> capacity;
  // What a byte costs between two parts, parts x parts, the same in both directions and 0 within a part; 1 is the
  // usual unit. Empty: 1 between any two.
  std::vector<double> distance;

  int parts() const { return static_cast<int>(capacity.size()); }
  double between(int a, int b) const {
    if (distance.empty()) return a == b ? 0 : 1;
    return distance[static_cast<std::size_t>(a) * capacity.size() + static_cast<std::size_t>(b)];
  }
};

// Parts of the same size, equally far apart.
target equal_parts(int parts);

// A part for each node; `workers_of_node`: how many. The distance of two nodes is what reading costs from the other
// one more than at home, by the machine's latencies or else by the firmware's distances, as the mean of both
// directions; 1 between the nearest two. Throws usage_error unless each node has its number and one of them has a
// worker.
target target_of(const machine::description&, const std::vector<int>& workers_of_node);

// Throws usage_error: no part, no capacity at all, numbers that are negative or not finite, a matrix of another size,
// one that differs by direction, or with a distance within a part.
void check(const target&);

}  // namespace weir::partition
