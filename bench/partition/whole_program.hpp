// The task graph of a program as a policy sees it that sees all of it at once, before any of it runs.
#pragma once

#include <bench/common/runner.hpp>

#include <weir/policy.hpp>

#include <cstdint>
#include <vector>

namespace weir::bench {

// Tasks by number, in the order of their creation (task_names.hpp).
struct whole_program {
  std::vector<std::uint64_t> bytes;  // that each task names
  std::vector<task_window::link> links;
  std::uint64_t bytes_there = 0;     // that tasks use and none has written: no link, for where they lie is chance
};

// Runs the program once on two pretended nodes, and waits with all tasks until the last one is created. Of own memory
// that the program's own tasks are the first to write, with sequential control.
whole_program see_all_of(const kernel&, const configuration&);

// The machine that policies of a runtime with these options see.
policy_machine machine_seen(const runtime_options&);

}  // namespace weir::bench
