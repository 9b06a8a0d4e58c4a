// Memory of a whole process over nodes in turn, as numactl --interleave does.
#pragma once

namespace weir::bench {

// Over those with CPUs that the process may use: a program for two nodes of many has its memory on these.
// For what this thread, and threads that it starts from now on, touch first. False if the system refuses.
bool interleave_memory();

}  // namespace weir::bench
