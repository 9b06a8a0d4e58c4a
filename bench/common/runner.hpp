// Running one instance of a kernel and measuring it.
#pragma once

#include <bench/common/counters.hpp>
#include <bench/common/kernel.hpp>

#include <optional>

namespace weir::bench {

struct run_request {
  const kernel* what = nullptr;
  configuration problem;
  runtime_options how;
  const std::any* expected = nullptr;  // what kernel::solve() returned; null: the result is not verified
  bool write_output = false;
  bool measured = true;                // false: no region is marked
  bool count = false;                  // with the processor's counters
  bool movable = false;                // pages of interleaved arrays may be moved by the system once they are filled
};

struct run_result {
  std::string policy;
  int workers = 0, nodes = 0;
  double seconds = 0;  // of instance::run() alone
  statistics counts;   // of the same region
  std::uint64_t live_bytes = 0;
  std::optional<verification> verified;
  std::optional<region_counts> counted;
  std::string counters_missing;  // which of them, and why; empty: none, or none was asked for
  std::string trace_failure;  // why the trace that was asked for is not there, one sentence; else empty

  double nanoseconds_per_task() const { return counts.tasks ? seconds * 1e9 / static_cast<double>(counts.tasks) : 0; }
};

// Starts a runtime of its own, prepares, runs between the markers of region.hpp, and takes the result if it is wanted.
// Throws what the runtime and the kernel throw.
run_result run_once(const run_request&);

}  // namespace weir::bench
