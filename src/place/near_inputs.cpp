// Near its inputs, or where it is this task's turn.
#include "place/near_inputs.hpp"

#include "place/by_inputs.hpp"
#include "place/windows.hpp"

#include <algorithm>
#include <vector>

namespace weir::place {
namespace {

std::vector<std::vector<int>> workers_by_node(const policy_machine& m) {
  std::vector<std::vector<int>> workers(static_cast<std::size_t>(m.nodes));
  for (std::size_t w = 0; w < m.node_of_worker.size(); w++)
    workers[static_cast<std::size_t>(m.node_of_worker[w])].push_back(static_cast<int>(w));
  return workers;
}

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

// Each worker has a turn, and each node two goes, half of its workers in each. With one go, arrays of a few pieces are
// dealt out badly: 12 of them to 8 workers on two nodes may be 8 and 4. With a go for each worker, most neighbours of a
// piece are on other nodes.
void near_inputs::begin(const policy_machine& m) {
  machine_ = &m;
  go_of_worker_.resize(m.node_of_worker.size());
  const std::vector<std::vector<int>> workers = workers_by_node(m);
  for (const bool first_go : {true, false})
    for (std::size_t n = 0; n < workers.size(); n++) {
      const std::size_t half = (workers[n].size() + 1) / 2;
      const std::size_t begin = order_.size();
      for (std::size_t i = first_go ? 0 : half; i < (first_go ? half : workers[n].size()); i++) {
        go_of_worker_[static_cast<std::size_t>(workers[n][i])] = begin;
        order_.push_back(static_cast<int>(n));
      }
    }
}

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
  const int named = node_of_creator(who);
  if (!flow::names_user_memory(&task.frame())) return {named >= 0 ? named : turn(who.index, 0), true};
  const auto own_turn = [&] {
    if (named >= 0) return named;
    const auto thread = static_cast<std::size_t>(who.index);
    return turn(who.index, thread < go_of_worker_.size() ? go_of_worker_[thread] : thread);
  };
  // As under a plan: pages that this task shares with others would be torn apart, and stay so.
  return {dealing_.node_for(&task.frame(), own_turn), true, uses_expected * unplaced};
}

// Where the program has put the task that creates this one: what it creates belongs there. -1: nowhere.
int near_inputs::node_of_creator(const policy::asker& who) const {
  const int node = who.running != nullptr ? who.running->affinity : -1;
  return node >= 0 && std::ranges::find(order_, node) != order_.end() ? node : -1;
}

// Who shares pages takes one turn together, so each thread may have only a few: they begin with a go of its node.
int near_inputs::turn(int thread, std::size_t first) {
  return order_[(first + turns_.next(thread) / stride_) % order_.size()];
}

}  // namespace weir::place
