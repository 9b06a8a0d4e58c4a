// Runtimes that tests of parallel loops run in.
#pragma once

#include "tests/support/support.hpp"

#include <string>
#include <vector>

namespace weir::test {

struct shape {
  int workers;
  const char* machine;
};
inline const std::vector<shape>& shapes() {
  static const std::vector<shape> all{{1, ""}, {2, ""}, {5, ""}, {1, "nodes:4 cpus:2"}, {2, "nodes:4 cpus:2"}, {5, "nodes:4 cpus:2"}, {8, "nodes:4 cpus:2"}};
  return all;
}
inline std::string text(const shape& s) { return std::to_string(s.workers) + " workers, machine " + (*s.machine != '\0' ? s.machine : "host"); }
inline runtime_options options_of(const shape& s) { return {.workers = s.workers, .machine = s.machine}; }

// Where nobody must count on nodes, the simplest machine.
inline constexpr const char* one_node = "nodes:1 cpus:8";

}  // namespace weir::test
