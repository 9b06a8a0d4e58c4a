// Divisions that keep all parts busy at all times. The smallest cut does not: where a graph is cheapest to cut into an
// earlier and a later half, one half waits for the other.
#pragma once

#include "partition/partitioner.hpp"
#include "partition/schedule.hpp"

#include <cstdint>
#include <span>

namespace weir::partition {

struct timely_division : division {
  std::uint32_t bands = 1;  // of depth, each of which was divided evenly
  timetable expected;
  double bound = 0;  // what `expected.length` would be if any worker could execute any task, and no transfer took time
  int tries = 0;
};

// Divides the tasks with different numbers of bands of depth, sees how each division would run (schedule.hpp), and
// returns the one that ends first. `cost`: of each task; `cost_of_byte`: at distance 1, in the same unit. At most
// `most_divisions` divisions; fewer where one is within 3 % and the imbalance of the bound. The figures it returns are
// those of the bands that it has chosen. `ties`: what tasks have in common beside that, without waiting for each
// other. Throws usage_error as partitioner::partition does, and for a cycle.
timely_division divide_in_time(const partitioner&, std::span<const std::uint64_t> cost, std::span<const edge>,
                               const options&, double cost_of_byte, int most_divisions = 3,
                               std::span<const edge> ties = {});

}  // namespace weir::partition
