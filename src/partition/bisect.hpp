// First parts of a small graph, by cutting it in two, and each half in two again.
#pragma once

#include "partition/level.hpp"

#include <cstdint>
#include <vector>

namespace weir::partition {

// The parts are cut apart where they are farthest from each other, so that what has much in common ends up near (dual
// recursive bipartitioning: Pellegrini and Roman, HPCN 1996). Each cut is the best of `tries` halves that have been
// grown from a vertex (Karypis and Kumar, SIAM J. Sci. Comput. 1998, section 5) and refined.
std::vector<int> bisect(const level&, const frame&, int tries, std::uint64_t seed);

}  // namespace weir::partition
