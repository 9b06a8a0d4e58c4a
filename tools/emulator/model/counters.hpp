// What one CPU has done, and what all have.
#pragma once

#include "code_profile.hpp"
#include "config.hpp"
#include "count.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace weir::emulator {

struct cpu_counters {
  count instructions, kernel_instructions, accesses, shared_cache_hits, page_faults, migrations, system_calls, queue_ps, idle_ps, skew_breaks;
  std::array<count, max_nodes> read_lines, write_lines;   // by the node that served them
};

// Sums over CPUs. Lines are nodes x nodes, [from CPU node][to memory node].
struct totals {
  std::uint64_t instructions = 0, kernel_instructions = 0, accesses = 0, shared_cache_hits = 0, page_faults = 0, migrations = 0, system_calls = 0, queue_ps = 0, idle_ps = 0, skew_breaks = 0;
  std::vector<std::uint64_t> read_lines, write_lines;
  code_profile code;   // of the CPUs that are profiled
};

// What happened between two moments.
inline totals operator-(totals after, const totals& before) {
  for (auto member : {&totals::instructions, &totals::kernel_instructions, &totals::accesses, &totals::shared_cache_hits, &totals::page_faults, &totals::migrations, &totals::system_calls, &totals::queue_ps,
                      &totals::idle_ps, &totals::skew_breaks})
    after.*member -= before.*member;
  for (auto member : {&totals::read_lines, &totals::write_lines})
    for (std::size_t i = 0; i < (after.*member).size(); i++) (after.*member)[i] -= (before.*member)[i];
  after.code = std::move(after.code) - before.code;
  return after;
}

}  // namespace weir::emulator
