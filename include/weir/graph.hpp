// weir::graph: a task graph that is recorded once and run many times. Its tasks are callables without data of weir's;
// edges say what comes before what. A run pays for neither creation nor dependence analysis.
//
//   weir::graph g;
//   const auto a = g.add([&] { load(); });
//   const auto b = g.add([&] { left(); }), c = g.add([&] { right(); });
//   g.precede(a, b);
//   g.precede(a, c);
//   for (int step = 0; step < steps; step++) g.run(rt);
//
// A graph of millions of tiny tasks comes in bulk: arrays say which tasks come before which, and one body does them all.
//
//   weir::graph rows(offsets, columns);   // row t reads rows columns[offsets[t]] to columns[offsets[t + 1] - 1]
//   rows.run(rt, [&](weir::graph::task_id row) { forward(row); });
//   rows.run_transposed(rt, [&](weir::graph::task_id row) { backward(row); });
#pragma once

#include <weir/detail/bulk.hpp>
#include <weir/detail/graph_task.hpp>
#include <weir/detail/wrong_call.hpp>
#include <weir/task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir {

class runtime;
class graph;
class coarse_graph;

namespace detail {
// A constant array that is not copied, so it cannot be a temporary one: that would be gone before it is used.
template <class T>
class lasting_array {
 public:
  lasting_array() = default;
  template <class Array>
    requires(std::is_convertible_v<Array, std::span<const T>>)
  lasting_array(Array&& array) : span_(array) {
    static_assert(std::is_lvalue_reference_v<Array> || std::ranges::borrowed_range<Array>,
                  "weir::graph(offsets, predecessors, cost_ns): an array is temporary, but arrays are not copied and "
                  "must outlive the graph; keep it in a variable");
  }
  operator std::span<const T>() const noexcept { return span_; }

 private:
  std::span<const T> span_;
};

std::vector<coarse_graph> aggregate_by_trial(const graph&, runtime&, const bulk_body&, std::size_t most);
}

// The tasks of a graph in bulk: what comes before each. The arrays are not copied; they must live, unchanged, as long as
// the graph and what was aggregated from it. A sparse lower triangle in rows is such a graph as it stands: `begin` are the
// rows' offsets, `end` the positions of the diagonal.
struct bulk_tasks {
  // Predecessors of task t: predecessors[begin[t]] to predecessors[end[t] - 1].
  std::span<const std::size_t> begin = {};
  std::span<const std::size_t> end = {};
  std::span<const std::uint32_t> predecessors = {};
  std::span<const float> cost_ns = {};        // of each task, in nanoseconds or any other unit, 0 or more; empty: all alike
};

namespace detail {

template <class Offsets, class Predecessors, class... Costs>
concept graph_arrays = std::is_convertible_v<Offsets, lasting_array<std::size_t>> &&
                       std::is_convertible_v<Predecessors, lasting_array<std::uint32_t>> &&
                       (std::is_convertible_v<Costs, lasting_array<float>> && ...);
// As bulk_tasks in braces.
template <class... Arrays>
concept bulk_arrays = requires(Arrays&&... arrays) { bulk_tasks{arrays...}; };

}  // namespace detail

class graph : detail::refused_graph_runs {
 public:
  using task_id = std::uint32_t;  // 0, 1, 2, ... in the order of add(), or in bulk in that of the arrays

  graph();
  // In bulk. O(tasks + edges), some 40 ms for a million tasks and three million edges; 20 bytes a task and 4 an edge, and
  // 12 bytes a task more with the first run_transposed(). An edge may be named twice. Throws usage_error naming the task
  // if the arrays do not fit each other, for a predecessor that does not exist, an edge from a task to itself, a cost that
  // is negative or no number, and a cycle (with its tasks).
  explicit graph(const bulk_tasks&);
  // The same, from `offsets` of tasks + 1 entries: begin[t] = offsets[t], end[t] = offsets[t + 1]. The compiler refuses
  // temporary arrays, for they are not copied.
  graph(detail::lasting_array<std::size_t> offsets, detail::lasting_array<task_id> predecessors,
        detail::lasting_array<float> cost_ns = {});
  template <class Offsets, class Predecessors, class... Costs>
    requires(!detail::graph_arrays<Offsets, Predecessors, Costs...> &&
             !detail::bulk_arrays<Offsets, Predecessors, Costs...>)
  graph(Offsets&&, Predecessors&&, Costs&&...) {
    static_assert(detail::never<Offsets>,
                  "weir::graph(offsets, predecessors, cost_ns): expected arrays, spans or vectors of std::size_t, of "
                  "weir::graph::task_id (std::uint32_t) and, if there are costs, of float");
  }
  // No run may be going on.
  ~graph();
  graph(graph&&) noexcept;
  graph& operator=(graph&&) noexcept;

