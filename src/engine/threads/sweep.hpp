// A look for tasks everywhere, one place at a time, by who has something better to do between two of them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir::engine {

struct sweep {
  int place = 0;               // the next one; 0: all have been looked at
  std::uint64_t began_ns = 0;  // when it became 0 the last time

  // Whether the next place is to be looked at now, whatever else there is to do: one for each `ns_a_place` that have
  // passed since the sweep began.
  bool is_due(std::uint64_t now_ns, std::uint64_t ns_a_place) const {
    return static_cast<std::uint64_t>(place) < (now_ns - std::min(now_ns, began_ns)) / ns_a_place;
  }
  // The next place is another one now.
  void has_looked(std::uint64_t now_ns) {
    if (place == 0) began_ns = now_ns;
  }
};

}  // namespace weir::engine
