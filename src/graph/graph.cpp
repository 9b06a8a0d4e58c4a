// Recorded graphs: edges in order, cycles found, runs started.
#include "graph/graph.hpp"

#include <weir/error.hpp>

#include <cstdio>
#include <unordered_map>

namespace weir::detail {
namespace {

// As a string of JSON.
std::string quoted(const char* text) {
  std::string q = "\"";
  for (; *text != 0; text++) {
    const auto c = static_cast<unsigned char>(*text);
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, c == '"' || c == '\\' ? "\\%c" : c < 0x20 ? "\\u%04x" : "%c", c);
    q += escaped;
  }
  return q + "\"";
}

}  // namespace

graph_state::~graph_state() {
  if (!any_to_destroy_) return;
  tasks.for_each([](graph_task& t) {
    if (t.ops != nullptr && t.ops->destroy != nullptr) t.ops->destroy(&t);
  });
}

inline void graph_state::check_may_change(const char* what) const {
  if (given_in_bulk_ || running.load(std::memory_order_acquire) != 0) [[unlikely]] throw_may_not_change(what);
}

void graph_state::throw_may_not_change(const char* what) const {
  if (running.load(std::memory_order_acquire) != 0) throw usage_error("weir::graph::" + std::string(what) + "() was called while the graph runs");
  throw usage_error("weir::graph::" + std::string(what) + "() was called for a graph in bulk, whose arrays say what it is");
}

graph_task& graph_state::new_task(const task_options& o) {
  check_may_change("add");
  if (o.affinity.names_memory()) [[unlikely]]
    throw usage_error(
        "weir::graph::add(): near() says where memory is now, and a graph runs many times; expected "
        "prefer() or require()");
  if (tasks.size() == 0xffffffffu) throw usage_error("weir::graph has 4294967295 tasks, which is as many as it can hold");
  drop_unfinished();
  graph_task& t = tasks.emplace_back();
  newest_ = &t;
  t.name = o.name;
  t.priority = static_cast<std::int8_t>(o.priority);
  t.affinity = static_cast<std::int16_t>(o.affinity.node);
  t.required = o.affinity.required;
  t.pending.store(0, std::memory_order_relaxed);
  t.state.store(frame_state::creating, std::memory_order_relaxed);
  t.unusual = frame::of_graph;
  t.scope = &scope;
  any_placed |= o.affinity.node != -1 || o.affinity.required;
  changed_ = true;
  return t;
}

void graph_state::drop_unfinished() {
  if (newest_ == nullptr || newest_->ops != nullptr) return;
  tasks.pop_back();
  newest_ = nullptr;
}

void graph_state::add_edge(std::uint32_t before, std::uint32_t after) {
  check_may_change("precede");
  if (before >= tasks.size() || after >= tasks.size() || before == after) [[unlikely]] throw_no_edge(before, after);
  edges_.emplace_back(edge{before, after});
  tasks[before].after_count++;
  graph_task& t = tasks[after];
  t.pending.store(++t.before_count, std::memory_order_relaxed);
  ascending_ &= before < after;
  changed_ = true;
}

void graph_state::throw_no_edge(std::uint32_t before, std::uint32_t after) const {
  for (std::uint32_t id : {before, after})
    if (id >= tasks.size()) throw usage_error("weir::graph::precede(" + std::to_string(before) + ", " + std::to_string(after) + "): there is no task " + std::to_string(id) + ", the graph has " + std::to_string(tasks.size()));
  throw usage_error("weir::graph::precede(): " + name_of(tasks[before]) + " cannot come before itself");
}

std::string graph_state::name_of(const graph_task& t) const {
  if (t.name != nullptr) return std::string("task ") + t.name;
  std::size_t index = 0;
  while (index < tasks.size() && &tasks[index] != &t) index++;
  return "task " + std::to_string(index);
}

graphs::own_lists graph_state::before_lists() const {
  graphs::own_lists before;
  before.offset.assign(tasks.size() + 1, 0);
  edges_.for_each([&](const edge& e) { before.offset[e.after + 1]++; });
  for (std::size_t t = 0; t < tasks.size(); t++) before.offset[t + 1] += before.offset[t];
  before.item.resize(edges_.size());
  std::vector<std::size_t> at(before.offset.begin(), before.offset.end() - 1);
  edges_.for_each([&](const edge& e) { before.item[at[e.after]++] = e.before; });
  return before;
}

graphs::bulk& graph_state::in_bulk() {
  if (!given_in_bulk_) prepare();
  if (bulk_ == nullptr) bulk_ = std::make_unique<graphs::bulk>(before_lists());
  return *bulk_;
}