  // A task; the callable is kept as long as the graph, and called once a run. 128 bytes a task; callables of more than 48
  // bytes, or that cannot be moved without throwing, are allocated beside. Names are not copied. Throws usage_error while
  // the graph runs, for a graph in bulk, and beyond 2^32 - 1 tasks.
  template <class F>
  task_id add(F&& body) {
    return add(task_options{}, std::forward<F>(body));
  }
  template <class F>
  task_id add(const task_options& options, F&& body) {
    if constexpr (detail::correct_graph_body<F>) {
      detail::graph_task& t = new_task(options);
      detail::set_body(t, std::forward<F>(body));
      return commit_task();
    } else {
      detail::refuse_graph_body<F>();
      return detail::refused();
    }
  }
  template <class Call = void>
  task_id add(detail::anything, detail::anything, detail::anything = 0) {
    static_assert(detail::never<Call>,
                  "weir: graph::add() takes a callable, or options and a callable, as in g.add({.name = \"load\"}, "
                  "f); edges are said with precede(before, after)");
    return detail::refused();
  }
  // `before` is done when `after` starts. Naming an edge twice costs time and changes nothing else. Throws usage_error if
  // there is no such task, for an edge from a task to itself, for a graph in bulk, and while the graph runs.
  void precede(task_id before, task_id after);

  std::size_t tasks() const noexcept;
  std::size_t edges() const noexcept;

  // Runs every task once, those without predecessors first, and waits; inside a task it executes other tasks meanwhile.
  // The first run after a change looks for cycles and orders the edges by task, O(tasks + edges); a run then costs a
  // decrement an edge. May be called again and again, from any thread, under any runtime, but by one at a time.
  // Throws usage_error naming a cycle, or if the graph runs already; task_failed when a task throws: its successors are
  // skipped, the rest runs. A graph in bulk has no callables: a usage_error, give it a body.
  void run(runtime& rt);

  // The same with one body for all tasks: body(task_id), or body(std::span<const task_id>) with a list of one; called
  // through a const reference by several threads at once, never copied. A recorded graph's own callables, names and
  // priorities are not used then.
  // Costs some nanoseconds a task and an edge: who completes a task runs the last one that became ready by it next, and
  // keeps others to itself only as long as they make up less than a microsecond; nothing is allocated per task.
  // A failure is named by the task's number.
  template <class F>
  void run(runtime& rt, const F& body) {
    run_bulk(rt, detail::bulk_body_of(body), false);
  }
  // Against the edges: a task starts when all its successors are done, as in a backward substitution.
  template <class F>
  void run_transposed(runtime& rt, const F& body) {
    run_bulk(rt, detail::bulk_body_of(body), true);
  }
  using refused_graph_runs::run;
  using refused_graph_runs::run_transposed;

  // The graph in the DOT language: a node a task, with its name or its number.
  std::string to_dot() const;
  // {"tasks": [{"id": 0, "name": "load", "cost_ns": 5}, ...], "edges": [[0, 1], ...]}: names and costs only where there are
  // any. One line, in UTF-8 if the names are.
  std::string to_json() const;

 private:
  friend class coarse_graph;
  friend coarse_graph aggregate(const graph&, std::string_view);
  friend coarse_graph aggregate(const graph&, std::string_view, runtime&, double);
  friend std::vector<coarse_graph> detail::aggregate_by_trial(const graph&, runtime&, const detail::bulk_body&, std::size_t);
  void run_bulk(runtime&, const detail::bulk_body&, bool transposed);
  detail::graph_task& new_task(const task_options&);
  task_id commit_task() noexcept;

  struct deleter {
    void operator()(detail::graph_state*) const noexcept;
  };
  std::unique_ptr<detail::graph_state, deleter> state_;
};

}  // namespace weir
