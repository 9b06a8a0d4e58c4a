// Machine files. The format is documented in machines/README.md.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "machine/toml_value.hpp"

namespace weir::machine::detail {
namespace {

constexpr std::string_view figures[] = {"slit", "read_ns", "write_ns", "read_gb_s", "write_gb_s"};

// One entry of [[nodes]]: `count` equal nodes.
class node_group {
 public:
  node_group(const toml_table& entry) : entry_(entry) {
    entry_.allow_only({"count", "memory", "cpus", "threads_per_core", "cores", "nodes_per_package", "package", "packages"});
    count_ = static_cast<int>(entry_.integer("count", 1, max_nodes, 1));
    cpus_ = static_cast<int>(entry_.integer("cpus", 0, max_cpus));
    memory_ = entry_.bytes("memory");
    threads_ = static_cast<int>(entry_.integer("threads_per_core", 1, max_cpus, 1));
    if (cpus_ % threads_ != 0) entry_.refuse(entry_.get("threads_per_core", ""), "threads_per_core", "a divisor of " + count_of(static_cast<std::size_t>(cpus_), "CPU"), std::to_string(threads_));
    nodes_per_package_ = static_cast<int>(entry_.integer("nodes_per_package", 1, count_, 1));
    if (count_ % nodes_per_package_ != 0) entry_.refuse(entry_.get("nodes_per_package", ""), "nodes_per_package", "a divisor of " + count_of(static_cast<std::size_t>(count_), "node"), std::to_string(nodes_per_package_));
    cores_ = per_cpu("cores", "threads_per_core");
    packages_ = per_cpu("packages", "package");
    refuse_both("package", "nodes_per_package");
    refuse_both("packages", "nodes_per_package");
  }

  void append_to(description& m) const {
    if (m.nodes.size() + static_cast<std::size_t>(count_) > max_nodes) refuse_size("count", max_nodes, "nodes");
    if (m.cpus.size() + static_cast<std::size_t>(count_) * static_cast<std::size_t>(cpus_) > max_cpus) refuse_size("cpus", max_cpus, "CPUs");
    int first_package = 0;
    for (const cpu& c : m.cpus) first_package = std::max(first_package, c.package + 1);
    for (int i = 0; i < count_; i++) append_node(m, static_cast<int>(entry_.integer("package", 0, max_cpus, first_package + i / nodes_per_package_)));
  }

 private:
  void refuse_both(std::string_view key, std::string_view other) const {
    if (entry_.has(key) && entry_.has(other)) entry_.refuse(entry_.get(key, ""), key, "either this key or \"" + std::string(other) + '"', "both");
  }

  [[noreturn]] void refuse_size(std::string_view key, int most, const std::string& noun) const {
    std::string value = entry_.has(key) ? std::to_string(entry_.integer(key, 0, max_cpus)) : "1";
    entry_.refuse(entry_.has(key) ? entry_.get(key, "") : entry_.get("memory", ""), key, "at most " + std::to_string(most) + ' ' + noun + " in the machine", value + " more than there is room for");
  }

  std::vector<int> per_cpu(std::string_view key, std::string_view other) const {
    if (!entry_.has(key)) return {};
    refuse_both(key, other);
    std::string expected = "one whole number for each of " + count_of(static_cast<std::size_t>(cpus_), "CPU");
    const toml::array& list = entry_.array(key, expected);
    if (list.size() != static_cast<std::size_t>(cpus_)) entry_.refuse(list, key, expected, std::to_string(list.size()));
    std::vector<int> values;
    for (const toml::node& n : list) values.push_back(static_cast<int>(entry_.integer(n, key, 0, max_cpus)));
    return values;
  }

  void append_node(description& m, int package) const {
    int index = m.node_count(), first_core = 0;
    for (const cpu& c : m.cpus) first_core = std::max(first_core, c.core + 1);
    m.nodes.push_back({.os_index = index, .memory_bytes = memory_, .cpus = {}});
    for (int k = 0; k < cpus_; k++) {
      std::size_t at = static_cast<std::size_t>(k);
      // As Linux numbers them: first one thread of every core, then the second ones.
      int core = cores_.empty() ? k % (cpus_ / threads_) : cores_[at];
      m.cpus.push_back({static_cast<int>(m.cpus.size()), index, first_core + core, packages_.empty() ? package : packages_[at]});
    }
  }

