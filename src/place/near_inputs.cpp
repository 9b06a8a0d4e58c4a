// Near its inputs, or where it is this task's turn.
#include "place/near_inputs.hpp"

#include "place/by_inputs.hpp"
#include "place/windows.hpp"

#include <vector>

namespace weir::place {
namespace {

std::uint64_t bytes_of(flow::frame& task) {
  std::uint64_t bytes = 0;
  const auto add = [&](std::uint64_t n, int) { bytes += n; };
  flow::for_each_input(nullptr, &task, add);
  flow::for_each_output(nullptr, &task, add);
  return bytes;
}

}  // namespace

near_inputs::near_inputs(policy_parameters& p)
    : push_threshold_bytes_(p.bytes("threshold", usual_push_threshold_bytes, push_threshold_meaning)),
      stride_(static_cast<std::uint32_t>(
          p.count("stride", 1, 1, 1'000'000'000,
                  "tasks in a row, of those that only write, that go to one worker's node"))) {}

policy::wish near_inputs::place(const task_view& task, const policy::asker& who) {
  const inputs_place at = cheapest_for_inputs(*machine_, who.node, task, push_threshold_bytes_);
  return at.nothing_to_follow ? spread(task, who) : policy::wish(at.node, false, at.bytes);
}

policy::wish near_inputs::spread(const task_view& task, const policy::asker& who) {
  std::uint64_t placed = 0, unplaced = 0;
  flow::for_each_output(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int node) {
    (node == detail::node_unknown ? unplaced : placed) += bytes;
  });
  if (placed >= unplaced || unplaced < push_threshold_bytes_) return policy::here;
  if (who.running != nullptr && bytes_of(*who.running) >= push_threshold_bytes_) return policy::here;
  if (!flow::names_user_memory(&task.frame())) return {turn(who.index, 0), true};
  const auto own_turn = [&] { return turn(who.index, static_cast<std::size_t>(who.index)); };
  // As under a plan: pages that this task shares with others would be torn apart, and stay so.
  return {dealing_.node_for(&task.frame(), own_turn), true, uses_expected * unplaced};
}

// Who shares pages takes one turn together, so each thread may have only a few: they begin at its own node.
int near_inputs::turn(int thread, std::size_t first) {
  const std::vector<int>& nodes = machine_->node_of_worker;
  return nodes[(first + turns_.next(thread) / stride_) % nodes.size()];
}

}  // namespace weir::place
