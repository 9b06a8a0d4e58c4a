// push-weighted: a ready task goes to the node from which inputs and outputs together are cheapest to reach; a byte
// written may weigh more than a byte read, because writes cost more. Drebes et al., PACT 2016, section 2.3: Algorithm 1
// with the heuristic "weighted".
#include "place/cost.hpp"

namespace weir::place {

wish push_weighted(const view& v, flow::frame* task) {
  byte_tally tally;
  flow::for_each_input(task, [&](std::uint64_t bytes, int node) { tally.add(bytes, node, v.chosen.weight_in); });
  flow::for_each_output(task, [&](std::uint64_t bytes, int node) { tally.add(bytes, node, v.chosen.weight_out); });
  if (tally.total_bytes() < v.chosen.push_threshold_bytes) return here;
  return tally.cheapest_node(v, false);
}

}  // namespace weir::place
