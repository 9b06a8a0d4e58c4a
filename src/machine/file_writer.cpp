// Writes a description as a machine file. See machines/README.md for the format.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "machine/detail.hpp"
#include "weir/error.hpp"

namespace weir::machine {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    unsigned char u = static_cast<unsigned char>(c);
    char escape[8];
    if (c == '"' || c == '\\') result += '\\', result += c;
    else if (u < 0x20 || u == 0x7f) std::snprintf(escape, sizeof escape, "\\u%04x", u), result += escape;
    else result += c;
  }
  return result + '"';
}

std::string size_text(std::uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (unit < 3 && bytes > 0 && bytes % 1024 == 0) bytes /= 1024, unit++;
  return quoted(std::to_string(bytes) + ' ' + units[unit]);
}

template <typename Range, typename Text>
std::string list(const Range& items, Text text) {
  std::string result;
  for (const auto& item : items) result += (result.empty() ? "" : ", ") + text(item);
  return "[" + result + "]";
}
std::string list(const std::vector<int>& items) { return list(items, [](int i) { return std::to_string(i); }); }

// Renumbers from 0 in order of first appearance.
std::vector<int> dense(const std::vector<int>& values) {
  std::map<int, int> seen;
  std::vector<int> result;
  for (int v : values) result.push_back(seen.try_emplace(v, static_cast<int>(seen.size())).first->second);
  return result;
}

std::string node_text(const description& m, const node& n) {
  std::ostringstream out;
  std::vector<int> cores, packages;
  for (int c : n.cpus) cores.push_back(m.cpus[static_cast<std::size_t>(c)].core), packages.push_back(m.cpus[static_cast<std::size_t>(c)].package);
  cores = dense(cores);
  out << "memory = " << size_text(n.memory_bytes) << "\ncpus = " << n.cpus.size() << '\n';
  // Written only where it differs from one thread per core.
  if (std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<int>()) != cores.end()) out << "cores = " << list(cores) << '\n';
  if (packages.empty()) return out.str();
  bool one = std::all_of(packages.begin(), packages.end(), [&](int p) { return p == packages[0]; });
  out << (one ? "package = " + std::to_string(packages[0]) : "packages = " + list(packages)) << '\n';
  return out.str();
}

// Rows of a matrix, or one number per class where every pair of a class has the same.
std::string figure_text(const description& m, const std::vector<double>& matrix) {
  std::size_t n = m.nodes.size();
  std::vector<double> by_class(m.class_names.size(), 0);
  bool uniform = true;
  for (std::size_t i = 0; i < matrix.size(); i++) {
    double& first = by_class[static_cast<std::size_t>(m.distance_class[i])];
    if (first == 0) first = matrix[i];
    uniform = uniform && first == matrix[i];
  }
  // A class that no pair is in has no figure, so it cannot be written by class.
  uniform = uniform && std::find(by_class.begin(), by_class.end(), 0.0) == by_class.end();
  if (uniform) return list(by_class, detail::number);
  std::string rows;
  for (std::size_t i = 0; i < n; i++) rows += "  " + list(std::vector<double>(matrix.begin() + static_cast<std::ptrdiff_t>(i * n), matrix.begin() + static_cast<std::ptrdiff_t>(i * n + n)), detail::number) + ",\n";
  return "[\n" + rows + "]";
}

std::string file_text(const description& m) {
  std::ostringstream out;
  std::size_t n = m.nodes.size();
  out << "# Written by weir topo --write. The format is described in machines/README.md.\n";
  out << "name = " << quoted(m.name) << "\nsource = " << quoted(m.source.empty() ? "the operating system, through hwloc" : m.source) << '\n';
  for (const node& each : m.nodes) out << "\n[[nodes]]\n" << node_text(m, each);
  for (const cache& c : m.caches) out << "\n[[caches]]\nlevel = " << c.level << "\nsize = " << size_text(c.bytes) << "\nshared_by = " << c.cpus_sharing << '\n';
  out << "\n[distances]\nclasses = " << list(m.class_names, quoted) << "\nmatrix = [\n";
  for (std::size_t i = 0; i < n; i++) out << "  " << list(std::vector<int>(m.distance_class.begin() + static_cast<std::ptrdiff_t>(i * n), m.distance_class.begin() + static_cast<std::ptrdiff_t>(i * n + n))) << ",\n";
  out << "]\nslit = " << figure_text(m, m.distance) << '\n';
  std::pair<const char*, const std::vector<double>*> figures[] = {{"read_ns", &m.read_ns}, {"write_ns", &m.write_ns}, {"read_gb_s", &m.read_gb_s}, {"write_gb_s", &m.write_gb_s}};
  for (auto [key, matrix] : figures)
    if (!matrix->empty()) out << key << " = " << figure_text(m, *matrix) << '\n';
  return out.str();
}

}  // namespace

void save(const description& machine, const std::string& path) {
  auto refuse = [&] { return machine_error(path + ": cannot write the machine file: " + std::strerror(errno)); };
  std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  if (!out) throw refuse();
  out << file_text(machine);
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    machine_error failure = refuse();
    std::remove(temporary.c_str());
    throw failure;
  }
}

}  // namespace weir::machine
