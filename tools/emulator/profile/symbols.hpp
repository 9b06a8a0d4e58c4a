// What programs and libraries call their functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::emulator {

// The function at each of the addresses that the file is linked to: of the innermost inlined function if the file has
// debug information, else of the symbol; empty where there is neither. `addr2line`: path of that program. Throws
// std::runtime_error, the reason, if it fails, std::system_error if it cannot be started.
std::vector<std::string> functions_at(const std::vector<std::uint64_t>& addresses, const std::string& file,
                                      const std::string& addr2line);

}  // namespace weir::emulator
