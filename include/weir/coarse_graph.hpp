// weir::aggregate: puts the tasks of a graph together until managing one costs little beside running it. What comes out
// is a coarse graph: aggregates, each a list of tasks in an order that keeps their dependences, and edges between them.
//
//   weir::coarse_graph coarse = weir::aggregate(rows, "CD(4)");
//   for (...) coarse.run(rt, [&](std::span<const weir::graph::task_id> rows) { for (auto r : rows) forward(r); });
//
// A coarse string names algorithms, one after the other (Rossignon, Henon, Aumage and Thibault, PDSEC 2013, section
// III.A), each working on the result of the one before it:
//
//   S      sequences: a task joins its predecessor if each is the other's only one. Costs no parallelism
//   C(n)   continuations: rows of tasks that follow each other in memory, of at most n tasks; C: of any length. When tasks
//          are numbered along the data, as the cells of a grid; in an order without such rows it finds few
//          CC(n): n such rows that follow each other, parts of the planes of a grid of three dimensions
//   D(m)   depth front: a ready task and up to m - 1 of those that become ready by it. When there are many first tasks, as
//          in nested dissection; or after C
//   F(n)   front: at most n aggregates of equal cost in each level of the graph. When levels are wide; n a small multiple
//          of the number of workers
//   T(n)   subtrees: the largest parts of at most n tasks that lie one behind the other and wait for nothing outside, as those
//          of a nested dissection do; what separates such parts stays as it is, for F or C: T(2000)F(8)
//   auto   a string that suits the graph, what its tasks cost, and the runtime; needs that runtime:
//
//   weir::coarse_graph coarse = weir::aggregate(rows, "auto", rt, [&](weir::graph::task_id r) { forward(r); });
#pragma once

#include <weir/graph.hpp>
#include <weir/numa.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace weir {

class coarse_graph;

namespace detail {
struct coarse_state;
std::vector<coarse_graph> aggregate_by_trial(const graph&, runtime&, const bulk_body&, std::size_t most);
}  // namespace detail

class coarse_graph : detail::refused_graph_runs {
 public:
  using task_id = graph::task_id;

  coarse_graph(coarse_graph&&) noexcept;
  coarse_graph& operator=(coarse_graph&&) noexcept;
  // No run may be going on.
  ~coarse_graph();

  std::size_t aggregates() const noexcept;
  std::size_t edges() const noexcept;  // between aggregates, each counted once
  // The coarse string it was made with.
  const std::string& algorithms() const noexcept;
  // Tasks of the graph, in an order that keeps dependences. Throws usage_error if there is no such aggregate.
  std::span<const task_id> members(std::size_t aggregate) const;
  // Aggregates that come before it.
  std::span<const task_id> predecessors(std::size_t aggregate) const;

  // Runs every task of the graph once, aggregate by aggregate, and waits. The aggregate operator is body(task_id), called
  // for the members in order, or body(std::span<const task_id>), called once for all members of an aggregate and free to
  // do them in any way that has the same effect. The same rules as for weir::graph::run: again and again, by one at a time,
  // from any thread and under any runtime. task_failed names the aggregate; its other members are skipped, too.
  template <class F>
  void run(runtime& rt, const F& body) {
    run_aggregates(rt, detail::bulk_body_of(body), false);
  }
  // Against the edges, members from the last to the first (the list is in this order). The first such run costs 4 bytes a
  // task and some 10 ms for a million.
  template <class F>
  void run_transposed(runtime& rt, const F& body) {
    run_aggregates(rt, detail::bulk_body_of(body), true);
  }
  using refused_graph_runs::run;
  using refused_graph_runs::run_transposed;
  // With the callables of a graph that was recorded task by task; a usage_error for one in bulk, and if the graph has been
  // changed since, or runs.
  void run(runtime& rt);

  // Where each aggregate should run: a node, or -1. One entry an aggregate, or none at all; a flexible affinity
  // (weir::prefer) or, if `required`, a strict one (weir::require). Throws usage_error while it runs; run() does for a node
  // that the runtime cannot use.
  void place(std::span<const int> nodes, bool required = false);
  int node(std::size_t aggregate) const;

