// A run of a graph in bulk: frames that carry a few ready tasks each, and what all workers of a run share.
#pragma once

#include "graph/graph.hpp"

#include <weir/detail/bulk.hpp>
#include <weir/detail/scope_state.hpp>

namespace weir::engine {

class engine;

// Where the tasks of a run should be, and which of those that are ready come first. By task; null: nowhere in particular,
// and any.
struct bulk_places {
  const std::int16_t* node = nullptr;  // -1: anywhere
  bool required = false;
  const std::uint8_t* rank = nullptr;  // graphs::ranks_of(); only with nodes, of which each makes its task a frame
};

// One run. Lives until its scope is complete.
struct bulk_run {
  engine& owner;
  graphs::direction& way;
  detail::bulk_body body;
  detail::scope_state& scope;
  graphs::lists members = {};  // of each task, what the body is called with; without `item`: the task itself
  bulk_places places = {};
  const char* name = nullptr;  // of its frames

  // Of one task and all there is to do about it, a running average; 0: not known yet. Written now and then by who has
  // looked at the clock; a guess is good enough.
  alignas(cache_line_bytes) atomic<std::uint32_t> task_ns{0};
  atomic<std::uint32_t> failed{0};  // some task threw: others may be marked to be skipped
  atomic<std::uint32_t> broken{0};  // some tasks were lost: counts must be set anew
};

}  // namespace weir::engine
