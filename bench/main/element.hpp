// How much an element of the row `loops` computes.
#pragma once

#include <cstdint>

namespace weir::bench::from_main {

// Iterations of compute() with which an element of a sequential loop takes ns_of_element. Measured on such a loop, in
// which a CPU begins elements before others are done: as many as fit into that time alone would take less in a loop.
std::uint64_t iterations_of_element();

}  // namespace weir::bench::from_main
