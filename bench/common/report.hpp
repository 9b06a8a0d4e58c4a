// Results for people (a table) and for programs (JSON, one object a line).
#pragma once

#include <bench/common/page_check.hpp>
#include <bench/common/runner.hpp>

#include <string>
#include <vector>

namespace weir::bench {

// One run as one line without the line end. `pages` may be null. The keys are listed in bench/README.md.
std::string to_json(const run_request&, const run_result&, int repeat, const page_checker* pages);

// What a row of the table sums up: the runs of one kernel under one policy.
struct run_group {
  std::string policy;
  std::vector<run_result> runs;
};

// Two lines that name the problem, then one row a policy: medians over the runs. `serial_seconds` is 0 if the
// sequential program did not run; else it is a median, too, and what speed-ups are over. `warm_up`: rounds before the
// runs.
std::string to_table(const run_request&, const std::vector<run_group>&, double serial_seconds, int warm_up);

}  // namespace weir::bench
