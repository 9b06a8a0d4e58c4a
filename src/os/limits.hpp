// What this process may use of the machine: CPUs, memory nodes, CPU time, memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::os {

// Lists are ascending and hold the kernel's indices.
struct limits {
  std::optional<std::vector<int>> cpus;          // may be scheduled on; nothing: unknown
  std::optional<std::vector<int>> memory_nodes;  // may be allocated from; nothing: unknown
  double cpu_quota = 0;                          // CPUs' worth of time per period; 0: unlimited
  std::string cpu_quota_file;                    // the file that sets cpu_quota, without the root
  std::uint64_t memory_bytes = 0;                // of the whole cgroup, the page cache included; 0: unlimited
  std::string memory_file;
};

// Reads the limits of the calling thread; of a bound worker, those it had before it was bound. With root "/" the kernel
// is asked (sched_getaffinity, get_mempolicy) and /proc/self/status is the fallback; any other root is a copy of a
// /proc and /sys tree, for tests.
// The quota (and the memory) is the smallest of the process's cgroup and its ancestors, version 1 or 2, as far as they
// are mounted.
// Never throws on missing or malformed files: what cannot be read is unknown or unlimited. Costs some file reads.
limits read_limits(const std::filesystem::path& root = "/");

// The kernel's list format, "0-3,8,10-11"; nothing if malformed. Indices above 65535 count as malformed.
std::optional<std::vector<int>> parse_index_list(std::string_view text);

// The reverse: {0,1,2,3,8} becomes "0-3,8". Expects ascending indices.
std::string format_index_list(const std::vector<int>& indices);

// "a" and "b", or "a/" and "/b": "a/b"; nothing and "b": "b". In place of std::filesystem::path's operator/, which in
// GCC's library (12) destroys what is not there when it finds no memory.
std::string join_paths(std::string_view left, std::string_view right);

}  // namespace weir::os
