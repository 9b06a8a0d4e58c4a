// What `weir bench overhead` prints.
#pragma once

#include "bench_overhead_programs.hpp"

#include <vector>

namespace weir::tools {

// Sets the ratios to weir's result for the same pattern and number of workers.
void compare(std::vector<overhead_result>& results);

void print_json(const std::vector<overhead_result>& results, bool metg);
// A table per number of workers.
void print_table(const std::vector<overhead_result>& results, const std::vector<int>& workers, int rounds, bool metg);

}  // namespace weir::tools
