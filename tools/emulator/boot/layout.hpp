// The shape of the emulated machine: what is taken over from a described one, and what does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../model/config.hpp"
#include "machine/machine.hpp"

namespace weir::emulator {

struct layout {
  std::vector<int> cpus;              // by node; 0: only memory
  std::vector<int> memory_mib;        // by node
  std::vector<int> distance;          // nodes x nodes, in the firmware's unit
  std::vector<std::string> notes;     // what was estimated, one sentence each

  int nodes() const { return static_cast<int>(cpus.size()); }
  int cpu_count() const;
  std::uint64_t memory_total_mib() const;
};

struct layout_options {
  int cores = 1;         // CPUs of each node that has as many; a node with fewer keeps what it has
  int memory_mib = 0;    // of each node; 0: as much as the number of nodes leaves room for
};

// Throws configuration_error, one sentence, for what no guest can be: asymmetric distances, a node without memory, a
// first node without CPUs or one before a node with CPUs, more than 64 nodes or 255 CPUs.
layout make_layout(const machine::description& machine, const layout_options& options);

// Latencies and controllers from the machine; where it has none, they follow the distances, with a note in the layout.
// Caches as in `caches`.
model_config make_config(const machine::description& machine, layout& shape, model_config caches);

// Throws configuration_error if this host has less memory available than the guest may use up.
void require_memory(const layout& shape, bool model);

}  // namespace weir::emulator
