// What tasks cost under oneTBB: task groups where tasks have no dependences, else a flow graph with a node a task.
// Nodes and edges are made as part of a run, except where the graph is replayed; a graph can only start when it is there.
#include <bench/overhead/program.hpp>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <deque>

namespace {

using namespace weir::bench::overhead;
using message = tbb::flow::continue_msg;
using node = tbb::flow::continue_node<message>;

// A node for each task of the workload.
class task_graph {
 public:
  template <class Work>
  task_graph(const workload& w, const Work& work) {
    w.graph->for_each_task(w.tasks, [&](const position& p) {
      node& n = nodes_.emplace_back(graph_, [task = work.of(p)](const message&) { task(); });
      if (p.before.empty()) first_.push_back(&n);
      for (const std::uint32_t column : p.before) tbb::flow::make_edge(nodes_[p.step_before + column], n);
    });
  }
  void run() {
    for (node* n : first_) n->try_put(message());
    graph_.wait_for_all();
  }

 private:
  tbb::flow::graph graph_;
  std::deque<node> nodes_;    // never moves a node
  std::vector<node*> first_;  // without predecessors
};

template <class Work>
std::uint64_t fib(unsigned n, const Work& work) {
  if constexpr (!Work::checks) work.of({})();
  if (n < 2) return n;
  std::uint64_t a = 0, b = 0;
  tbb::task_group group;
  group.run([&, n] { a = fib(n - 1, work); });
  group.run([&, n] { b = fib(n - 2, work); });
  group.wait();
  return a + b;
}

class onetbb_under_test final : public runtime_under_test {
 public:
  explicit onetbb_under_test(const options& o)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(o.workers)), arena_(o.workers) {}

  void prepare(const workload& w) override {
    if (!w.what->replay) return;
    arena_.execute([&] {
      w.with_work([&](const auto& work) { replayed_ = std::make_unique<task_graph>(w, work); });
    });
  }

  void run(workload& w) override {
    arena_.execute([&] {
      if (w.what->replay) return replay(w);
      w.with_work([&](const auto& work) {
        if (w.what->shape == form::fib) w.fib_result = fib(w.fib, work);
        else if (w.what->shape == form::independent) group([&](const auto& create) { w.for_each_independent(create); }, work);
        else if (w.graph->most_dependences() == 0) group([&](const auto& create) { w.graph->for_each_task(w.tasks, create); }, work);
        else task_graph(w, work).run();
      });
    });
  }

 private:
  // All tasks that for_each(create) names.
  template <class ForEach, class Work>
  static void group(const ForEach& for_each, const Work& work) {
    tbb::task_group tasks;
    for_each([&](const position& p) { tasks.run(work.of(p)); });
    tasks.wait();
  }

  void replay(const workload& w) {
    for (std::uint64_t i = 0; i < w.replays; i++) {
      if (i != 0 && w.check != nullptr) w.check->end_run();
      replayed_->run();
    }
  }

  tbb::global_control limit_;
  tbb::task_arena arena_;
  std::unique_ptr<task_graph> replayed_;
};

}  // namespace

int main(int argc, char** argv) {
  return measure_main(argc, argv, {.runtime = "onetbb",
                                   .has = [](const pattern& p) {
                                     return !p.by_address() && !p.creators && !p.has_groups();
                                   },
                                   .has_policies = false,
                                   .start = [](const options& o) -> std::unique_ptr<runtime_under_test> { return std::make_unique<onetbb_under_test>(o); }});
}
