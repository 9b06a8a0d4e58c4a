// What a simulation runs: tasks that take a known time, and the data that they name.
#pragma once

#include <cstdint>
#include <vector>

namespace weir::engine::sim {

struct task {
  std::uint64_t ns = 0;           // of its body, where all it reads is near
  std::vector<int> in, out, inout;  // data; each in one of the three only
  std::vector<int> creates;       // tasks, when its body has run, in this order
  int affinity = -1;              // a node
  bool required = false;
  std::int8_t priority = 0;
};

// Every task is created once: by the thread of the program or by another task.
struct program {
  std::vector<std::uint64_t> datum_bytes;
  bool data_have_values = false;  // made by the thread of the program, on its node, before anything else
  std::vector<task> tasks;
  std::vector<int> creates;  // by the thread of the program, from the beginning on, in this order
};

}  // namespace weir::engine::sim
