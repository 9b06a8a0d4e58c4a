// Umbrella header of src/graph: recorded graphs. Orders edges, finds cycles, and hands the tasks of a run on from task to
// task. README.md has the protocol.
#pragma once

#include "flow/flow.hpp"
#include "graph/automatic.hpp"
#include "graph/blocks.hpp"
#include "graph/bulk.hpp"
#include "graph/coarse.hpp"

#include <weir/detail/graph_task.hpp>
#include <weir/detail/scope_state.hpp>
#include <weir/task.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace weir::detail {

struct graph_state;

// Of a graph's tasks; so that of a task one finds the graph.
struct graph_scope : scope_state {
  explicit graph_scope(const graph_state& g) noexcept : graph(g) {}
  const graph_state& graph;
};

struct graph_state {
  graph_state() = default;
  explicit graph_state(const bulk_tasks& given) : changed_(false), given_in_bulk_(true), bulk_(std::make_unique<graphs::bulk>(given)) {}
  ~graph_state();
  graph_task& new_task(const task_options&);
  // The last one has its callable.
  void commit_task() noexcept { any_to_destroy_ |= newest_->ops->destroy != nullptr; }
  void add_edge(std::uint32_t before, std::uint32_t after);
  std::string to_dot() const;
  std::string to_json() const;

  // Edges by task, and whether there is a cycle: throws usage_error then. Nothing to do if nothing has changed.
  void prepare();
  // Puts the tasks without predecessors on the list.
  void start(flow::ready_list&);

  graphs::block_list<graph_task> tasks;
  bool given_in_bulk() const { return given_in_bulk_; }
  std::size_t task_count() const { return given_in_bulk_ ? bulk_->tasks() : tasks.size(); }
  std::size_t edge_count() const { return given_in_bulk_ ? bulk_->edges() : edges_.size(); }
  // The graph as arrays; of a recorded one made when first asked for after a change. Throws usage_error for a cycle.
  graphs::bulk& in_bulk();
  atomic<std::uint32_t> running{0};
  bool any_placed = false;           // tasks with an affinity
  graph_scope scope{*this};  // all tasks belong to it
  // "task load", or "task 17 of the graph". O(tasks) if it has no name.
  std::string name_of(const graph_task&) const;

 private:
  // While it does not run. Once prepared, O(tasks + edges).
  bool counts_are_set() const;
  bool edges_are_set() const;
  void check_may_change(const char* what) const;
  [[noreturn]] void throw_may_not_change(const char* what) const;
  [[noreturn]] void throw_no_edge(std::uint32_t before, std::uint32_t after) const;
  void drop_unfinished();
  void set_counts_back();
  const char* given_name(std::size_t task) const { return given_in_bulk_ ? nullptr : tasks[task].name; }
  void check_for_cycles();
  [[noreturn]] void throw_cycle();
  graphs::own_lists before_lists() const;
  template <class F> void for_each_edge(F&&) const;

  struct edge {
    std::uint32_t before, after;
  };
  graphs::block_list<edge> edges_;         // tasks count theirs as they come
  graph_task* newest_ = nullptr;            // without `ops` if its callable threw when it was copied
  graphs::block_array<graph_task*> after_;  // successors of task 0, of task 1, ...
  std::vector<graph_task*> first_;   // without predecessors
  bool changed_ = true;
  bool ascending_ = true;            // every edge leads to a task that was added later: there is no cycle
  bool any_to_destroy_ = false;      // callables
  bool given_in_bulk_ = false;
  std::unique_ptr<graphs::bulk> bulk_;
};

}  // namespace weir::detail

namespace weir::graphs {

inline std::string name_of(const detail::frame& of_graph) {
  return static_cast<const detail::graph_scope*>(of_graph.scope)
      ->graph.name_of(static_cast<const detail::graph_task&>(of_graph));
}

// Of a task that runs soon. Most of what it costs to complete one is to wait for the lines of its successors, which it
// is often the first to look at: their counts, and, for when they become ready themselves, where their own successors
// are.
inline void prefetch_successors(const detail::graph_task& t) {
  constexpr std::uint32_t most = 4;  // more would still be on their way
  detail::graph_task* const* next = t.after;
  for (detail::graph_task* const* end = next + std::min(t.after_count, most); next != end; next++) {
    prefetch_to_write(*next);
    __builtin_prefetch(&(*next)->after);
  }
}

// After the body of a graph's task, or instead of it (`cause` as for flow::complete): what became ready is on c.ready.
inline void complete(flow::context& c, detail::frame* f, const char* cause) {
  auto* t = static_cast<detail::graph_task*>(f);
  // For the next run, which cannot start before this one is over. Its predecessors are done with it.
  t->pending.store(t->before_count, std::memory_order_relaxed);
  t->skipped_because.store(nullptr, std::memory_order_relaxed);
  const detail::graph_task* runs_next = nullptr;  // the last of the list
  for (detail::graph_task **next = t->after, **end = next + t->after_count; next != end; next++) {
    detail::graph_task* const n = *next;
    if (cause != nullptr) [[unlikely]] n->skipped_because.store(cause, std::memory_order_relaxed);
    // The last predecessor need not count: nobody else will.
    std::uint32_t before = n->pending.load(std::memory_order_acquire);
    WEIR_ASSERT(before > 0);
    if (before != 1) before = n->pending.fetch_sub(1, std::memory_order_acq_rel);
    if (before == 1) {
      flow::make_ready(c, n);
      runs_next = n;
    } else if (before == 2) {
      prefetch_successors(*n);
    }
  }
  if (runs_next != nullptr) prefetch_successors(*runs_next);
}

}  // namespace weir::graphs
