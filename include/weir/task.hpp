// What a program may say about a task beyond its accesses. None of it changes a result.
#pragma once

#include <weir/detail/frame.hpp>

namespace weir {

// Where a task should run.
struct placement {
  int node = -1;          // index of a node of this machine (weir topo lists them); -1: the policy decides
  bool required = false;
};

// A wish: the task is offered to this node first, and may be stolen.
inline placement prefer(int node) { return {node, false}; }
// An order: only workers of this node run the task. spawn() throws usage_error if the node has no worker.
inline placement require(int node) { return {node, true}; }

enum class priority : std::int8_t {
  normal = 0,
  high = 1,  // when it is on the critical path: run and stolen before any normal task that waits in the same worker's queue
};

struct task_options {
  const char* name = nullptr;  // for errors, statistics and traces; not copied: a literal, or a string that outlives the task
  weir::priority priority = weir::priority::normal;
  placement affinity = {};
};

}  // namespace weir
