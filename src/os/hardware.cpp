// What /sys and sysinfo() say of CPUs, nodes and memory.
#include "os/hardware.hpp"

#include "os/limits.hpp"

#include <sys/sysinfo.h>

#include <fstream>

namespace weir::os {
namespace {

std::string first_line(const std::filesystem::path& root, std::string_view path) {
  std::string line;
  std::ifstream file(join_paths(root.native(), path));
  std::getline(file, line);
  return line;
}

std::uint64_t memory_units() {
  struct sysinfo system {};
  return sysinfo(&system) == 0 ? std::uint64_t{system.totalram} : 0;
}

}  // namespace

std::optional<hardware_state> read_hardware_state(const std::filesystem::path& root) {
  hardware_state state{first_line(root, "sys/devices/system/cpu/online"),
                       first_line(root, "sys/devices/system/node/online"), memory_units()};
  if (state.cpus_online.empty()) return std::nullopt;
  return state;
}

}  // namespace weir::os
