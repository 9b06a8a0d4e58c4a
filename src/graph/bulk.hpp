// A graph in bulk: arrays instead of a frame a task. README.md has how a run goes from task to task.
#pragma once

#include "base/base.hpp"
#include "graph/dag.hpp"

#include <weir/graph.hpp>

#include <memory>
#include <span>
#include <vector>

namespace weir::graphs {

// One way through a graph: with its edges, or against them.
class direction {
 public:
  // `after` and `before` in this direction; both must outlive it. `ascending`: run first tasks in ascending order.
  direction(const lists& before, const lists& after, std::size_t tasks, bool ascending);

  std::size_t tasks() const { return tasks_; }
  const std::vector<index>& first() const { return first_; }  // without predecessors
  // Sets every count anew: after a run that was broken off.
  void reset();
  // Between runs: no count is left from the last one. O(tasks).
  bool counts_are_set() const;

  // After the body of `t`, or instead of it if `skipped`: calls ready(task) for each task that became ready, the nearest
  // last. Counts are set back for the next run, which starts only after this one's last task was counted in its scope.
  // `Alone`: one thread runs all tasks of this run.
  template <bool Alone, class Ready>
  void complete(index t, bool skipped, Ready&& ready);
  // Whether a task that was reported as ready is to be skipped. To be asked once, if any task of the run has failed.
  bool takes_skip(index t) {
    atomic<index>& pending = counts_[t].pending;
    const index value = pending.load(std::memory_order_relaxed);
    if ((value & skip) == 0) return false;
    pending.store(value & ~skip, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr index skip = index{1} << 31;  // one of those before it failed
  struct count {
    atomic<index> pending{0};  // how many before it are not done
    index all = 0;
  };
  lists after_;
  std::size_t tasks_;
  std::unique_ptr<count[]> counts_;
  std::vector<index> first_;
};

// What a graph in bulk is: the arrays of the program, the same turned round, and the counts of its runs.
class bulk {
 public:
  // Throws usage_error, as the constructor of weir::graph says.
  explicit bulk(const bulk_tasks&);
  // Of a recorded graph, which has no cycle.
  explicit bulk(own_lists before);
  bulk(const bulk&) = delete;
  bulk& operator=(const bulk&) = delete;

  std::size_t tasks() const { return tasks_; }
  std::size_t edges() const { return after_.item.size(); }
  bool ascending() const { return ascending_; }
  const lists& before() const { return before_; }
  lists after() const { return after_.view(); }
  std::span<const float> cost_ns() const { return cost_ns_; }
  // Made when first asked for.
  direction& forward();
  direction& backward();

 private:
  void check_lists(const bulk_tasks&) const;
  void check_costs() const;

  own_lists own_before_;
  lists before_;
  std::size_t tasks_;
  bool ascending_;
  own_lists after_;
  std::span<const float> cost_ns_;
  std::unique_ptr<direction> forward_, backward_;
};

// The last one to count sees what all have done (acquire, release); finding 1 there is being the last, and needs no
// operation.
template <bool Alone, class Ready>
void direction::complete(index t, bool skipped, Ready&& ready) {
  for (const index *next = after_.item + after_.begin[t], *end = after_.item + after_.end[t]; next != end; next++) {
    count& c = counts_[*next];
    if (skipped) [[unlikely]] c.pending.fetch_or(skip, std::memory_order_relaxed);
    index left = c.pending.load(std::memory_order_acquire);
    WEIR_ASSERT((left & ~skip) > 0 && (left & ~skip) <= c.all);
    if ((left & ~skip) != 1) {
      if constexpr (Alone) c.pending.store(left - 1, std::memory_order_relaxed);
      else left = c.pending.fetch_sub(1, std::memory_order_acq_rel);
      if (Alone || (left & ~skip) != 1) continue;
    }
    c.pending.store(c.all | (left & skip), std::memory_order_relaxed);
    ready(*next);
  }
}

}  // namespace weir::graphs
