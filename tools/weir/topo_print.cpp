// Tables, matrices and JSON of a machine.
#include "topo_print.hpp"

#include <bench/common/plural.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace weir::tools {
namespace {

using machine::description;
using lines = std::back_insert_iterator<std::string>;

using bench::plural;

std::vector<int> os_cpus(const description& m, const machine::node& n) {
  std::vector<int> indices;
  for (int c : n.cpus) indices.push_back(m.cpus[static_cast<std::size_t>(c)].os_index);
  std::sort(indices.begin(), indices.end());
  return indices;
}

template <typename Member>
std::vector<int> distinct(const description& m, const std::vector<int>& cpus, Member member) {
  std::set<int> values;
  for (int c : cpus) values.insert(m.cpus[static_cast<std::size_t>(c)].*member);
  return {values.begin(), values.end()};
}

void header(lines out, const description& m) {
  std::vector<int> all(m.cpus.size());
  for (std::size_t c = 0; c < all.size(); c++) all[c] = static_cast<int>(c);
  std::uint64_t bytes = 0;
  for (const machine::node& n : m.nodes) bytes += n.memory_bytes;
  fmt::format_to(out, "{}: {}, {} ({}, {}), {}\n", m.name, plural(m.nodes.size(), "node"), plural(m.cpus.size(), "CPU"),
                 plural(distinct(m, all, &machine::cpu::core).size(), "core"), plural(distinct(m, all, &machine::cpu::package).size(), "package"), size_text(bytes));
  if (!m.source.empty()) fmt::format_to(out, "source: {}\n", m.source);
  if (m.cpu_quota > 0) fmt::format_to(out, "quota: the time of {} CPU{}\n", m.cpu_quota, m.cpu_quota == 1 ? "" : "s");
  if (m.memory_limit_bytes > 0) fmt::format_to(out, "memory limit: {}\n", size_text(m.memory_limit_bytes));
  std::string caches;
  for (const machine::cache& c : m.caches)
    caches += fmt::format("{}L{} {} for {}", caches.empty() ? "" : ", ", c.level, size_text(c.bytes),
                          plural(c.cpus_sharing, "CPU"));
  fmt::format_to(out, "caches: {}\n", caches.empty() ? "unknown" : caches);
}

void node_table(lines out, const description& m) {
  std::size_t width = 4;
  bool renumbered = false;
  for (std::size_t n = 0; n < m.nodes.size(); n++) {
    width = std::max(width, machine::index_ranges(os_cpus(m, m.nodes[n])).size());
    renumbered = renumbered || m.nodes[n].os_index != static_cast<int>(n);
  }
  fmt::format_to(out, "\nnode{}  {:>{}}  cores      memory  package\n", renumbered ? "  system's" : "", "CPUs", width);
  for (std::size_t n = 0; n < m.nodes.size(); n++) {
    const machine::node& node = m.nodes[n];
    auto or_dash = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
    fmt::format_to(out, "{:>4}", n);
    if (renumbered) fmt::format_to(out, "  {:>8}", node.os_index);
    fmt::format_to(out, "  {:>{}}  {:>5}  {:>10}  {:>7}\n", or_dash(machine::index_ranges(os_cpus(m, node))), width, distinct(m, node.cpus, &machine::cpu::core).size(),
                   node.memory_bytes == 0 ? "-" : size_text(node.memory_bytes), or_dash(machine::index_ranges(distinct(m, node.cpus, &machine::cpu::package))));
  }
}

template <typename T>
void matrix(lines out, const std::string& title, const std::vector<T>& values, std::size_t n, int decimals) {
  std::vector<std::string> cells;
  std::size_t width = std::to_string(n - 1).size();
  for (T v : values) cells.push_back(fmt::format("{:.{}f}", static_cast<double>(v), decimals)), width = std::max(width, cells.back().size());
  fmt::format_to(out, "\n{}\n{:>7}", title, "from\\to");
  for (std::size_t j = 0; j < n; j++) fmt::format_to(out, "  {:>{}}", j, width);
  for (std::size_t i = 0; i < n; i++) {
    fmt::format_to(out, "\n{:>7}", i);
    for (std::size_t j = 0; j < n; j++) fmt::format_to(out, "  {:>{}}", cells[i * n + j], width);
  }
  fmt::format_to(out, "\n");
}

int decimals_of(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); }) ? 0 : 1;
}

