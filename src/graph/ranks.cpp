// From the last tasks to the first ones.
#include "graph/ranks.hpp"

#include <algorithm>

namespace weir::graphs {

std::vector<std::uint8_t> ranks_of(const lists& before, const lists& after, std::span<const float> weight) {
  const std::vector<index> order = topological_order(before, after, weight.size());
  std::vector<double> chain(weight.size(), 0);
  double longest = 0;
  for (auto t = order.rbegin(); t != order.rend(); ++t) {
    for (const index next : after.of(*t)) chain[*t] = std::max(chain[*t], chain[next]);
    chain[*t] += static_cast<double>(weight[*t]);
    longest = std::max(longest, chain[*t]);
  }
  std::vector<std::uint8_t> ranks(weight.size(), 0);
  for (std::size_t t = 0; t < ranks.size() && longest > 0; t++)
    ranks[t] = static_cast<std::uint8_t>(std::min(rank_classes - 1.0, (1 - chain[t] / longest) * rank_classes));
  return ranks;
}

}  // namespace weir::graphs
