// weir::graph: the public side of recorded graphs.
#include "runtime/runtime.hpp"

#include <weir/graph.hpp>

namespace weir {
namespace {

// One run at a time.
class run_guard {
 public:
  explicit run_guard(detail::graph_state& g) : graph_(g) {
    if (g.running.exchange(1, std::memory_order_acquire) != 0) throw usage_error("weir::graph::run() was called while the graph runs; wait for the other run, or make another graph");
  }
  ~run_guard() { graph_.running.store(0, std::memory_order_release); }
  run_guard(const run_guard&) = delete;
  run_guard& operator=(const run_guard&) = delete;

 private:
  detail::graph_state& graph_;
};

}  // namespace

graph::graph() : state_(new detail::graph_state) {}
graph::~graph() = default;
graph::graph(graph&&) noexcept = default;
graph& graph::operator=(graph&&) noexcept = default;
void graph::deleter::operator()(detail::graph_state* g) const noexcept { delete g; }

detail::graph_task& graph::new_task(const task_options& o) { return state_->new_task(o); }
graph::task_id graph::commit_task() noexcept { return static_cast<task_id>(state_->tasks.size() - 1); }
void graph::precede(task_id before, task_id after) { state_->add_edge(before, after); }
std::size_t graph::tasks() const noexcept { return state_->tasks.size(); }
std::size_t graph::edges() const noexcept { return state_->edge_count(); }
std::string graph::to_dot() const { return state_->to_dot(); }

// The first tasks start on a worker: from there they spread like any others, and what they make ready stays close.
void graph::run(runtime& rt) {
  detail::graph_state& g = *state_;
  const run_guard guard(g);
  engine::engine& e = rt.state_->engine;
  e.throw_if_unable_to_wait();
  g.prepare();
  e.check(g);
  if (g.tasks.empty()) return;
  detail::wait_and_rethrow(g.scope, [&] {
    if (e.in_task()) e.start(g);
    else detail::spawn(*rt.state_, &g.scope, {}, [&] { e.start(g); });
    e.wait_for(g.scope);
  });
}

}  // namespace weir
