// Counts in sentences: "1 task", "2 tasks".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace weir::bench {

// `shown` is the count as it is to be written, such as 12,345.
template <std::integral Count>
std::string plural(Count count, std::string_view noun, const std::string& shown) {
  return shown + " " + std::string(noun) + (count == 1 ? "" : "s");
}
template <std::integral Count>
std::string plural(Count count, std::string_view noun) {
  return plural(count, noun, std::to_string(count));
}

}  // namespace weir::bench