  // Places tasks, and moves the memory they write to where they will run (Rossignon, Henon, Aumage and Thibault, PDSEC
  // 2013, section VI.B): on each level of the coarse graph the aggregates are shared out among the nodes, by cost, in
  // proportion to how many workers each has, and in order of their numbers; then writes(task, memory) is called for
  // every task, in an order that keeps dependences, and says with memory.add(span) what that task writes; each page
  // goes to the node on which most of it is written; the aggregates get flexible affinities. Best under the policy
  // `node-queues`, under which its workers take those first that have most behind them. On a pretended
  // machine no memory is moved. O(tasks + edges + levels * nodes + ranges log ranges), and what moving pages costs.
  template <class F>
  move_report distribute(runtime& rt, const F& writes) {
    constexpr bool correct = std::is_invocable_v<const F&, task_id, written_memory&>;
    static_assert(correct,
                  "weir: distribute() calls writes(task, memory), with a weir::graph::task_id and a "
                  "weir::written_memory&, through a const reference (no mutable lambda); it says with "
                  "memory.add(span) what the task writes");
    written_memory memory;
    assign_nodes(rt);
    for (std::size_t a = 0; a < aggregates(); a++) {
      memory.node_ = node(a);
      for (task_id t : members(a))
        if constexpr (correct) writes(t, memory);
    }
    return move_written(rt, memory);
  }

  // Writes the aggregation to a file, 4 bytes a task and an aggregate, with a fingerprint of the graph; the file appears
  // whole or not at all. Places are not saved. Throws weir::error if it cannot be written.
  void save(const std::string& path) const;
  // Reads one back. Throws weir::error with file and place if it cannot be read, is damaged, or was made from another
  // graph. O(tasks + edges).
  static coarse_graph load(const std::string& path, const graph& fine);

  // An aggregate a node, with its number of members; and as {"algorithms": "S", "aggregates": [{"id": 0, "members": [0,
  // 1]}, ...], "edges": [[0, 1], ...]} with "node" where aggregates are placed.
  std::string to_dot() const;
  std::string to_json() const;

 private:
  friend coarse_graph aggregate(const graph&, std::string_view);
  friend coarse_graph aggregate(const graph&, std::string_view, runtime&, double);
  friend std::vector<coarse_graph> detail::aggregate_by_trial(const graph&, runtime&, const detail::bulk_body&, std::size_t);
  struct deleter {
    void operator()(detail::coarse_state*) const noexcept;
  };
  explicit coarse_graph(detail::coarse_state*) noexcept;
  void run_aggregates(runtime&, const detail::bulk_body&, bool transposed);
  void assign_nodes(runtime&);
  move_report move_written(runtime&, written_memory&) const;

  std::unique_ptr<detail::coarse_state, deleter> state_;
};

// Aggregates with a coarse string. The graph must outlive the result, unchanged. Costs of tasks, where the graph has any,
// are what F balances. O(tasks + edges): some 50 to 150 ms for a million tasks and three million edges; less than 64 bytes a
// task and 8 an edge. Throws configuration_error with the place of the mistake if the string does not parse or a parameter
// makes no sense, usage_error if a recorded graph has a cycle.
coarse_graph aggregate(const graph& fine, std::string_view coarse_string);

// The same, or "auto": algorithms and grain are chosen by simulating runs of some candidates with this runtime's number of
// workers; what managing an aggregate costs under it is measured. `task_ns` is the mean cost of a task; 0: the graph's
// costs, which must then be in nanoseconds, or 100 where there are none. What was chosen is in algorithms(); if nothing
// beats the sequential program it is everything in one aggregate. Costs some ten aggregations: half a second to one for a
// million tasks, and 64 bytes a task meanwhile.
coarse_graph aggregate(const graph& fine, std::string_view coarse_string, runtime& rt, double task_ns = 0);
// The same with measurements instead of guesses: the body is run, for all tasks, twice in order by the calling thread, and two to
// five times by the workers with each of the nine most promising candidates and with everything in one aggregate. What is
// fastest by its median is taken; everything in one aggregate unless one is faster than that. For bodies that may be run
// again and again.
template <class F>
  requires(!std::is_convertible_v<const F&, double>)
coarse_graph aggregate(const graph& fine, std::string_view coarse_string, runtime& rt, const F& body) {
  return coarse_string == "auto" ? std::move(detail::aggregate_by_trial(fine, rt, detail::bulk_body_of(body), 1).front()) : aggregate(fine, coarse_string);
}
// What "auto" would choose with this body, and behind it others that took at most half as long again, fastest first, at
// most `most` in all: for a graph that is also run with another body, which takes too long to try everything with.
template <class F>
std::vector<coarse_graph> aggregate_candidates(const graph& fine, runtime& rt, const F& body, std::size_t most) {
  return detail::aggregate_by_trial(fine, rt, detail::bulk_body_of(body), most);
}

template <class Call = void>
coarse_graph aggregate(detail::anything, detail::anything = 0, detail::anything = 0, detail::anything = 0) {
  static_assert(detail::never<Call>,
                "weir: aggregate() takes a weir::graph and a coarse string, as in aggregate(g, \"CD(4)\"), and for "
                "\"auto\" a weir::runtime and either what a task costs, in nanoseconds, or a body for all tasks");
  return detail::refused();
}

}  // namespace weir
