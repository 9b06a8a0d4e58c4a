// push-outputs: a ready task goes to the node from which its outputs are cheapest to write. Needs outputs that have
// memory before the task runs, that is allocation at creation. Drebes et al., PACT 2016, section 2.3: Algorithm 1 with
// the heuristic "output only".
#include "place/cost.hpp"

namespace weir::place {

wish push_outputs(const view& v, flow::frame* task) {
  byte_tally tally;
  flow::for_each_output(task, [&](std::uint64_t bytes, int node) { tally.add(bytes, node, 1); });
  if (tally.total_bytes() < v.chosen.push_threshold_bytes) return here;
  return tally.cheapest_node(v, true);
}

}  // namespace weir::place
