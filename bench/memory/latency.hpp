// Latency of memory between nodes, by the method of Drebes et al., PACT 2016, section 4.2: one CPU passes over a buffer
// on a node, line by line, each once; the buffer is larger than the caches.
#pragma once

#include <cstddef>
#include <functional>

namespace weir::bench::memory {

struct latency_pass {
  int from_node = 0, to_node = 0;   // as the system numbers them: of the CPU, of the memory
  bool write = false;
  std::size_t lines = 0;
  double seconds = 0;
};

// From each node with CPUs to each node, read and written; each pass is a region. Nodes that have no memory to give are
// left out. bytes: a multiple of 512. Calls done() after each pass. Throws input_error as node_memory does.
void measure_latency(std::size_t bytes, const std::function<void(const latency_pass&)>& done);

}  // namespace weir::bench::memory
