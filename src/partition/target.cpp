// Targets, from machines or made of equal parts.
#include "partition/target.hpp"

#include "machine/machine.hpp"
#include "partition/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace weir::partition {
namespace {

bool is_amount(double x) { return std::isfinite(x) && x >= 0; }

// In units of the least that is more than nothing.
void scale_to_nearest(std::vector<double>& distance) {
  double nearest = 0;
  for (const double d : distance)
    if (d > 0 && (nearest == 0 || d < nearest)) nearest = d;
  for (double& d : distance) d = nearest > 0 ? d / nearest : 0;
}

}  // namespace

target equal_parts(int parts) { return {std::vector<double>(static_cast<std::size_t>(std::max(parts, 0)), 1.0), {}}; }

target target_of(const machine::description& m, const std::vector<int>& workers_of_node) {
  if (workers_of_node.size() != m.nodes.size())
    refuse(std::to_string(workers_of_node.size()) + " numbers of workers for " + std::to_string(m.nodes.size()) +
           " nodes");
  target t;
  t.capacity.assign(workers_of_node.begin(), workers_of_node.end());
  const int n = m.node_count();
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      const double more = m.read_cost(a, b) - m.read_cost(a, a) + m.read_cost(b, a) - m.read_cost(b, b);
      t.distance.push_back(a == b ? 0 : std::max(more, 0.0));
    }
  scale_to_nearest(t.distance);
  // Nodes that are no farther than home are near all the same: a cut between them costs a cache miss.
  if (std::all_of(t.distance.begin(), t.distance.end(), [](double d) { return d == 0; })) t.distance.clear();
  check(t);
  return t;
}

void check(const target& t) {
  const std::size_t n = t.capacity.size();
  if (n == 0) refuse("no part to divide onto");
  if (!std::all_of(t.capacity.begin(), t.capacity.end(), is_amount)) refuse("a part with a capacity below 0");
  if (std::all_of(t.capacity.begin(), t.capacity.end(), [](double c) { return c == 0; }))
    refuse("none of " + std::to_string(n) + " parts has a capacity above 0");
  if (t.distance.empty()) return;
  if (t.distance.size() != n * n)
    refuse(std::to_string(t.distance.size()) + " distances for " + std::to_string(n) + " parts, expected " +
           std::to_string(n * n));
  for (std::size_t a = 0; a < n; a++)
    for (std::size_t b = 0; b <= a; b++) {
      const double d = t.distance[a * n + b];
      const std::string where = "the distance of parts " + std::to_string(a) + " and " + std::to_string(b);
      if (!is_amount(d) || (a == b && d != 0)) refuse(where + " is " + std::to_string(d));
      if (d != t.distance[b * n + a]) refuse(where + " differs by direction");
    }
}

}  // namespace weir::partition
