// Limits from the kernel, /proc/self and the cgroup files.
#include "os/limits.hpp"

#include "os/threads.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

namespace weir::os {
namespace {

namespace fs = std::filesystem;

constexpr int max_index = 65535;
constexpr int bits_per_word = 8 * sizeof(unsigned long);

std::optional<int> parse_index(std::string_view text) {
  int value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 0 || value > max_index) return std::nullopt;
  return value;
}

std::optional<double> parse_positive(const std::string& text) {
  try {
    std::size_t used = 0;
    double value = std::stod(text, &used);
    if (used == text.size() && value > 0) return value;
  } catch (const std::exception&) {
  }
  return std::nullopt;
}

// A worker that makes a runtime of its own does that for the process, not for the CPUs it is bound to.
std::optional<std::vector<int>> affinity_from_kernel() {
  if (auto before = allowed_before_binding()) return before;
  return affinity_of_this_thread();
}

std::optional<std::vector<int>> memory_nodes_from_kernel() {
  for (std::size_t nodes = 1024; nodes <= max_index + 1; nodes *= 2) {
    std::vector<unsigned long> mask(nodes / bits_per_word);
    long result = syscall(SYS_get_mempolicy, nullptr, mask.data(), nodes, nullptr, MPOL_F_MEMS_ALLOWED);
    if (result < 0 && errno == EINVAL) continue;  // the kernel's mask is longer
    if (result < 0) return std::nullopt;
    std::vector<int> allowed;
    for (int i = 0; i < static_cast<int>(nodes); i++)
      if (mask[static_cast<std::size_t>(i / bits_per_word)] >> (i % bits_per_word) & 1) allowed.push_back(i);
    return allowed;
  }
  return std::nullopt;
}

std::optional<std::vector<int>> list_from_status(const std::string& root, std::string_view key) {
  std::ifstream file(join_paths(root, "proc/self/status"));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::size_t start = line.find_first_not_of(" \t", key.size());
    return start == std::string::npos ? std::nullopt : parse_index_list(std::string_view(line).substr(start));
  }
  return std::nullopt;
}

// A mounted cgroup hierarchy: version 2, or one of version 1 with its controllers.
struct hierarchy {
  bool unified = false;
  std::string controllers;  // version 1: "cpu,cpuacct" among the mount's options
  std::string mount_root;   // the cgroup that is visible at the mount point
  std::string mount_point;
};

// Mount points are written with octal escapes: a space is \040.
std::string unescape(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); i++) {
    bool escaped = text[i] == '\\' && i + 3 < text.size() && text.find_first_not_of("01234567", i + 1) >= i + 4;
    plain += escaped ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (escaped) i += 3;
  }
  return plain;
}

