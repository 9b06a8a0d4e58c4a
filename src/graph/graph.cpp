// Recorded graphs: edges in order, cycles found, runs started.
#include "graph/graph.hpp"

#include <weir/error.hpp>

namespace weir::detail {

graph_state::~graph_state() {
  for (graph_task& t : tasks)
    if (t.ops != nullptr) t.ops->destroy(&t);
}

graph_task& graph_state::new_task(const task_options& o) {
  if (running.load(std::memory_order_acquire) != 0) throw usage_error("weir::graph::add() was called while the graph runs");
  if (tasks.size() == 0xffffffffu) throw usage_error("weir::graph has 4294967295 tasks, which is as many as it can hold");
  if (!tasks.empty() && tasks.back().ops == nullptr) tasks.pop_back();  // its body threw when it was copied
  graph_task& t = tasks.emplace_back();
  t.name = o.name;
  t.priority = static_cast<std::int8_t>(o.priority);
  t.affinity = static_cast<std::int16_t>(o.affinity.node);
  t.required = o.affinity.required;
  t.unusual = frame::of_graph;
  t.scope = &scope;
  changed_ = true;
  return t;
}

void graph_state::add_edge(std::uint32_t before, std::uint32_t after) {
  if (running.load(std::memory_order_acquire) != 0) throw usage_error("weir::graph::precede() was called while the graph runs");
  for (std::uint32_t id : {before, after})
    if (id >= tasks.size()) throw usage_error("weir::graph::precede(" + std::to_string(before) + ", " + std::to_string(after) + "): there is no task " + std::to_string(id) + ", the graph has " + std::to_string(tasks.size()));
  if (before == after) throw usage_error("weir::graph::precede(): " + name_of(tasks[before]) + " cannot come before itself");
  edges_.emplace_back(before, after);
  changed_ = true;
}

std::string graph_state::name_of(const graph_task& t) const {
  if (t.name != nullptr) return std::string("task ") + t.name;
  std::size_t index = 0;
  while (index < tasks.size() && &tasks[index] != &t) index++;
  return "task " + std::to_string(index);
}

void graph_state::prepare() {
  if (!changed_) return;
  if (!tasks.empty() && tasks.back().ops == nullptr) tasks.pop_back();
  std::vector<std::size_t> begin(tasks.size() + 1, 0);
  std::vector<std::uint32_t> left(tasks.size(), 0);  // predecessors not yet passed
  for (const auto& [before, after] : edges_) {
    begin[before + 1]++;
    left[after]++;
  }
  for (std::size_t i = 0; i < tasks.size(); i++) begin[i + 1] += begin[i];
  std::vector<std::uint32_t> after_index(edges_.size());
  after_.resize(edges_.size());
  std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
  for (const auto& [before, after] : edges_) {
    after_index[at[before]] = after;
    after_[at[before]++] = &tasks[after];
  }
  first_.clear();
  std::vector<std::uint32_t> order;  // those all of whose predecessors come before them (Kahn, 1962)
  for (std::uint32_t i = 0; i < tasks.size(); i++) {
    graph_task& t = tasks[i];
    t.after = after_.data() + begin[i];
    t.after_count = static_cast<std::uint32_t>(begin[i + 1] - begin[i]);
    t.before_count = left[i];
    t.pending.store(left[i], std::memory_order_relaxed);
    if (left[i] == 0) {
      first_.push_back(&t);
      order.push_back(i);
    }
  }
  for (std::size_t done = 0; done < order.size(); done++)
    for (std::size_t e = begin[order[done]]; e < begin[order[done] + 1]; e++)
      if (--left[after_index[e]] == 0) order.push_back(after_index[e]);
  if (order.size() < tasks.size()) throw_cycle(left);
  changed_ = false;
}

// Who still has predecessors left has one among those who have: going back from one to the next ends in a cycle.
void graph_state::throw_cycle(const std::vector<std::uint32_t>& left) {
  std::vector<std::uint32_t> before(tasks.size());
  for (const auto& [b, a] : edges_)
    if (left[b] != 0 && left[a] != 0) before[a] = b;
  std::uint32_t at = 0;
  while (left[at] == 0) at++;
  for (std::size_t i = 0; i < tasks.size(); i++) at = before[at];
  constexpr int most_named = 10;
  std::vector<std::uint32_t> cycle{at};
  for (std::uint32_t t = before[at]; t != at; t = before[t]) cycle.push_back(t);
  std::string text = name_of(tasks[at]);
  for (std::size_t i = cycle.size(); i-- > 1;)
    if (cycle.size() - i < most_named || i == 1) text += (cycle.size() - i >= most_named ? " -> ... -> " : " -> ") + name_of(tasks[cycle[i]]);
  throw usage_error("weir::graph has a cycle of " + std::to_string(cycle.size()) + " tasks: " + text + " -> " + name_of(tasks[at]));
}

void graph_state::start(flow::ready_list& ready) {
  for (graph_task* t : first_) {
    t->state.store(frame_state::ready, std::memory_order_relaxed);
    ready.push(t);
  }
}

std::string graph_state::to_dot() const {
  std::string dot = "digraph weir {\n";
  for (std::size_t i = 0; i < tasks.size(); i++)
    if (tasks[i].name != nullptr) dot += "  " + std::to_string(i) + " [label=\"" + tasks[i].name + "\"];\n";
    else dot += "  " + std::to_string(i) + ";\n";
  for (const auto& [before, after] : edges_) dot += "  " + std::to_string(before) + " -> " + std::to_string(after) + ";\n";
  return dot + "}\n";
}

}  // namespace weir::detail
