// weir::aggregate and weir::coarse_graph: the public side of aggregation.
#include "runtime/graph.hpp"

#include <weir/coarse_graph.hpp>

namespace weir {
namespace {

using detail::coarse_state;

void check_aggregate(const coarse_state& c, std::size_t aggregate) {
  if (aggregate >= c.aggregates.tasks()) throw usage_error("weir::coarse_graph: there is no aggregate " + std::to_string(aggregate) + ", it has " + std::to_string(c.aggregates.tasks()));
}

// A body for tasks that have callables of their own.
void call_recorded(const void* graph, const std::uint32_t* tasks, std::size_t count) {
  auto& g = *const_cast<detail::graph_state*>(static_cast<const detail::graph_state*>(graph));
  for (std::size_t i = 0; i < count; i++) {
    detail::graph_task& t = g.tasks[tasks[i]];
    t.ops->run(&t);
  }
}

}  // namespace

coarse_graph::coarse_graph(coarse_state* s) noexcept : state_(s) {}
coarse_graph::coarse_graph(coarse_graph&&) noexcept = default;
coarse_graph& coarse_graph::operator=(coarse_graph&&) noexcept = default;
coarse_graph::~coarse_graph() = default;
void coarse_graph::deleter::operator()(coarse_state* c) const noexcept { delete c; }

std::size_t coarse_graph::aggregates() const noexcept { return state_->aggregates.tasks(); }
std::size_t coarse_graph::edges() const noexcept { return state_->aggregates.edges(); }
const std::string& coarse_graph::algorithms() const noexcept { return state_->algorithms; }
std::string coarse_graph::to_dot() const { return state_->to_dot(); }
std::string coarse_graph::to_json() const { return state_->to_json(); }
void coarse_graph::save(const std::string& path) const { state_->save(path); }
coarse_graph coarse_graph::load(const std::string& path, const graph& fine) { return coarse_graph(coarse_state::load(path, *fine.state_).release()); }

std::span<const graph::task_id> coarse_graph::members(std::size_t aggregate) const {
  check_aggregate(*state_, aggregate);
  return state_->members.view().of(static_cast<task_id>(aggregate));
}

std::span<const graph::task_id> coarse_graph::predecessors(std::size_t aggregate) const {
  check_aggregate(*state_, aggregate);
  return state_->aggregates.before().of(static_cast<task_id>(aggregate));
}

int coarse_graph::node(std::size_t aggregate) const {
  check_aggregate(*state_, aggregate);
  return state_->node.empty() ? -1 : state_->node[aggregate];
}

void coarse_graph::place(std::span<const int> nodes, bool required) {
  if (!nodes.empty() && nodes.size() != aggregates()) throw usage_error("weir::coarse_graph::place(): " + std::to_string(nodes.size()) + " nodes for " + std::to_string(aggregates()) + " aggregates");
  const detail::run_guard guard(state_->running, "weir::coarse_graph::place()");
  for (std::size_t a = 0; a < nodes.size(); a++)
    if (nodes[a] < -1 || nodes[a] > 32767) throw usage_error("weir::coarse_graph::place(): aggregate " + std::to_string(a) + ": there can be no node " + std::to_string(nodes[a]));
  state_->node.assign(nodes.begin(), nodes.end());
  state_->node_required = required;
}

void coarse_graph::assign_nodes(runtime& rt) {
  std::vector<graphs::index> workers(static_cast<std::size_t>(rt.nodes()), 0), shares;
  for (int w = 0; w < rt.workers(); w++) workers[static_cast<std::size_t>(rt.node_of_worker(w))]++;
  std::vector<int> nodes;
  for (int n = 0; n < rt.nodes(); n++)
    if (const graphs::index count = workers[static_cast<std::size_t>(n)]; count > 0) {
      nodes.push_back(n);
      shares.push_back(count);
    }
  const std::vector<float> weight = state_->weights();
  std::vector<graphs::index> order;
  graphs::coarse_input in = graphs::input_of(state_->aggregates, order);
  in.weight = weight;
  std::vector<int> assigned;
  for (graphs::index part : graphs::parts_of_levels(in, shares)) assigned.push_back(nodes[part]);
  place(assigned);
}

move_report coarse_graph::move_written(runtime& rt, written_memory& memory) const {
  if (rt.state_->machine.is_host) return memory.move_pages();
  return {};
}

void coarse_graph::run_aggregates(runtime& rt, const detail::bulk_body& body, bool transposed) {
  coarse_state& c = *state_;
  const detail::run_guard guard(c.running, "weir::coarse_graph::run()");
  engine::engine& e = rt.state_->engine;
  e.throw_if_unable_to_wait();
  if (c.fine.task_count() != c.fine_tasks) throw usage_error("weir::coarse_graph::run(): the graph it was made from has been changed; aggregate it again");
  engine::bulk_places places{c.node.empty() ? nullptr : c.node.data(), c.node_required};
  e.check(places, c.aggregates.tasks());
  if (places.node != nullptr && e.takes_by_rank()) places.rank = c.ranks(transposed).data();
  graphs::direction& way = transposed ? c.aggregates.backward() : c.aggregates.forward();
  const graphs::own_lists& members = transposed ? c.reversed_members() : c.members;
  detail::run_in_bulk(e, {e, way, body, c.scope, members.view(), places});
}

void coarse_graph::run(runtime& rt) {
  detail::graph_state& fine = state_->fine;
  if (fine.given_in_bulk()) throw usage_error("weir::coarse_graph::run() was called without a body for a graph in bulk, whose tasks have no callables; write run(rt, body)");
  const detail::run_guard guard(fine.running, "weir::coarse_graph::run()");
  run_aggregates(rt, {&fine, &call_recorded}, false);
}

coarse_graph aggregate(const graph& fine, std::string_view coarse_string) {
  if (coarse_string == "auto") throw configuration_error("coarse string: auto depends on the runtime; write weir::aggregate(graph, \"auto\", rt)");
  const std::vector<graphs::coarsening> steps = graphs::parse_coarse_string(coarse_string);
  detail::graph_state& g = *fine.state_;
  const detail::run_guard guard(g.running, "weir::aggregate()");
  graphs::bulk& bulk = g.in_bulk();
  std::vector<graphs::index> order;
  return coarse_graph(new coarse_state(g, graphs::to_string(steps), graphs::aggregate(graphs::input_of(bulk, order), bulk.after(), steps)));
}

}  // namespace weir
