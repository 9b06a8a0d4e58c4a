// The kernel's text form.
#include "memory_map.hpp"

#include <cinttypes>
#include <cstdio>

namespace weir::emulator {

// BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH; the path may have spaces, or be missing.
bool memory_map::add(const std::string& line) {
  part p{};
  int path = 0;
  constexpr const char* form = "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %*s %*u %n";
  const int numbers = std::sscanf(line.c_str(), form, &p.begin, &p.end, &p.place.offset, &path);
  if (numbers != 3 || path == 0) return false;
  p.place.file = line.substr(static_cast<std::size_t>(path));
  if (p.place.file.empty()) p.place.file = "[anonymous]";
  parts_.push_back(p);
  return true;
}

std::optional<code_place> memory_map::find(std::uint64_t address) const {
  for (const part& p : parts_)
    if (address >= p.begin && address < p.end) return code_place{p.place.file, address - p.begin + p.place.offset};
  return std::nullopt;
}

}  // namespace weir::emulator