// A figure by class, or nothing where pairs of one class differ.
std::vector<double> by_class(const description& m, const std::vector<double>& values) {
  std::vector<double> result(m.class_names.size(), 0);
  for (std::size_t i = 0; i < values.size(); i++) {
    double& first = result[static_cast<std::size_t>(m.distance_class[i])];
    if (first != 0 && first != values[i]) return {};
    first = values[i];
  }
  return result;
}

struct figure {
  const char* title;
  const char* column;
  const std::vector<double>* values;
  int decimals;
};

std::vector<figure> known_figures(const description& m) {
  std::vector<figure> all = {{"read latency, ns per 64-byte line", "read ns", &m.read_ns, 1},
                             {"write latency, ns per 64-byte line", "write ns", &m.write_ns, 1},
                             {"read bandwidth, GB/s, all CPUs of the node", "read GB/s", &m.read_gb_s, 1},
                             {"write bandwidth, GB/s, all CPUs of the node", "write GB/s", &m.write_gb_s, 1}};
  std::erase_if(all, [](const figure& f) { return f.values->empty(); });
  return all;
}

void class_table(lines out, const description& m, const std::vector<figure>& columns) {
  std::size_t width = 5;
  for (const std::string& name : m.class_names) width = std::max(width, name.size());
  fmt::format_to(out, "\nclass  {:<{}}  pairs  distance", "name", width);
  for (const figure& f : columns) fmt::format_to(out, "  {:>10}", f.column);
  std::vector<double> distance = by_class(m, m.distance);
  for (std::size_t c = 0; c < m.class_names.size(); c++) {
    auto pairs = std::count(m.distance_class.begin(), m.distance_class.end(), static_cast<int>(c));
    if (pairs == 0) continue;
    fmt::format_to(out, "\n{:>5}  {:<{}}  {:>5}  {:>8}", c, m.class_names[c], width, pairs, distance.empty() ? "varies" : fmt::format("{}", distance[c]));
    for (const figure& f : columns) fmt::format_to(out, "  {:>10.{}f}", by_class(m, *f.values)[c], f.decimals);
  }
  fmt::format_to(out, "\n");
}

// The distances do not tell the classes apart: some classes share a distance.
bool classes_hidden(const description& m) {
  std::vector<double> distance = by_class(m, m.distance);
  std::set<double> different(distance.begin(), distance.end());
  return different.size() < distance.size() && different.count(0) == 0;
}

nlohmann::ordered_json rows(const auto& matrix_values, std::size_t n) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i * n < matrix_values.size(); i++) result.push_back(std::vector(matrix_values.begin() + static_cast<std::ptrdiff_t>(i * n), matrix_values.begin() + static_cast<std::ptrdiff_t>(i * n + n)));
  return matrix_values.empty() ? nlohmann::ordered_json(nullptr) : result;
}

std::vector<std::vector<int>> default_bindings(const description& m) {
  return machine::bindings(m, machine::spread_workers(m, machine::default_worker_count(m)));
}

std::string workers_text(const description& m) {
  const std::vector<std::vector<int>> bound_to = default_bindings(m);
  std::string text =
      fmt::format("\nwhere the workers of a runtime are: {}, unless WEIR_WORKERS or the program says how many\n",
                  plural(bound_to.size(), "worker"));
  lines out(text);
  for (std::size_t first = 0; first < bound_to.size();) {
    std::size_t end = first;
    const bool own_cpu = bound_to[first].size() == 1;
    std::vector<int> cpus;
    for (; end < bound_to.size() && (own_cpu ? bound_to[end].size() == 1 : bound_to[end] == bound_to[first]); end++)
      cpus.insert(cpus.end(), bound_to[end].begin(), bound_to[end].end());
    std::sort(cpus.begin(), cpus.end());
    cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
    const std::string who =
        end - first == 1 ? fmt::format("worker {}", first) : fmt::format("workers {}-{}", first, end - 1);
    fmt::format_to(out, "- {}: on {} {}, {}\n", who, cpus.size() == 1 ? "CPU" : "CPUs", machine::index_ranges(cpus),
                   own_cpu ? "one on each" : "all CPUs of a node with fewer workers than CPUs: the system keeps them "
                                             "away from other processes");
    first = end;
  }
  return text;
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (unit < 4 && value >= 1024) value /= 1024, unit++;
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + ' ' + units[unit];
}

