// Drebes, Pop, Heydemann, Cohen and Drach, PACT 2016, section 2.3: Algorithm 1 with the heuristic "input only".
#include "place/by_inputs.hpp"

#include "place/byte_tally.hpp"

namespace weir::place {

// Where two inputs lie on two nodes, and neither is larger, the task goes to the node whose input was there first. The
// other one, which was last, has more to do, and would draw what the task writes to itself, too: with tasks that read
// and write two blocks (bitonic) all data ended on a few nodes.
//
// What is updated in place counts twice. The paper's tasks write new versions, which follow them; an update's bytes
// are written where they are.
//
// Where one input has more than half of the bytes its node is the cheapest, whatever the rest, on any machine whose
// costs obey the triangle inequality: going elsewhere costs more for that half than it can save for the other.
inputs_place cheapest_for_inputs(const policy_machine& m, int own_node, flow::frame& task,
                                 std::uint64_t push_threshold_bytes) {
  if (task.main_input != flow::frame::no_main_input) {
    const flow::access& main = *task.access_at(task.main_input);
    const int node = main.source->node;
    if (main.bytes >= push_threshold_bytes && node >= 0 && m.has_worker[static_cast<std::size_t>(node)])
      return {node, false, main.bytes};
  }
  byte_tally tally;
  flow::for_each_moved_input(&task, [&](std::uint64_t bytes, int node) { tally.add(bytes, node, 1); });
  if (tally.total_bytes() < push_threshold_bytes || tally.total_bytes() == 0)
    return {policy::here, tally.total_bytes() == 0, 0};
  const int node = tally.cheapest_node(m, own_node, false, byte_tally::ties::leave);
  std::uint64_t there = 0;
  flow::for_each_input(&task, [&](std::uint64_t bytes, int at) { there += at == node ? bytes : 0; });
  return {node, false, there};
}

}  // namespace weir::place
