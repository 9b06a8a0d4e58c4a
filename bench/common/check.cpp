// Refusing what no kernel can use, before anything is allocated.
#include <bench/common/check.hpp>

#include <bench/common/kernel.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

namespace weir::bench {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// Bytes of a line "NAME:  123 kB" of /proc/meminfo.
std::uint64_t meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return saturating_multiply(std::strtoull(line.c_str() + name.size() + 1, nullptr, 10), 1024);
  return unlimited;
}

// A cgroup's file with one number; "max", or no such file, is no limit.
std::uint64_t cgroup_number(const std::string& folder, const char* file) {
  std::ifstream in("/sys/fs/cgroup" + folder + "/" + file);
  std::uint64_t value = 0;
  return in >> value ? value : unlimited;
}

// What the process's cgroup and those above it leave (version 2).
std::uint64_t cgroup_rest() {
  std::ifstream file("/proc/self/cgroup");
  std::uint64_t rest = unlimited;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string folder = line.substr(3); !folder.empty(); folder.resize(folder.rfind('/'))) {
      const std::uint64_t limit = cgroup_number(folder, "memory.max"), used = cgroup_number(folder, "memory.current");
      if (limit != unlimited && used != unlimited) rest = std::min(rest, limit > used ? limit - used : 0);
      if (folder.rfind('/') == std::string::npos) break;
    }
  }
  return rest;
}

std::string what(const kernel& k) { return std::string(k.name) + ": "; }

std::size_t dimensions(const kernel& k) { return 1 + static_cast<std::size_t>(std::count(k.size_meaning.begin(), k.size_meaning.end(), 'x')); }

void check_list(const kernel& k, const char* option, std::string_view meaning, const std::vector<std::size_t>& list) {
  if (list.size() != dimensions(k))
    throw input_error(what(k) + option + " " + format_size(list) + " has " + std::to_string(list.size()) + " number" + (list.size() == 1 ? "" : "s") + "; expected " + std::string(meaning));
  for (std::size_t n : list)
    if (n == 0) throw input_error(what(k) + option + " " + format_size(list) + ": every number must be 1 or more (" + std::string(meaning) + ")");
}

// A handle, a datum, and the frame of the task that wrote its version.
constexpr std::uint64_t bytes_per_block = 1024;

std::uint64_t block_count(const configuration& c) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < c.block.size(); i++) count = saturating_multiply(count, c.size[i] / c.block[i] + (c.size[i] % c.block[i] != 0));
  return count;
}

}  // namespace

std::uint64_t available_memory() { return std::min(meminfo("MemAvailable"), cgroup_rest()); }

std::string_view name_of(storage s) {
  switch (s) {
    case storage::versions: return "private";
    case storage::shared: return "shared";
    case storage::own: return "own";
  }
  return "";
}

std::string_view name_of(first_touch f) {
  switch (f) {
    case first_touch::chunks: return "chunks";
    case first_touch::tasks: return "tasks";
    case first_touch::one: return "one";
    case first_touch::inside: return "inside";
  }
  return "";
}

std::string format_size(std::span<const std::size_t> size) {
  std::string text;
  for (std::size_t n : size) {
    if (!text.empty()) text += 'x';
    text += std::to_string(n);
  }
  return text;
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes == unlimited) return "more than 2^64 bytes";
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; unit++) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

void check_configuration(const kernel& k, configuration& c, block_choice choice) {
  if (k.complete) k.complete(c);
  check_list(k, "--size", k.size_meaning, c.size);
  check_list(k, "--block", k.block_meaning, c.block);
  if (choice == block_choice::fit)
    for (std::size_t i = 0; i < c.block.size(); i++) c.block[i] = std::min(c.block[i], c.size[i]);
  for (std::size_t i = 0; i < c.block.size(); i++)
    if (c.block[i] > c.size[i]) throw input_error(what(k) + "--block " + format_size(c.block) + " is larger than --size " + format_size(c.size));
  if (k.uses.iterations && c.iterations < 1) throw input_error(what(k) + "--iterations " + std::to_string(c.iterations) + ": must be 1 or more");
  if (k.uses.clusters && c.clusters < 1) throw input_error(what(k) + "--clusters: must be 1 or more");
  if (k.uses.bins && c.bins < 1) throw input_error(what(k) + "--bins: must be 1 or more");
  if (!k.memory_bytes) return;
  const std::uint64_t needed = saturating_add(k.memory_bytes(c), saturating_multiply(block_count(c), bytes_per_block)), available = available_memory();
  if (needed > available) throw input_error(what(k) + "--size " + format_size(c.size) + " in blocks of " + format_size(c.block) + " needs about " + format_bytes(needed) + " of memory; " + format_bytes(available) + " are available");
}

}  // namespace weir::bench