// Each task's successors in the order in which their edges were recorded: filled in from the last one.
void graph_state::prepare() {
  if (!changed_) return;
  bulk_.reset();
  drop_unfinished();
  after_.make(edges_.size());
  first_.clear();
  graph_task** end = after_.data();
  tasks.for_each([&](graph_task& t) {
    t.after = end += t.after_count;
    if (t.before_count == 0) first_.push_back(&t);
  });
  edges_.for_each_backwards([this](const edge& e) { *--tasks[e.before].after = &tasks[e.after]; });
  if (!ascending_) check_for_cycles();
  changed_ = false;
  WEIR_ASSERT(edges_are_set());
}

// A run sets each count back, and leaves no mark of a failure.
bool graph_state::counts_are_set() const {
  bool all = true;
  tasks.for_each([&all](const graph_task& t) {
    all &= t.pending.load(std::memory_order_relaxed) == t.before_count;
    all &= t.skipped_because.load(std::memory_order_relaxed) == nullptr;
  });
  return all;
}

// Each task is the successor of others as often as it has predecessors.
bool graph_state::edges_are_set() const {
  std::unordered_map<const graph_task*, std::uint32_t> before;
  std::size_t edges = 0;
  bool all = true;
  tasks.for_each([&](const graph_task& t) {
    edges += t.after_count;
    for (std::uint32_t i = 0; i < t.after_count; i++) before[t.after[i]]++;
  });
  tasks.for_each([&](const graph_task& t) { all &= t.before_count == (before.contains(&t) ? before.at(&t) : 0); });
  return all && edges == edges_.size();
}

// Tasks all of whose predecessors come before them (Kahn, 1962). What is left of a count is not: part of a cycle, or
// behind one.
void graph_state::check_for_cycles() {
  set_counts_back();  // there may have been a cycle before
  std::vector<graph_task*> order(first_);
  order.reserve(tasks.size());
  for (std::size_t done = 0; done < order.size(); done++)
    for (graph_task **next = order[done]->after, **end = next + order[done]->after_count; next != end; next++) {
      const std::uint32_t left = (*next)->pending.load(std::memory_order_relaxed) - 1;
      (*next)->pending.store(left, std::memory_order_relaxed);
      if (left == 0) order.push_back(*next);
    }
  if (order.size() < tasks.size()) throw_cycle();
  set_counts_back();
}

void graph_state::set_counts_back() {
  tasks.for_each([](graph_task& t) { t.pending.store(t.before_count, std::memory_order_relaxed); });
}

void graph_state::throw_cycle() {
  const graphs::own_lists before = before_lists();
  std::vector<graphs::index> order;
  for (std::uint32_t t = 0; t < tasks.size(); t++)
    if (tasks[t].pending.load(std::memory_order_relaxed) == 0) order.push_back(t);
  throw usage_error("weir::graph has " + graphs::cycle_text(graphs::find_cycle(before.view(), order, tasks.size()),
                                                            [this](graphs::index t) { return name_of(tasks[t]); }));
}

void graph_state::start(flow::ready_list& ready) {
  WEIR_ASSERT(!changed_ && counts_are_set());
  for (graph_task* t : first_) {
    t->state.store(frame_state::ready, std::memory_order_relaxed);
    ready.push(t);
  }
}

template <class F>
void graph_state::for_each_edge(F&& f) const {
  if (!given_in_bulk_)
    edges_.for_each([&f](const edge& e) { f(e.before, e.after); });
  else
    for (graphs::index t = 0; t < bulk_->tasks(); t++)
      for (graphs::index b : bulk_->before().of(t)) f(b, t);
}

std::string graph_state::to_dot() const {
  std::string dot = "digraph weir {\n";
  for (std::size_t i = 0; i < task_count(); i++)
    if (const char* name = given_name(i); name != nullptr) dot += "  " + std::to_string(i) + " [label=" + quoted(name) + "];\n";
    else dot += "  " + std::to_string(i) + ";\n";
  for_each_edge([&](std::uint32_t before, std::uint32_t after) { dot += "  " + std::to_string(before) + " -> " + std::to_string(after) + ";\n"; });
  return dot + "}\n";
}

std::string graph_state::to_json() const {
  std::string json = "{\"tasks\": [";
  for (std::size_t i = 0; i < task_count(); i++) {
    json += (i == 0 ? "{\"id\": " : ", {\"id\": ") + std::to_string(i);
    if (const char* name = given_name(i); name != nullptr) json += ", \"name\": " + quoted(name);
    if (given_in_bulk_ && !bulk_->cost_ns().empty()) {
      char cost[32];
      std::snprintf(cost, sizeof cost, ", \"cost_ns\": %.9g", static_cast<double>(bulk_->cost_ns()[i]));
      json += cost;
    }
    json += "}";
  }
  json += "], \"edges\": [";
  bool any = false;
  for_each_edge([&](std::uint32_t before, std::uint32_t after) {
    json += (any ? ", [" : "[") + std::to_string(before) + ", " + std::to_string(after) + "]";
    any = true;
  });
  return json + "]}\n";
}

}  // namespace weir::detail
