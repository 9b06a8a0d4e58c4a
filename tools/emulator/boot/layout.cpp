// From a machine's description to a guest's.
#include "layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include <weir/error.hpp>

namespace weir::emulator {
namespace {

// Distances as the firmware's table has them: 255 would mean that there is no way.
constexpr int local = 10, farthest = 254;
// Less, and the kernel has no room of its own; more, and boot takes long.
constexpr int least_mib = 64, usual_least_mib = 160, usual_most_mib = 1024, usual_total_mib = 2048;
// Where latencies are unknown: local memory answers in 80 ns, writes take a quarter longer, others follow the distance.
constexpr double read_ns_per_distance = 8, write_ns_per_distance = 10;
// Where bandwidth is unknown: 12.8 GB/s a controller, two channels of DDR3-800.
constexpr double usual_service_ns = 5;

[[noreturn]] void refuse(const machine::description& m, const std::string& what) { throw configuration_error(fmt::format("machine {}: {}", m.name, what)); }

void require_possible(const machine::description& m) {
  const int n = m.node_count();
  if (n > max_nodes) refuse(m, fmt::format("{} nodes, and the emulated kernel has at most {}", n, max_nodes));
  for (int a = 0; a < n; a++) {
    if (m.nodes[static_cast<std::size_t>(a)].memory_bytes == 0) refuse(m, fmt::format("node {} has no memory, and every emulated node has", a));
    for (int b = 0; b < a; b++)
      if (m.distance_between(a, b) != m.distance_between(b, a))
        refuse(m, fmt::format("expected symmetric distances, and that from node {} to node {} is {:g}, the way back {:g} (latencies may differ)", b, a, m.distance_between(b, a), m.distance_between(a, b)));
  }
  if (m.nodes[0].cpus.empty()) refuse(m, "node 0 has no CPU, and the emulated machine starts there");
  // The kernel gives the first numbers to nodes with CPUs: others before them would have another number inside.
  for (int a = 1; a < n; a++)
    if (m.nodes[static_cast<std::size_t>(a - 1)].cpus.empty() && !m.nodes[static_cast<std::size_t>(a)].cpus.empty()) refuse(m, fmt::format("node {} has CPUs and node {} none: expected nodes without CPUs to come last", a, a - 1));
}

int most_cpus(const machine::description& m) {
  std::size_t most = 0;
  for (const machine::node& n : m.nodes) most = std::max(most, n.cpus.size());
  return static_cast<int>(most);
}

int usual_memory_mib(int nodes) { return std::clamp(usual_total_mib / nodes, usual_least_mib, usual_most_mib); }

std::uint64_t available_mib() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) / 1024;
  return UINT64_MAX;
}

std::vector<double> latencies(const machine::description& m, const std::vector<double>& known, double per_distance) {
  if (!known.empty()) return known;
  std::vector<double> estimated;
  for (double d : m.distance) estimated.push_back(d * per_distance);
  return estimated;
}

// 64 bytes at the bandwidth that the best placed node has to this one's memory.
std::vector<double> service_times(const machine::description& m) {
  const auto n = static_cast<std::size_t>(m.node_count());
  std::vector<double> service(n, usual_service_ns);
  for (std::size_t to = 0; to < n && !m.read_gb_s.empty(); to++) {
    double best = 0;
    for (std::size_t from = 0; from < n; from++) best = std::max(best, m.read_gb_s[from * n + to]);
    if (best > 0) service[to] = static_cast<double>(line_bytes) / best;
  }
  return service;
}

}  // namespace

int layout::cpu_count() const { return std::accumulate(cpus.begin(), cpus.end(), 0); }
std::uint64_t layout::memory_total_mib() const { return std::accumulate(memory_mib.begin(), memory_mib.end(), std::uint64_t{0}); }

layout make_layout(const machine::description& m, const layout_options& options) {
  require_possible(m);
  layout shape;
  for (const machine::node& n : m.nodes) shape.cpus.push_back(std::min(options.cores, static_cast<int>(n.cpus.size())));
  const int most = most_cpus(m);
  if (options.cores > most) refuse(m, fmt::format("--cores {}: its nodes have {} CPUs at most", options.cores, most));
  if (shape.cpu_count() > max_cpus) refuse(m, fmt::format("{} CPUs, and the emulated machine has at most {} (--cores)", shape.cpu_count(), max_cpus));
  if (options.memory_mib != 0 && options.memory_mib < least_mib) refuse(m, fmt::format("--memory {}: expected {} MiB a node or more", options.memory_mib, least_mib));
  shape.memory_mib.assign(shape.cpus.size(), options.memory_mib != 0 ? options.memory_mib : usual_memory_mib(shape.nodes()));
  for (std::size_t i = 0; i < m.distance.size(); i++) {
    const bool same = i / m.nodes.size() == i % m.nodes.size();
    shape.distance.push_back(same ? local : std::clamp(static_cast<int>(std::lround(m.distance[i])), local + 1, farthest));
  }
  return shape;
}

model_config make_config(const machine::description& m, layout& shape, model_config config) {
  for (int node = 0; node < shape.nodes(); node++) {
    config.node_of_cpu.insert(config.node_of_cpu.end(), static_cast<std::size_t>(shape.cpus[static_cast<std::size_t>(node)]), node);
    config.node_bytes.push_back(std::uint64_t(shape.memory_mib[static_cast<std::size_t>(node)]) << 20);
  }
  config.read_ns = latencies(m, m.read_ns, read_ns_per_distance);
  config.write_ns = latencies(m, m.write_ns, write_ns_per_distance);
  config.service_ns = service_times(m);
  if (m.read_ns.empty() || m.write_ns.empty()) shape.notes.push_back("The machine's latencies are unknown: they are taken to follow the distances, 80 ns for a local read.");
  return config;
}

void require_memory(const layout& shape, bool model) {
  const std::uint64_t guest = shape.memory_total_mib(), directory = model ? guest / 16 : 0;
  const std::uint64_t needed = guest + directory, available = available_mib();
  if (needed > available) throw configuration_error(fmt::format("{} nodes of {} MiB may need {} MiB here, and {} MiB are available (--memory)", shape.nodes(), shape.memory_mib.back(), needed, available));
}

}  // namespace weir::emulator
