// How the parts of a division would run: list scheduling, in a time of its own.
#pragma once

#include "partition/order.hpp"
#include "partition/target.hpp"

#include <span>
#include <vector>

namespace weir::partition {

struct timetable {
  double length = 0;    // until the last task is done
  // The longest that a part takes from the first of its tasks that waits for another one to its last. What comes before
  // that a program of many steps pays once, where each part works on what is its own: while a part ends one step, those
  // that have begun before it are in the next.
  double steady = 0;
  double work = 0;      // of all tasks together, without what reading takes
  double transfer = 0;  // what reading from other parts takes, of all tasks together
  double workers = 0;   // how many there are

  // The shortest that it could be with no byte read from elsewhere and nobody ever waiting, over what it is; at most
  // 1.
  double efficiency() const { return length > 0 && workers > 0 ? work / workers / length : 1; }
};

// Each part has as many workers as its capacity, rounded up; a worker that is free takes the task of its part that has
// been ready for longest. A task takes its cost, and for each byte that it reads of another part `cost_of_byte` times
// the distance. `order`: what order_of returned. O((tasks + edges) log workers).
timetable schedule(const successors&, std::span<const vertex> order, std::span<const std::uint64_t> cost,
                   const target&, std::span<const int> part, double cost_of_byte);

// Of the tasks of each depth, the share of the part that has most of them, averaged over all depths by their weight: 1
// / parts at best, where all parts are alike; 1 where each step is one part's.
double average_share(std::span<const std::uint32_t> depth, std::span<const std::uint64_t> weight, int parts,
                     std::span<const int> part);

}  // namespace weir::partition
