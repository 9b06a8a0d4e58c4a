// push-inputs: a ready task goes to the node from which its inputs are cheapest to read.
//
// Seed 000 section 2.3, Algorithm 1 with the heuristic "input only"; together with deferred allocation it is the
// paper's DSA-OPT (section 3.3), weir's policy `local`.
//
// This file is the shortest complete policy: tally the bytes the task touches, decide. What is returned is a wish: a
// full inbox on that node means the task stays here.
#include "place/cost.hpp"

namespace weir::place {

// push_threshold_bytes, 1 KiB: pushing a task costs two or three cache misses between nodes and perhaps a wake-up. With
// a lower threshold tasks travel that read a few lines; with a higher one a task of some dozens of lines runs far from
// them, at 100-350 ns a line.
int push_inputs(const view& v, flow::frame* task) {
  byte_tally tally;
  flow::for_each_input(task, [&](std::uint64_t bytes, int node) { tally.add(bytes, node, 1); });
  if (tally.total_bytes() < v.chosen.push_threshold_bytes) return here;
  return tally.cheapest_node(v, false);
}

}  // namespace weir::place
