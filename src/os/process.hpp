// Knowing that we are a forked child: threads do not survive fork(), so a runtime in the child is an empty shell.
#pragma once

#include <cstdint>

namespace weir::os {

// 0 in the process that started, one more in every forked descendant. A load; the counting is done by pthread_atfork.
std::uint32_t fork_generation();

}  // namespace weir::os
