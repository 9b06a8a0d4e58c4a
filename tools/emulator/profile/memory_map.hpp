// Which file the code of a process came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::emulator {

struct code_place {
  std::string file;           // path in the guest, or the kernel's name for what is no file, such as [vdso]
  std::uint64_t offset = 0;   // in it
};

class memory_map {
 public:
  // `line`: of /proc/PID/maps. False, and nothing is added, if it is none. Where parts overlap the first counts.
  bool add(const std::string& line);
  bool empty() const { return parts_.empty(); }
  std::optional<code_place> find(std::uint64_t address) const;

 private:
  struct part {
    std::uint64_t begin, end;
    code_place place;   // of the beginning
  };
  std::vector<part> parts_;
};

}  // namespace weir::emulator