std::string topo_text(const description& m) {
  std::string text;
  lines out(text);
  header(out, m);
  node_table(out, m);
  std::size_t n = m.nodes.size();
  if (n > 1) matrix(out, "distance (firmware's unit, local is 10)", m.distance, n, decimals_of(m.distance));
  if (n > 1 && classes_hidden(m)) matrix(out, "class", m.distance_class, n, 0);
  std::vector<figure> in_table, as_matrix;
  for (const figure& f : known_figures(m)) (by_class(m, *f.values).empty() ? as_matrix : in_table).push_back(f);
  if (n > 1 || !in_table.empty()) class_table(out, m, in_table);
  for (const figure& f : as_matrix) matrix(out, f.title, *f.values, n, f.decimals);
  return text;
}

std::string explain_text(const description& m, const std::vector<probe>& probes) {
  std::string text = "\nwhat is restricted, refused or unknown\n";
  lines out(text);
  if (!m.is_host) fmt::format_to(out, "- A described machine: nothing is bound and no page is placed.\n");
  for (const std::string& note : m.notes) fmt::format_to(out, "- {}\n", note);
  if (m.is_host && m.notes.empty()) fmt::format_to(out, "- Nothing: all CPUs, memory and distances of the machine are known and may be used.\n");
  if (m.is_host) text += workers_text(m);
  if (probes.empty()) return text;
  fmt::format_to(out, "\nwhat weir asks of the system\n");
  for (const probe& p : probes) {
    fmt::format_to(out, "  {:<18}  {:<7}  {}\n", p.name, p.works ? "works" : "refused", p.purpose);
    if (!p.works) fmt::format_to(out, "  {:<18}  {:<7}  ({}) without it: {}\n", "", "", p.error, p.cost);
  }
  return text;
}

nlohmann::ordered_json topo_json(const description& m) {
  nlohmann::ordered_json json = {{"name", m.name}, {"source", m.source}, {"host", m.is_host}, {"cpu_quota", nullptr}, {"memory_limit_bytes", nullptr}};
  if (m.cpu_quota > 0) json["cpu_quota"] = m.cpu_quota;
  if (m.memory_limit_bytes > 0) json["memory_limit_bytes"] = m.memory_limit_bytes;
  for (const char* key : {"nodes", "cpus", "caches"}) json[key] = nlohmann::ordered_json::array();
  for (const machine::node& n : m.nodes) json["nodes"].push_back({{"os_index", n.os_index}, {"memory_bytes", n.memory_bytes}, {"cpus", os_cpus(m, n)}});
  for (const machine::cpu& c : m.cpus) json["cpus"].push_back({{"os_index", c.os_index}, {"node", c.node}, {"core", c.core}, {"package", c.package}});
  for (const machine::cache& c : m.caches) json["caches"].push_back({{"level", c.level}, {"bytes", c.bytes}, {"cpus_sharing", c.cpus_sharing}});
  std::size_t n = m.nodes.size();
  json["distance"] = rows(m.distance, n);
  json["classes"] = m.class_names;
  json["class"] = rows(m.distance_class, n);
  json["read_ns"] = rows(m.read_ns, n);
  json["write_ns"] = rows(m.write_ns, n);
  json["read_gb_s"] = rows(m.read_gb_s, n);
  json["write_gb_s"] = rows(m.write_gb_s, n);
  json["notes"] = m.notes;
  return json;
}

nlohmann::ordered_json probes_json(const std::vector<probe>& probes) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const probe& p : probes) json.push_back({{"name", p.name}, {"purpose", p.purpose}, {"works", p.works}, {"error", p.error}, {"cost", p.cost}});
  return json;
}

}  // namespace weir::tools
