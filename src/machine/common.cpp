// Helpers of the readers: classes of distance, checks, text.
#include <algorithm>
#include <charconv>
#include <map>

#include "machine/detail.hpp"
#include "weir/error.hpp"

namespace weir::machine::detail {

std::string count_of(std::size_t count, const std::string& noun) { return std::to_string(count) + ' ' + noun + (count == 1 ? "" : "s"); }

std::string number(double value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void derive_classes(description& m) {
  std::map<double, int> remote;
  for (int i = 0; i < m.node_count(); i++)
    for (int j = 0; j < m.node_count(); j++)
      if (i != j) remote.emplace(m.distance_between(i, j), 0);
  m.class_names = {"local"};
  for (auto& [distance, index] : remote) {
    index = static_cast<int>(m.class_names.size());
    m.class_names.push_back("distance " + number(distance));
  }
  m.distance_class.assign(m.distance.size(), 0);
  for (int i = 0; i < m.node_count(); i++)
    for (int j = 0; j < m.node_count(); j++)
      if (i != j) m.distance_class[static_cast<std::size_t>(i * m.node_count() + j)] = remote[m.distance_between(i, j)];
}

void assume_distances(description& m, const std::string& why) {
  std::size_t n = m.nodes.size();
  m.distance.assign(n * n, 2 * local_distance);
  for (std::size_t i = 0; i < n; i++) m.distance[i * (n + 1)] = local_distance;
  if (n > 1)
    m.notes.push_back("The distances between nodes are unknown (" + why +
                      "), so 10 for local and 20 for remote is assumed: all remote nodes look equally far, and stealing and placement cannot prefer the nearer ones.");
}

std::optional<std::string> distance_defect(const description& m) {
  for (int i = 0; i < m.node_count(); i++)
    for (int j = 0; j < m.node_count(); j++) {
      std::string pair = "from node " + std::to_string(i) + " to node " + std::to_string(j);
      if (!(m.distance_between(i, j) > 0)) return "the distance " + pair + " is not positive";
      if (m.distance_between(i, j) < m.distance_between(i, i)) return "the distance " + pair + " is smaller than the local one";
    }
  return std::nullopt;
}

bool is_symmetric(const description& m) {
  for (int i = 0; i < m.node_count(); i++)
    for (int j = 0; j < i; j++)
      if (m.distance_between(i, j) != m.distance_between(j, i)) return false;
  return true;
}

void index_cpus(description& m) {
  for (node& n : m.nodes) n.cpus.clear();
  for (std::size_t c = 0; c < m.cpus.size(); c++) m.nodes[static_cast<std::size_t>(m.cpus[c].node)].cpus.push_back(static_cast<int>(c));
}

void require_sane_size(const description& m, const std::string& what) {
  if (m.nodes.empty()) throw machine_error(what + ": expected at least 1 node, got none");
  if (m.cpus.empty()) throw machine_error(what + ": expected at least 1 CPU, got none");
  if (m.nodes.size() > max_nodes) throw machine_error(what + ": expected at most " + std::to_string(max_nodes) + " nodes, got " + std::to_string(m.nodes.size()));
  if (m.cpus.size() > max_cpus) throw machine_error(what + ": expected at most " + std::to_string(max_cpus) + " CPUs, got " + std::to_string(m.cpus.size()));
}

}  // namespace weir::machine::detail
