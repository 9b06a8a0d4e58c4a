// Drebes, Pop, Heydemann, Cohen and Drach, PACT 2016, section 2.3: Algorithm 1 with the heuristic "input only".
#include "place/by_inputs.hpp"

#include "place/byte_tally.hpp"

namespace weir::place {
namespace {

struct weighed_inputs {
  std::uint64_t bytes = 0;             // of all
  const flow::access* main = nullptr;  // the one with more than half of them
};

// Looks at the task alone. Each input's version is a cache line of another task's: where one decides, the others' need
// not be looked at.
weighed_inputs weigh(flow::frame& task) {
  weighed_inputs all;
  std::uint64_t most = 0;
  const flow::access* const first = task.access_at(0);
  for (const flow::access* a = first; a != first + task.accesses; a++) {
    if (a->kind() > flow::waiter_kind::window) continue;
    const std::uint64_t bytes = flow::moved_bytes(*a);
    all.bytes += bytes;
    if (bytes <= most) continue;
    most = bytes;
    all.main = a;
  }
  if (2 * most <= all.bytes || all.main->kind() == flow::waiter_kind::window) all.main = nullptr;
  return all;
}

std::uint64_t bytes_read_on(int node, const task_view& task) {
  std::uint64_t there = 0;
  flow::for_each_input(user_memory_of(task), &task.frame(),
                       [&](std::uint64_t bytes, int at) { there += at == node ? bytes : 0; });
  return there;
}

// What a task writes first of the program's own memory will stay where the task runs, and decide where others do: if
// that is more than what it could follow, it has nothing to follow. A page at the edge that somebody else has written,
// or a few parameters, would draw all of it to themselves.
inputs_place cheapest_with_user_memory(const policy_machine& m, int own_node, const task_view& task,
                                       std::uint64_t push_threshold_bytes) {
  byte_tally tally;
  std::uint64_t placed = 0, unplaced = 0;
  flow::for_each_moved_input(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int node) {
    tally.add(bytes, node, 1);
    placed += node >= 0 ? bytes : 0;
  });
  flow::for_each_unplaced_output(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes) { unplaced += bytes; });
  if (placed < unplaced) return {policy::here, true, 0};
  if (tally.total_bytes() < push_threshold_bytes) return {};
  const int node = tally.cheapest_node(m, own_node, false);
  return {node, false, bytes_read_on(node, task)};
}

// Of what a task reads, or also writes there: the share that belongs there. What a group shares does not move.
double belonging(const task_view& task, const flow::access& a, int node) {
  if (task.balance() == nullptr || a.kind() != flow::waiter_kind::update) return 1;
  return task.balance()->belonging(a.source->bytes, node, *task.frame().ops);
}

// It has more than half of all bytes, as far as they belong where they are.
bool decides(const weighed_inputs& all, const task_view& task) {
  if (all.main == nullptr) return false;
  const double most = static_cast<double>(flow::moved_bytes(*all.main));
  return belonging(task, *all.main, all.main->source->node) * most > static_cast<double>(all.bytes) - most;
}

}  // namespace

// Where two inputs lie on two nodes, and neither is larger, the task stays where the last one was written, which is in
// that worker's caches.
//
// What is updated in place counts twice. The paper's tasks write new versions, which follow them; an update's bytes
// are written where they are. But updates of data move with tasks that are long enough. So on a node that holds too
// much they count only as far as they belong there, and their task goes to the rest of what it reads: to bring them
// there is no loss, for as many have to leave. Not of tasks that also name the program's own memory.
//
// Where one input has more than half of the bytes its node is the cheapest, whatever the rest, on any machine whose
// costs obey the triangle inequality: going elsewhere costs more for that half than it can save for the other.
inputs_place cheapest_for_inputs(const policy_machine& m, int own_node, const task_view& task,
                                 std::uint64_t push_threshold_bytes) {
  if (flow::names_user_memory(&task.frame())) [[unlikely]]
    return cheapest_with_user_memory(m, own_node, task, push_threshold_bytes);
  const weighed_inputs all = weigh(task.frame());
  if (all.bytes < push_threshold_bytes || all.bytes == 0) return {policy::here, all.bytes == 0, 0};
  if (decides(all, task)) {
    const int node = all.main->source->node;
    if (node >= 0 && m.has_worker[static_cast<std::size_t>(node)]) return {node, false, all.main->bytes};
  }
  byte_tally tally;
  flow::for_each_data_input(&task.frame(), [&](std::uint64_t bytes, int node, const flow::access& a) {
    tally.add(flow::is_updated(a) ? 2 * bytes : bytes, node, belonging(task, a, node));
  });
  const int node = tally.cheapest_node(m, own_node, false);
  return {node, false, bytes_read_on(node, task)};
}

}  // namespace weir::place
