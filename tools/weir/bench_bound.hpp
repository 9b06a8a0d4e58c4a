// weir bench --bound: bytes between nodes under policies, beside a division that is found offline.
#pragma once

#include <bench/common/runner.hpp>

#include <string>
#include <vector>

namespace weir::tools {

// A kernel, and how the runtime is to be started.
struct bound_request {
  bench::run_request run;
  std::vector<std::string> policies;
  int repeat = 1;
  bool json = false;
};

// Of own memory, written first by tasks in the measured region, with sequential control: throws bench::input_error
// otherwise.
void check_bound(const bench::kernel&, const bench::configuration&);

// Prints a table, or with `json` an object per division and run. Throws what runs throw.
void print_bound(const bound_request&);

}  // namespace weir::tools
