// What a runtime did: counts since it was made, or since runtime::reset_statistics().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir {

struct statistics {
  std::string policy = {};
  int workers = 0;
  int nodes = 0;
  std::uint64_t tasks = 0;                                   // executed, skipped ones included
  double seconds = 0;                                        // since the start of the count
  std::uint64_t pushes = 0;                                  // tasks handed to another node's inbox
  std::uint64_t pushes_refused = 0;                          // inbox full: the task stayed
  std::vector<std::uint64_t> steals_by_distance = {};        // by distance class, see distance_classes
  std::vector<double> distance_classes = {};                 // firmware distances (local 10), ascending; [0]: itself
  std::vector<std::uint64_t> read_bytes_by_distance = {};    // dependence bytes, from worker's node to version's
  std::vector<std::uint64_t> write_bytes_by_distance = {};
  std::vector<std::uint64_t> peak_buffer_bytes_by_node = {}; // bytes in version buffers; exact to 64 KiB per worker
  std::uint64_t peak_buffer_bytes = 0;                       // of all nodes together, same precision
  std::uint64_t live_buffer_bytes = 0;

  std::uint64_t steals() const;
  std::uint64_t read_local() const;
  std::uint64_t read_remote() const;
  std::uint64_t write_local() const;
  std::uint64_t write_remote() const;
  // Share of dependence bytes on the executing worker's node; 1 if there were none. The metric R_loc^RT of Drebes, Pop,
  // Heydemann, Cohen and Drach, PACT 2016, section 5.1.
  double locality() const;
  // For people, aligned, several lines.
  std::string to_string() const;
};

}  // namespace weir
