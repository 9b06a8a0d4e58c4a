// Time for statistics and back-off. Monotonic.
#pragma once

#include <cstdint>

namespace weir::os {

std::uint64_t now_ns();

}  // namespace weir::os
