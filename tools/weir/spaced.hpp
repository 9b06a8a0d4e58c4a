// Large numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace weir::tools {

// 1234567 as "1 234 567".
inline std::string spaced(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ' ');
  return digits;
}

}  // namespace weir::tools
