// What `weir bench main` prints.
#pragma once

#include "bench_main_runs.hpp"

#include <vector>

namespace weir::tools {

// Sets the ratios of trees: how much less time two workers take than one.
void compare_workers(std::vector<main_result>& results);

void print_main_json(const std::vector<main_result>& results);
// A line a place, or a number of workers, below each row's title; a column a runtime.
void print_main_table(const std::vector<main_result>& results, int workers, int rounds);

}  // namespace weir::tools
