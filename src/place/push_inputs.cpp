// push-inputs: a ready task goes to the node from which its inputs are cheapest to read.
//
// Drebes, Pop, Heydemann, Cohen and Drach, PACT 2016, section 2.3: Algorithm 1 with the heuristic "input only".
// Together with deferred allocation (section 3.3) it is the paper's DSA-OPT (section 5.1), weir's policy `local`.
//
// This file is the tutorial for a new policy: tally the bytes the task touches, decide. What is returned is a wish: a
// full inbox on that node means the task stays here.
#include "place/cost.hpp"

namespace weir::place {
namespace {

std::uint64_t bytes_of(flow::frame* task) {
  std::uint64_t bytes = 0;
  const auto add = [&](std::uint64_t n, int) { bytes += n; };
  flow::for_each_input(task, add);
  flow::for_each_output(task, add);
  return bytes;
}

// Tasks that only write decide where everything after them lives, and no data say where they should be. Left to
// stealing, as in the paper (section 3.2), the initial data are spread by chance: whoever is idle first gets most.
// Instead they go to the workers' nodes in turn, as under "dependence easy placement", a round robin with a stride
// (README.md says whose). Children of a task that has data of its own stay with it: it has been placed, and they are
// part of it.
wish spread_initial(const view& v, flow::frame* task) {
  std::uint64_t written = 0;
  bool placed = false;
  flow::for_each_output(task, [&](std::uint64_t bytes, int node) {
    written += bytes;
    placed |= node != detail::node_unknown;
  });
  if (placed || written < v.chosen.push_threshold_bytes) return here;
  if (v.running != nullptr && bytes_of(v.running) >= v.chosen.push_threshold_bytes) return here;
  const std::size_t turn = v.own.spread++ / v.chosen.stride;
  return {v.node_of_worker[turn % v.node_of_worker.size()], true};
}

}  // namespace

// push_threshold_bytes, 1 KiB: pushing a task costs two or three cache misses between nodes and perhaps a wake-up. With
// a lower threshold tasks travel that read a few lines; with a higher one a task of some dozens of lines runs far from
// them, at 100-350 ns a line.
//
// Where two inputs lie on two nodes, and neither is larger, the task goes to the node whose input was there first. The
// other one, which was last, has more to do, and would draw what the task writes to itself, too: with tasks that read and
// write two blocks (bitonic) all data ended on a few nodes.
//
// What is updated in place counts twice. The paper's tasks write new versions, which follow them; an update's bytes are
// written where they are.
//
// Where one input has more than half of the bytes its node is the cheapest, whatever the rest, on any machine whose
// costs obey the triangle inequality: going elsewhere costs more for that half than it can save for the other.
wish push_inputs(const view& v, flow::frame* task) {
  if (task->main_input != flow::frame::no_main_input) {
    const flow::access& main = *task->access_at(task->main_input);
    const int node = main.source->node;
    if (main.bytes >= v.chosen.push_threshold_bytes && node >= 0 && v.node_has_worker[static_cast<std::size_t>(node)]) return node;
  }
  byte_tally tally;
  flow::for_each_moved_input(task, [&](std::uint64_t bytes, int node) { tally.add(bytes, node, 1); });
  if (tally.total_bytes() == 0) return spread_initial(v, task);
  if (tally.total_bytes() < v.chosen.push_threshold_bytes) return here;
  return tally.cheapest_node(v, false, byte_tally::ties::leave);
}

}  // namespace weir::place
