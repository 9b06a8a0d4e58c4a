// Better parts from parts: vertices move one by one to where fewer bytes are cut, or where there is more room.
#pragma once

#include "partition/level.hpp"

#include <span>
#include <vector>

namespace weir::partition {

// How good parts are: first what is above the limits, then what the cut costs.
struct quality {
  amount excess = 0, cost = 0;
  bool operator<(const quality& b) const { return excess != b.excess ? excess < b.excess : cost < b.cost; }
};

// `limit`: parts x bands. O(edges + parts * bands).
quality quality_of(const level&, const frame&, std::span<const amount> limit, std::span<const int> part);

// Passes of moves (Fiduccia and Mattheyses, DAC 1982, with k parts and several constraints): each vertex moves at most
// once in a pass, also where that makes the cut dearer for a while, and the best state of the pass is kept. Ends early
// when a pass gains nothing. Vertices that are fixed stay. O(edges) a pass, and log(vertices) a move.
void refine(const level&, const frame&, std::span<const amount> limit, int passes, std::uint64_t seed,
            std::vector<int>& part);

// To the limits of frame::even, if the cut gets no more than 1 % dearer by that.
void make_even(const level&, const frame&, std::uint64_t seed, std::vector<int>& part);

}  // namespace weir::partition
