// Latency and bandwidth between every pair of nodes, measured on this machine.
#pragma once

#include <cstdint>

#include "machine/machine.hpp"

namespace weir::tools {

struct measure_options {
  std::uint64_t buffer_mib = 0;  // a power of two; 0: four times the last-level cache, as far as memory allows
  int runs = 3;                  // the median counts
  bool shuffled = false;         // visit lines in a pseudo-random order, which no prefetcher follows
  bool progress = false;         // one line on standard error, rewritten
};

// Fills read_ns, write_ns, read_gb_s and write_gb_s, with notes on what could not be measured. The method is that of
// "Scalable Task Parallelism for NUMA" (PACT 2016), section 4.2: a buffer on one node, passed over from beginning to
// end in steps of 64 bytes by a CPU of another, so that each line is accessed once. Each read waits for the one before.
// Bandwidth: all CPUs of the node, each in its part of the buffer. Works in threads of its own.
// Throws weir::machine_error if the machine is not the host or memory cannot be had or placed.
// Takes nodes^2 x runs x 4 passes over the buffer, 1 to 2 s each for 1 GiB.
void measure(machine::description& machine, const measure_options& options);

// Replaces the zeros that pairs nobody can measure have left: from a node without CPUs the figure of the way back, else
// the best way to that memory; to a node without memory the worst known, as nothing is ever there. Returns whether
// there were any. Part of measure(), here for its test.
bool fill_unmeasured(machine::description& machine);

}  // namespace weir::tools
