// weir::graph: a task graph that is recorded once and run many times. Its tasks are callables without data of weir's;
// edges say what comes before what. A run pays for neither creation nor dependence analysis.
//
//   weir::graph g;
//   const auto a = g.add([&] { load(); });
//   const auto b = g.add([&] { left(); }), c = g.add([&] { right(); });
//   g.precede(a, b);
//   g.precede(a, c);
//   for (int step = 0; step < steps; step++) g.run(rt);
#pragma once

#include <weir/detail/graph_task.hpp>
#include <weir/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace weir {

class runtime;

class graph {
 public:
  using task_id = std::uint32_t;  // 0, 1, 2, ... in the order of add()

  graph();
  // No run may be going on.
  ~graph();
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;

  // A task; the callable is kept as long as the graph, and called once a run. 128 bytes a task; callables of more than 48
  // bytes, or that cannot be moved without throwing, are allocated beside. Names are not copied. Throws usage_error while
  // the graph runs, and beyond 2^32 - 1 tasks.
  template <class F>
  task_id add(F&& body) {
    return add(task_options{}, std::forward<F>(body));
  }
  template <class F>
  task_id add(const task_options& options, F&& body) {
    detail::graph_task& t = new_task(options);
    detail::set_body(t, std::forward<F>(body));
    return commit_task();
  }
  // `before` is done when `after` starts. Naming an edge twice costs time and changes nothing else. Throws usage_error if
  // there is no such task, for an edge from a task to itself, and while the graph runs.
  void precede(task_id before, task_id after);

  std::size_t tasks() const noexcept;
  std::size_t edges() const noexcept;

  // Runs every task once, those without predecessors first, and waits; inside a task it executes other tasks meanwhile.
  // The first run after a change looks for cycles and orders the edges by task, O(tasks + edges); a run then costs a
  // decrement an edge. May be called again and again, from any thread, under any runtime, but by one at a time.
  // Throws usage_error naming a cycle, or if the graph runs already; task_failed when a task throws: its successors are
  // skipped, the rest runs.
  void run(runtime& rt);

  // The graph in the DOT language: a node a task, with its name or its number.
  std::string to_dot() const;

 private:
  detail::graph_task& new_task(const task_options&);
  task_id commit_task() noexcept;

  struct deleter {
    void operator()(detail::graph_state*) const noexcept;
  };
  std::unique_ptr<detail::graph_state, deleter> state_;
};

}  // namespace weir
