// A machine of equal nodes, for tests and pretended machines, and the string that asks for one.
#include <charconv>
#include <optional>
#include <sstream>
#include <string>

#include "machine/detail.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;
constexpr double largest_distance = 1e6;

void require_size(int nodes, int cpus_per_node, double remote_distance) {
  using detail::count_of;
  if (nodes < 1 || nodes > max_nodes) throw machine_error("synthetic machine: expected 1 to " + std::to_string(max_nodes) + " nodes, got " + std::to_string(nodes));
  if (cpus_per_node < 1 || cpus_per_node > max_cpus / nodes)
    throw machine_error("synthetic machine: expected 1 to " + std::to_string(max_cpus / nodes) + " CPUs per node with " + count_of(static_cast<std::size_t>(nodes), "node") + ", got " +
                        std::to_string(cpus_per_node));
  if (!(remote_distance >= local_distance && remote_distance <= largest_distance))
    throw machine_error("synthetic machine: expected a distance from 10 (local) to 1000000, got " + detail::number(remote_distance));
}

template <typename T>
std::optional<T> parse(const std::string& text) {
  T value{};
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

description synthetic(int nodes, int cpus_per_node, double remote_distance) {
  require_size(nodes, cpus_per_node, remote_distance);
  description m;
  m.name = "synthetic-" + std::to_string(nodes) + 'x' + std::to_string(cpus_per_node);
  m.distance.assign(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(nodes), remote_distance);
  for (int n = 0; n < nodes; n++) {
    m.nodes.push_back({.os_index = n, .memory_bytes = 16 * gib, .cpus = {}});
    m.distance[static_cast<std::size_t>(n) * static_cast<std::size_t>(nodes + 1)] = local_distance;
    for (int k = 0; k < cpus_per_node; k++) m.cpus.push_back({.os_index = n * cpus_per_node + k, .node = n, .core = n * cpus_per_node + k, .package = n});
  }
  detail::index_cpus(m);
  m.caches = {{1, 32 * kib, 1}, {2, 512 * kib, 1}, {3, static_cast<std::uint64_t>(cpus_per_node) * mib, cpus_per_node}};
  detail::derive_classes(m);
  return m;
}

namespace detail {

bool is_node_list(const std::string& specification) {
  for (const char* key : {"nodes:", "cpus:", "distance:"})
    if (specification.starts_with(key) || specification.find(std::string(" ") + key) != std::string::npos) return true;
  return false;
}

description parse_node_list(const std::string& specification) {
  auto refuse = [&](const std::string& token) -> machine_error {
    return machine_error("machine \"" + specification + "\": expected nodes:N cpus:K [distance:D], each once, got \"" + token + '"');
  };
  std::optional<int> nodes, cpus;
  std::optional<double> distance;
  std::istringstream tokens(specification);
  for (std::string token; tokens >> token;) {
    std::size_t colon = token.find(':');
    std::string key = token.substr(0, colon), value = colon == std::string::npos ? "" : token.substr(colon + 1);
    bool understood = false;
    if (key == "nodes" && !nodes) understood = (nodes = parse<int>(value)).has_value();
    else if (key == "cpus" && !cpus) understood = (cpus = parse<int>(value)).has_value();
    else if (key == "distance" && !distance) understood = (distance = parse<double>(value)).has_value();
    if (!understood) throw refuse(token);
  }
  if (!nodes || !cpus) throw machine_error("machine \"" + specification + "\": expected nodes:N cpus:K [distance:D], " + (nodes ? "cpus" : "nodes") + " is missing");
  return synthetic(*nodes, *cpus, distance.value_or(2 * local_distance));
}

}  // namespace detail
}  // namespace weir::machine
