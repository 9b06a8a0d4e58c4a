// Does it pay to let the system move pages? The synthetic benchmark of Drebes et al., PACT 2016, section 6.2: threads
// traverse buffers, and now and then change which buffer is whose.
#pragma once

#include <bench/memory/node_memory.hpp>

#include <cstddef>

namespace weir::bench::memory {

struct migration_problem {
  page_size pages = page_size::standard;
  std::size_t buffer_bytes = std::size_t{64} << 20;   // of each thread; a multiple of a line
  int sets = 1;         // of buffers; each change goes on to the next
  int changes = 8;      // of affinity
  int iterations = 10;  // traversals between two changes
};

struct migration_result {
  int threads = 0;
  double seconds = 0;   // from the first barrier to the last
  bool right = false;   // every line was added to as often as it should
};

// One thread a CPU, bound. Buffer i of a set lies on the i-th node, counted round robin; after change a thread i has buffer
// i + a, so that in as many changes as there are nodes each node uses each. The measured part is a region. Throws
// input_error as node_memory does.
migration_result measure_migration(const migration_problem& p);

}  // namespace weir::bench::memory
