// Whether the machine is still the one it was: CPUs, nodes and memory can come and go while a process runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace weir::os {

// Changes with every CPU, node or piece of memory that the system takes into use or gives up.
struct hardware_state {
  std::string cpus_online;   // as the kernel writes the list
  std::string nodes_online;  // empty: the kernel knows no nodes
  std::uint64_t memory_units = 0;  // in sysinfo()'s unit, which stays the same

  bool operator==(const hardware_state&) const = default;
};

// With another root than "/": of a copy of a /sys tree, for tests. Nothing if the system does not say which CPUs are
// online. Costs two small files, some 10 us.
std::optional<hardware_state> read_hardware_state(const std::filesystem::path& root = "/");

}  // namespace weir::os
