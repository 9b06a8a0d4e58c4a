// The shapes of bench/shapes and the kernels, as programs for the simulation: what depends on what, how large data
// are, and how long tasks take.
#pragma once

#include "engine/sim/program.hpp"

#include <string>
#include <vector>

namespace weir::bench {

struct named_program {
  std::string name;
  engine::sim::program made;
};

// For a machine with so many workers. `task_ns`: of most tasks. Every program twice: with data made by the program's
// thread, all on one node, and with data that tasks write first.
std::vector<named_program> simulated_programs(int workers, std::uint64_t task_ns);

}  // namespace weir::bench