  toml_table entry_;
  int count_ = 1, cpus_ = 0, threads_ = 1, nodes_per_package_ = 1;
  std::uint64_t memory_ = 0;
  std::vector<int> cores_, packages_;
};

void read_nodes(const toml_table& root, const std::string& path, description& m) {
  static const std::string expected = "[[nodes]] entries, each with memory and cpus";
  const toml::array& entries = root.array("nodes", expected);
  for (const toml::node& n : entries) {
    if (!n.is_table()) root.refuse(n, "nodes", expected, toml_table::describe(n));
    node_group(toml_table(*n.as_table(), path)).append_to(m);
  }
  index_cpus(m);
  if (m.cpus.empty()) root.refuse(entries, "nodes", "at least 1 CPU in the machine", "none");
}

void read_caches(const toml_table& root, const std::string& path, description& m) {
  if (!root.has("caches")) return;
  static const std::string expected = "[[caches]] entries, each with level, size and shared_by";
  for (const toml::node& n : root.array("caches", expected)) {
    if (!n.is_table()) root.refuse(n, "caches", expected, toml_table::describe(n));
    toml_table entry(*n.as_table(), path);
    entry.allow_only({"level", "size", "shared_by"});
    int above = m.caches.empty() ? 0 : m.caches.back().level;
    int level = static_cast<int>(entry.integer("level", 1, 5));
    if (level <= above) entry.refuse(entry.get("level", ""), "level", "ascending levels, each once", std::to_string(level) + " after " + std::to_string(above));
    m.caches.push_back({level, entry.bytes("size"), static_cast<int>(entry.integer("shared_by", 1, max_cpus, 1))});
    if (m.caches.back().bytes == 0) entry.refuse(entry.get("size", ""), "size", "more than 0 bytes", "0");
  }
}

// [distances]: classes, which class each pair of nodes is in, and figures by class or by pair.
class distance_reader {
 public:
  distance_reader(const toml_table& table, description& m) : table_(table), m_(m), n_(m.nodes.size()) {
    table_.allow_only({"classes", "matrix", "slit", "read_ns", "write_ns", "read_gb_s", "write_gb_s"});
    if (table_.has("classes")) read_classes();
    else if (table_.has("matrix")) table_.refuse_missing("classes", "the names of the classes that \"matrix\" refers to");
    m_.distance = figure("slit");
    for (std::size_t i = 0; i < n_; i++) check_row(i);
    m_.read_ns = figure_or_nothing("read_ns");
    m_.write_ns = figure_or_nothing("write_ns");
    m_.read_gb_s = figure_or_nothing("read_gb_s");
    m_.write_gb_s = figure_or_nothing("write_gb_s");
    if (m_.class_names.empty()) derive_classes(m_);
  }

 private:
  void read_classes() {
    static const std::string expected = "an array of names, nearest first";
    const toml::array& names = table_.array("classes", expected);
    for (const toml::node& n : names) {
      auto name = n.value_exact<std::string>();
      if (!name || name->empty()) table_.refuse(n, "classes", expected, toml_table::describe(n));
      m_.class_names.push_back(*name);
    }
    std::size_t count = m_.class_names.size();
    if (table_.has("matrix")) return read_matrix();
    if (count != std::min<std::size_t>(n_, 2)) table_.refuse_missing("matrix", "the class of each pair of nodes (only 2 classes, local and remote, do without)");
    m_.distance_class.assign(n_ * n_, 1);
    for (std::size_t i = 0; i < n_; i++) m_.distance_class[i * (n_ + 1)] = 0;
  }

  void read_matrix() {
    std::string expected = count_of(n_, "row") + " of " + std::to_string(n_) + " class indices";
    const toml::array& rows = table_.array("matrix", expected);
    if (rows.size() != n_) table_.refuse(rows, "matrix", expected, count_of(rows.size(), "row"));
    for (std::size_t i = 0; i < n_; i++) {
      const toml::node& row = *rows.get(i);
      if (!row.is_array() || row.as_array()->size() != n_)
        table_.refuse(row, "matrix", expected, row.is_array() ? "a row of " + std::to_string(row.as_array()->size()) : toml_table::describe(row));
      for (std::size_t j = 0; j < n_; j++) m_.distance_class.push_back(read_class(*row.as_array()->get(j), i == j));
    }
  }

  int read_class(const toml::node& n, bool diagonal) const {
    int most = static_cast<int>(m_.class_names.size()) - 1;
    int index = static_cast<int>(table_.integer(n, "matrix", 0, most));
    if (diagonal != (index == 0)) table_.refuse(n, "matrix", "class 0 exactly where a node meets itself", std::to_string(index));
    return index;
  }

