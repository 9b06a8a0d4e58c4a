// weir::graph: the public side of recorded graphs.
#include "runtime/runtime.hpp"

#include "runtime/graph.hpp"

#include <weir/graph.hpp>

namespace weir {

using detail::run_guard;

graph::graph() : state_(new detail::graph_state) {}
graph::~graph() = default;
graph::graph(const bulk_tasks& given) : state_(new detail::graph_state(given)) {}
graph::graph(detail::lasting_array<std::size_t> all_offsets, detail::lasting_array<task_id> predecessors,
             detail::lasting_array<float> cost_ns) {
  const std::span<const std::size_t> offsets = all_offsets;
  if (offsets.empty()) throw usage_error("weir::graph: there are no offsets; n tasks have n + 1 of them");
  const std::size_t n = offsets.size() - 1;
  state_.reset(new detail::graph_state(bulk_tasks{offsets.first(n), offsets.last(n), predecessors, cost_ns}));
}
graph::graph(graph&&) noexcept = default;
graph& graph::operator=(graph&&) noexcept = default;
void graph::deleter::operator()(detail::graph_state* g) const noexcept { delete g; }

detail::graph_task& graph::new_task(const task_options& o) { return state_->new_task(o); }
graph::task_id graph::commit_task() noexcept {
  state_->commit_task();
  return static_cast<task_id>(state_->tasks.size() - 1);
}
void graph::precede(task_id before, task_id after) { state_->add_edge(before, after); }
std::size_t graph::tasks() const noexcept { return state_->task_count(); }
std::size_t graph::edges() const noexcept { return state_->edge_count(); }
std::string graph::to_dot() const { return state_->to_dot(); }
std::string graph::to_json() const { return state_->to_json(); }

// The first tasks start on a worker: from there they spread like any others, and what they make ready stays close.
void graph::run(runtime& rt) {
  detail::graph_state& g = *state_;
  const run_guard guard(g.running, "weir::graph::run()");
  engine::engine& e = rt.state_->engine;
  e.throw_if_unable_to_wait();
  if (g.given_in_bulk()) throw usage_error("weir::graph::run() was called without a body for a graph in bulk, whose tasks have no callables; write run(rt, body)");
  g.prepare();
  e.check(g);
  if (g.tasks.empty()) return;
  detail::wait_and_rethrow(e, g.scope, [&] {
    if (e.in_task()) e.start(g);
    else detail::spawn(*rt.state_, &g.scope, {}, [&] { e.start(g); });
    e.wait_for(g.scope, false);
  });
}

void graph::run_bulk(runtime& rt, const detail::bulk_body& body, bool transposed) {
  detail::graph_state& g = *state_;
  const run_guard guard(g.running, "weir::graph::run()");
  engine::engine& e = rt.state_->engine;
  e.throw_if_unable_to_wait();
  graphs::bulk& bulk = g.in_bulk();
  detail::run_in_bulk(e, {e, transposed ? bulk.backward() : bulk.forward(), body, g.scope});
}

namespace detail {

void run_in_bulk(engine::engine& e, engine::bulk_run&& r) {
  struct reset_if_broken {
    engine::bulk_run& run;
    ~reset_if_broken() {
      if (run.broken.load(std::memory_order_relaxed) != 0) run.way.reset();
    }
  } const reset{r};
  wait_and_rethrow(e, r.scope, [&] {
    e.start(r);
    e.wait_for(r.scope, false);  // the run lives no longer than this
  });
}

}  // namespace detail
}  // namespace weir
