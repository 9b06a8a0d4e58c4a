// check(): runs a test under all schedules and all outcomes of its loads, as far as the limits go.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace weir::model {

// Makes the atomics do less than the code asks for. A test that passes all the same does not test memory orders; so
// each protocol has tests that fail when weakened.
enum class weakening : std::uint8_t {
  none,
  seq_cst,  // seq_cst operations are acquire, release or acq_rel; seq_cst fences do nothing
  release,  // release operations are relaxed, acq_rel ones acquire
  acquire,  // acquire operations are relaxed, acq_rel ones release
};

struct limits {
  // How many times a run may take the CPU from a thread that could go on, in the exhaustive part. Most errors need
  // at most 2; each more multiplies the number of runs by about the number of operations.
  int preemptions = 2;
  // At most this many runs in the exhaustive part, and this many in the random part (which knows no bound on
  // preemptions). 0: as WEIR_MODEL_RUNS says, by default 100000.
  std::uint64_t runs = 0;
  // How many times dearer a run is than usual: divides the number of runs taken from WEIR_MODEL_RUNS.
  std::uint64_t cost = 1;
  // Operations in one run before it is called a livelock.
  int steps = 2000;
  // How many weak compare-exchanges may fail for no reason in one run.
  int spurious_failures = 1;
  // 0: as WEIR_MODEL_SEED says, by default drawn anew.
  std::uint64_t seed = 0;
  weakening without = weakening::none;
};

struct result {
  bool passed = true;
  // All runs within the bound on preemptions have been made; if no run was cut by that bound, all there are.
  bool exhausted = false;
  std::uint64_t runs = 0;
  std::uint64_t seed = 0;
  // Of WEIR_MODEL_PLACES: the operations that the runs came to, a line each (mutation.hpp).
  std::string places;
  // If it failed: what is wrong, the operations that lead there, and how to repeat the run.
  std::string report;
};

// Runs `body` as thread 0 of a model, again and again. body builds its own state each time, must not depend on
// anything that changes between runs, and must not touch real threads, clocks or addresses' order. Prints one line
// with the number of runs and the seed. WEIR_MODEL_REPLAY, a list of choices from a report, makes that run alone.
// WEIR_MODEL_WEAKEN makes one operation weaker than it asks for (mutation.hpp).
// Not reentrant.
result check(const std::function<void()>& body, const limits& l = {});

}  // namespace weir::model