  // One number per class, or one row per node.
  std::vector<double> figure(std::string_view key) const {
    std::string rows_expected = count_of(n_, "row") + " of " + count_of(n_, "number");
    std::string expected = m_.class_names.empty() ? rows_expected : count_of(m_.class_names.size(), "number") + " (one for each class) or " + rows_expected;
    const toml::array& list = table_.array(key, expected);
    bool by_pair = !list.empty() && list.get(0)->is_array();
    if (by_pair ? list.size() != n_ : m_.class_names.empty()) table_.refuse(list, key, expected, by_pair ? count_of(list.size(), "row") : count_of(list.size(), "number"));
    std::vector<double> matrix;
    if (by_pair) {
      for (const toml::node& row : list) {
        std::vector<double> numbers = table_.positive_numbers(row, key, n_, " in each row");
        matrix.insert(matrix.end(), numbers.begin(), numbers.end());
      }
      return matrix;
    }
    std::vector<double> by_class = table_.positive_numbers(list, key, m_.class_names.size(), "");
    for (int c : m_.distance_class) matrix.push_back(by_class[static_cast<std::size_t>(c)]);
    return matrix;
  }
  std::vector<double> figure_or_nothing(std::string_view key) const { return table_.has(key) ? figure(key) : std::vector<double>(); }

  void check_row(std::size_t i) const {
    const toml::array& list = table_.array("slit", "");
    const toml::node& row = list.get(0)->is_array() ? *list.get(i) : list;
    double local = m_.distance[i * (n_ + 1)];
    if (local != local_distance) table_.refuse(row, "slit", "a local distance of 10", number(local));
    for (std::size_t j = 0; j < n_; j++)
      if (m_.distance[i * n_ + j] < local) table_.refuse(row, "slit", "no distance smaller than the local one", number(m_.distance[i * n_ + j]));
  }

  toml_table table_;
  description& m_;
  std::size_t n_;
};

void read_distances(const toml_table& root, const std::string& path, description& m) {
  if (!root.has("distances") && m.nodes.size() == 1) {
    assume_distances(m, "one node");
    return derive_classes(m);
  }
  const toml::node& n = root.get("distances", "a [distances] table with at least slit");
  if (!n.is_table()) root.refuse(n, "distances", "a table with at least slit", toml_table::describe(n));
  distance_reader(toml_table(*n.as_table(), path), m);
}

void note_estimates(const toml_table& root, description& m) {
  if (!root.has("estimated")) return;
  static constexpr std::string_view parts[] = {"memory", "caches", "matrix"};
  std::string known, list;
  for (std::string_view each : parts) known += (known.empty() ? "" : ", ") + std::string(each);
  for (std::string_view each : figures) known += ", " + std::string(each);
  for (const toml::node& n : root.array("estimated", "an array of " + known)) {
    std::string name = n.value_exact<std::string>().value_or("");
    bool is_known = std::find(std::begin(parts), std::end(parts), name) != std::end(parts) || std::find(std::begin(figures), std::end(figures), name) != std::end(figures);
    if (!is_known) root.refuse(n, "estimated", "one of " + known, toml_table::describe(n));
    list += (list.empty() ? "" : ", ") + name;
  }
  if (!list.empty()) m.notes.push_back("Estimates, not measurements: " + list + ".");
}

void note_oddities(description& m) {
  if (!is_symmetric(m)) m.notes.push_back("The distances are not symmetric: from A to B can differ from B to A.");
  std::size_t n = m.nodes.size();
  for (std::size_t i = 0; i < n && !m.read_ns.empty(); i++) {
    auto row = m.read_ns.begin() + static_cast<std::ptrdiff_t>(i * n);
    if (!m.nodes[i].cpus.empty() && *std::min_element(row, row + static_cast<std::ptrdiff_t>(n)) < row[static_cast<std::ptrdiff_t>(i)]) {
      m.notes.push_back("From node " + std::to_string(i) + " another node's memory reads faster than its own: placement by latency and placement by distance will differ.");
      return;
    }
  }
}

}  // namespace

description read_machine_file(const std::string& path) {
  toml::table parsed = toml_file::read<machine_error>(path, "a machine file");
  toml_table root(parsed, path);
  root.allow_only({"name", "source", "estimated", "nodes", "caches", "distances"});
  description m;
  m.name = root.text("name");
  m.source = root.text("source");
  read_nodes(root, path, m);
  read_caches(root, path, m);
  read_distances(root, path, m);
  note_estimates(root, m);
  note_oddities(m);
  return m;
}

}  // namespace weir::machine::detail
