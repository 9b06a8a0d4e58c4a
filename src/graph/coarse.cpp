// Coarse graphs: made, drawn.
#include "graph/coarse.hpp"

#include "graph/graph.hpp"

#include <algorithm>

namespace weir::graphs {

// Multiplying by an odd number and shifting mixes every bit into the higher and then the lower ones.
std::uint64_t fingerprint(const bulk& g) {
  std::uint64_t h = 0x9e3779b97f4a7c15u ^ g.tasks();
  const auto mix = [&h](std::uint64_t value) {
    h = (h ^ value) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  };
  for (index t = 0; t < g.tasks(); t++) {
    mix(std::uint64_t{1} << 32 | g.before().size(t));
    for (index b : g.before().of(t)) mix(b);
  }
  return h;
}

coarse_input input_of(const bulk& g, std::vector<index>& order) {
  if (!g.ascending()) order = topological_order(g.before(), g.after(), g.tasks());
  return {g.before(), g.tasks(), g.cost_ns(), order};
}

}  // namespace weir::graphs

namespace weir::detail {

coarse_state::coarse_state(graph_state& f, std::string string, graphs::aggregation&& made)
    : fine(f), fine_tasks(f.task_count()), algorithms(std::move(string)), members(std::move(made.members)), aggregates(std::move(made.before)) {}

std::vector<float> coarse_state::weights() const {
  const std::span<const float> cost = fine.in_bulk().cost_ns();
  std::vector<float> sums(aggregates.tasks());
  for (std::size_t a = 0; a < sums.size(); a++) {
    double sum = 0;
    for (graphs::index t : members.view().of(static_cast<graphs::index>(a))) sum += cost.empty() ? 1 : static_cast<double>(cost[t]);
    sums[a] = static_cast<float>(sum);
  }
  return sums;
}

std::span<const std::uint8_t> coarse_state::ranks(bool transposed) {
  std::vector<std::uint8_t>& ranks = ranks_[transposed ? 1 : 0];
  if (ranks.size() != aggregates.tasks()) {
    const graphs::lists before = aggregates.before(), after = aggregates.after();
    ranks = transposed ? graphs::ranks_of(after, before, weights()) : graphs::ranks_of(before, after, weights());
  }
  return ranks;
}

const graphs::own_lists& coarse_state::reversed_members() {
  if (reversed_.item.size() == members.item.size()) return reversed_;
  reversed_ = members;
  for (std::size_t a = 0; a < aggregates.tasks(); a++)
    std::reverse(reversed_.item.begin() + static_cast<std::ptrdiff_t>(members.offset[a]), reversed_.item.begin() + static_cast<std::ptrdiff_t>(members.offset[a + 1]));
  return reversed_;
}

std::string coarse_state::to_dot() const {
  std::string dot = "digraph weir {\n";
  for (std::size_t a = 0; a < aggregates.tasks(); a++) dot += "  " + std::to_string(a) + " [label=\"" + std::to_string(a) + " (" + std::to_string(members.offset[a + 1] - members.offset[a]) + ")\"];\n";
  for (graphs::index a = 0; a < aggregates.tasks(); a++)
    for (graphs::index b : aggregates.before().of(a)) dot += "  " + std::to_string(b) + " -> " + std::to_string(a) + ";\n";
  return dot + "}\n";
}

std::string coarse_state::to_json() const {
  std::string json = "{\"algorithms\": \"" + algorithms + "\", \"aggregates\": [";
  for (graphs::index a = 0; a < aggregates.tasks(); a++) {
    json += (a == 0 ? "{\"id\": " : ", {\"id\": ") + std::to_string(a) + ", \"members\": [";
    for (std::size_t m = members.offset[a]; m < members.offset[a + 1]; m++) json += (m == members.offset[a] ? "" : ", ") + std::to_string(members.item[m]);
    json += node.empty() ? "]}" : "], \"node\": " + std::to_string(node[a]) + "}";
  }
  json += "], \"edges\": [";
  bool any = false;
  for (graphs::index a = 0; a < aggregates.tasks(); a++)
    for (graphs::index b : aggregates.before().of(a)) {
      json += (any ? ", [" : "[") + std::to_string(b) + ", " + std::to_string(a) + "]";
      any = true;
    }
  return json + "]}\n";
}

}  // namespace weir::detail
