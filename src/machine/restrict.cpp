// What the process may use of the machine, applied to its description.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "machine/detail.hpp"
#include "weir/error.hpp"

namespace weir::machine::detail {
namespace {

bool contains(const std::vector<int>& ascending, int value) { return std::binary_search(ascending.begin(), ascending.end(), value); }

std::string amount(double bytes) {
  return number(std::round(bytes / (1 << 30) * 10) / 10) + " GiB";
}

void drop_cpus(description& m, const os::limits& limits) {
  if (!limits.cpus) {
    m.notes.push_back("The CPUs this process may use are unknown, so all are used: workers on forbidden CPUs stay unbound.");
    return;
  }
  std::size_t before = m.cpus.size();
  std::erase_if(m.cpus, [&](const cpu& c) { return !contains(*limits.cpus, c.os_index); });
  if (m.cpus.empty()) throw machine_error("host: expected at least one CPU of the machine in the allowed set {" + os::format_index_list(*limits.cpus) + "}");
  if (m.cpus.size() < before)
    m.notes.push_back("Only " + std::to_string(m.cpus.size()) + " of " + count_of(before, "CPU") + " may be used (CPUs " + os::format_index_list(*limits.cpus) +
                      ", by affinity or cpuset): the others get no worker.");
}

// Where the CPUs of a dropped node go: the nearest node left, the lowest index among equals.
int nearest_kept(const description& m, const std::vector<bool>& keep, int from) {
  int best = -1;
  for (int to = 0; to < m.node_count(); to++)
    if (keep[static_cast<std::size_t>(to)] && (best < 0 || m.distance_between(from, to) < m.distance_between(from, best))) best = to;
  return best;
}

template <typename T>
void shrink_matrix(std::vector<T>& matrix, const std::vector<bool>& keep) {
  std::size_t n = keep.size();
  std::vector<T> smaller;
  for (std::size_t i = 0; i < matrix.size(); i++)
    if (keep[i / n] && keep[i % n]) smaller.push_back(matrix[i]);
  matrix = std::move(smaller);
}

void remove_nodes(description& m, const std::vector<bool>& keep) {
  std::vector<int> renumbered(keep.size(), -1);
  int next = 0;
  for (std::size_t i = 0; i < keep.size(); i++)
    if (keep[i]) renumbered[i] = next++;
  for (cpu& c : m.cpus) {
    int home = keep[static_cast<std::size_t>(c.node)] ? c.node : nearest_kept(m, keep, c.node);
    c.node = renumbered[static_cast<std::size_t>(home)];
  }
  for (auto* matrix : {&m.distance, &m.read_ns, &m.write_ns, &m.read_gb_s, &m.write_gb_s}) shrink_matrix(*matrix, keep);
  shrink_matrix(m.distance_class, keep);
  std::size_t index = 0;
  std::erase_if(m.nodes, [&](const node&) { return !keep[index++]; });
}

void drop_memory(description& m, const os::limits& limits) {
  if (!limits.memory_nodes) {
    if (m.node_count() > 1) m.notes.push_back("The memory nodes this process may use are unknown, so all are used: where the kernel refuses one, its pages land elsewhere.");
    return;
  }
  std::vector<bool> keep;
  std::vector<int> lost;
  double lost_bytes = 0;
  for (const node& n : m.nodes) {
    // A node without memory offers none to forbid; it stays for its CPUs.
    keep.push_back(contains(*limits.memory_nodes, n.os_index) || n.memory_bytes == 0);
    if (!keep.back()) lost.push_back(n.os_index), lost_bytes += static_cast<double>(n.memory_bytes);
  }
  if (lost.empty()) return;
  if (lost.size() == keep.size()) throw machine_error("host: expected at least one memory node of the machine in the allowed set {" + os::format_index_list(*limits.memory_nodes) + "}");
  bool had_cpus = std::any_of(m.cpus.begin(), m.cpus.end(), [&](const cpu& c) { return !keep[static_cast<std::size_t>(c.node)]; });
  remove_nodes(m, keep);
  m.notes.push_back((lost.size() == 1 ? "Node " : "Nodes ") + os::format_index_list(lost) + " may not be used for memory (cpuset): " + amount(lost_bytes) +
                    (lost.size() == 1 ? " is out of reach" : " are out of reach") +
                    (had_cpus ? ", and the CPUs there count to the nearest node left, so all their accesses are remote." : "."));
}

// A node with neither CPUs nor memory serves nothing.
void drop_empty_nodes(description& m) {
  std::vector<bool> keep;
  for (const node& n : m.nodes) keep.push_back(n.memory_bytes > 0 || !n.cpus.empty());
  bool all = std::all_of(keep.begin(), keep.end(), [](bool k) { return k; });
  if (all || std::none_of(keep.begin(), keep.end(), [](bool k) { return k; })) return;
  remove_nodes(m, keep);
}

void note_quota(description& m, const os::limits& limits) {
  m.cpu_quota = limits.cpu_quota;
  if (m.cpu_quota > 0 && m.cpu_quota < static_cast<double>(m.cpus.size()))
    m.notes.push_back("The cgroup grants the time of " + number(m.cpu_quota) + " CPUs (" + limits.cpu_quota_file + ") while " + count_of(m.cpus.size(), "CPU") +
                      " may be used: when the quota of a period is spent, all workers stop until the next one.");
}

void note_memory_limit(description& m, const os::limits& limits) {
  double all = 0;
  for (const node& n : m.nodes) all += static_cast<double>(n.memory_bytes);
  if (limits.memory_bytes == 0 || static_cast<double>(limits.memory_bytes) >= all) return;
  m.memory_limit_bytes = limits.memory_bytes;
  m.notes.push_back("The cgroup grants " + amount(static_cast<double>(limits.memory_bytes)) + " of " + amount(all) + " of memory (" + limits.memory_file +
                    "): a program that needs more is killed, however much is free on the nodes.");
}

void note_odd_nodes(description& m) {
  std::vector<int> without_memory, without_cpus;
  for (const node& n : m.nodes) {
    if (n.memory_bytes == 0) without_memory.push_back(n.os_index);
    if (n.cpus.empty()) without_cpus.push_back(n.os_index);
  }
  auto subject = [](const std::vector<int>& nodes) { return (nodes.size() == 1 ? "Node " : "Nodes ") + os::format_index_list(nodes) + (nodes.size() == 1 ? " has " : " have "); };
  if (!without_memory.empty() && m.node_count() > 1) m.notes.push_back(subject(without_memory) + "CPUs but no memory: every access from there is remote.");
  if (!without_cpus.empty()) m.notes.push_back(subject(without_cpus) + "no CPU that may be used: no worker runs there, and its memory is remote to all.");
}

}  // namespace

void assign_nodes_from_sysfs(description& m, const std::string& root) {
  for (std::size_t n = 0; n < m.nodes.size(); n++) {
    std::ifstream file(
        os::join_paths(root, "sys/devices/system/node/node" + std::to_string(m.nodes[n].os_index) + "/cpulist"));
    std::string text;
    if (!file || (std::getline(file, text), file.bad())) continue;
    auto listed = os::parse_index_list(text);
    if (!listed) continue;
    for (cpu& c : m.cpus)
      if (contains(*listed, c.os_index)) c.node = static_cast<int>(n);
  }
  index_cpus(m);
}

void restrict_to(description& m, const os::limits& limits) {
  drop_cpus(m, limits);
  drop_memory(m, limits);
  index_cpus(m);
  drop_empty_nodes(m);
  index_cpus(m);
  note_odd_nodes(m);
  note_quota(m, limits);
  note_memory_limit(m, limits);
}

}  // namespace weir::machine::detail
