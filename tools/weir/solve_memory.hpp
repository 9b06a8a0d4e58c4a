// Memory of a whole process over all nodes in turn, as numactl --interleave does.
#pragma once

namespace weir::tools {

// For what this thread, and threads that it starts from now on, touch first. False if the system refuses.
bool interleave_memory();

}  // namespace weir::tools
