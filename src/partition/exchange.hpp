// Which part of a division becomes which part of the target.
#pragma once

#include "partition/level.hpp"

#include <vector>

namespace weir::partition {

// Exchanges whole parts, two at a time, for as long as that makes the bytes between them less distant: parts of the
// same share only, and what is fixed stays where it is. O(edges + parts^4) at most, mostly O(edges + parts^3).
void exchange_parts(const level&, const frame&, std::vector<int>& part);

}  // namespace weir::partition