bool has_word(std::string_view comma_list, std::string_view word) {
  for (;;) {
    const std::size_t comma = comma_list.find(',');
    if (comma_list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    comma_list.remove_prefix(comma + 1);
  }
}

std::vector<hierarchy> mounted_hierarchies(const std::string& root) {
  std::vector<hierarchy> found;
  std::ifstream file(join_paths(root, "proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    if (line.find(" - cgroup") == std::string::npos) continue;  // a process may see hundreds of other mounts
    // "31 23 0:28 ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE SUPER_OPTIONS"
    std::istringstream fields(line);
    std::string id, parent, device, mount_root, mount_point, field, type, source, super_options;
    fields >> id >> parent >> device >> mount_root >> mount_point;
    while (fields >> field && field != "-") continue;
    fields >> type >> source >> super_options;
    if (type == "cgroup2" || type == "cgroup") found.push_back({type == "cgroup2", super_options, unescape(mount_root), unescape(mount_point)});
  }
  return found;
}

// A line of /proc/self/cgroup: the process's cgroup in the unified hierarchy ("0::/path"), or in the one with some
// controllers ("4:cpu,cpuacct:/path").
struct membership {
  std::string controllers, path;
};

std::vector<membership> own_cgroups(const std::string& root) {
  std::vector<membership> found;
  std::ifstream file(join_paths(root, "proc/self/cgroup"));
  for (std::string line; std::getline(file, line);) {
    std::size_t first = line.find(':'), second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    found.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return found;
}

// Read once for all limits: reading costs more than what is done with it.
struct cgroups {
  std::vector<hierarchy> mounted;
  std::vector<membership> own;

  const std::string* own_in(const hierarchy& h, std::string_view controller) const {
    for (const membership& m : own)
      if (h.unified ? m.controllers.empty() : has_word(m.controllers, controller)) return &m.path;
    return nullptr;
  }
};

// The cgroup's path below the mount point. A cgroup outside of what is mounted (a container without its own cgroup
// namespace) is seen as the mount point itself.
std::string below_mount(const hierarchy& h, std::string_view cgroup) {
  std::string_view top = h.mount_root;
  while (top.ends_with('/')) top.remove_suffix(1);
  while (cgroup.ends_with('/')) cgroup.remove_suffix(1);
  const bool inside = cgroup.starts_with(top) && (cgroup.size() == top.size() || cgroup[top.size()] == '/');
  if (!inside || cgroup.size() == top.size() || cgroup.find("..") != std::string_view::npos) return {};
  return std::string(cgroup.substr(top.size() + 1));
}

// A limit as one cgroup sets it, and the file that does.
struct limit {
  double value;
  std::string file;
};

std::optional<limit> cpu_limit_in(const std::string& directory, bool unified) {
  std::string file = unified ? "cpu.max" : "cpu.cfs_quota_us", quota, period;
  std::ifstream in(join_paths(directory, file));
  in >> quota >> period;  // version 2 has both, "max 100000" or "150000 100000"; version 1 has -1 for unlimited
  if (!unified) std::ifstream(join_paths(directory, "cpu.cfs_period_us")) >> period;
  auto q = parse_positive(quota), p = parse_positive(period);
  if (!q || !p) return std::nullopt;
  return limit{*q / *p, file};
}

std::optional<limit> memory_limit_in(const std::string& directory, bool unified) {
  std::string file = unified ? "memory.max" : "memory.limit_in_bytes", bytes;
  std::ifstream(join_paths(directory, file)) >> bytes;
  auto value = parse_positive(bytes);
  if (!value || *value >= 0x1p60) return std::nullopt;  // version 1 writes unlimited as the largest page-aligned number
  return limit{*value, file};
}

// The smallest limit of the process's cgroup and its ancestors, in every hierarchy that has the controller.
template <typename LimitIn>
std::optional<limit> smallest(const std::string& root, const cgroups& groups, std::string_view controller,
                              LimitIn limit_in) {
  std::optional<limit> result;
  for (const hierarchy& h : groups.mounted) {
    if (!h.unified && !has_word(h.controllers, controller)) continue;
    const std::string* const cgroup = groups.own_in(h, controller);
    if (cgroup == nullptr) continue;
    for (std::string below = below_mount(h, *cgroup);;
         below.erase(below.find_last_of('/') == std::string::npos ? 0 : below.find_last_of('/'))) {
      const std::string directory = join_paths(h.mount_point, below);
      auto found = limit_in(join_paths(root, directory), h.unified);
      if (found && (!result || found->value < result->value))
        result = limit{found->value, join_paths(join_paths("/", directory), found->file)};
      if (below.empty()) break;
    }
  }
  return result;
}

}  // namespace

std::optional<std::vector<int>> parse_index_list(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::vector<int> indices;
  while (!text.empty()) {
    std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    std::size_t dash = part.find('-');
    auto first = parse_index(part.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_index(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int i = *first; i <= *last; i++) indices.push_back(i);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
  return indices;
}

std::string format_index_list(const std::vector<int>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) last++;
    if (!text.empty()) text += ',';
    text += std::to_string(indices[i]);
    if (last > i) text += '-' + std::to_string(indices[last]);
    i = last + 1;
  }
  return text;
}

std::string join_paths(std::string_view left, std::string_view right) {
  while (right.starts_with('/')) right.remove_prefix(1);
  std::string joined(left);
  if (!left.empty() && !left.ends_with('/') && !right.empty()) joined += '/';
  return joined.append(right);
}

limits read_limits(const fs::path& root_path) {
  const std::string& root = root_path.native();
  limits result;
  if (root == "/") {
    result.cpus = affinity_from_kernel();
    result.memory_nodes = memory_nodes_from_kernel();
  }
  if (!result.cpus) result.cpus = list_from_status(root, "Cpus_allowed_list:");
  if (!result.memory_nodes) result.memory_nodes = list_from_status(root, "Mems_allowed_list:");
  const cgroups groups{mounted_hierarchies(root), own_cgroups(root)};
  if (auto cpu = smallest(root, groups, "cpu", cpu_limit_in)) {
    result.cpu_quota = cpu->value;
    result.cpu_quota_file = cpu->file;
  }
  if (auto memory = smallest(root, groups, "memory", memory_limit_in)) {
    result.memory_bytes = static_cast<std::uint64_t>(memory->value);
    result.memory_file = memory->file;
  }
  return result;
}

}  // namespace weir::os
