// A problem in the numbers of METIS and Scotch, which are of 32 bits and have to hold sums, too.
#pragma once

#include "partition/problem.hpp"

#include <cstdint>
#include <vector>

namespace weir::partition {

// Parts without capacity are left out, and so are their anchors: libraries have no such parts.
struct narrow_problem {
  std::vector<int> part;               // of the target, for each part of the library
  std::vector<std::int32_t> begin, neighbour, bytes;
  std::vector<std::int32_t> weight;    // vertices x bands
  std::vector<std::int32_t> anchor;    // of each vertex the library's part where it is fixed, or -1

  std::size_t vertices() const { return anchor.size(); }
};

// Sums of bytes, and of weights, are at most so much; what is not 0 stays so.
narrow_problem narrowed(const problem&, std::int64_t most_bytes, std::int64_t most_weight);

}  // namespace weir::partition
