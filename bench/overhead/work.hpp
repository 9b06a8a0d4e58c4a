// What a task does: nothing, a compute loop of a given length, or checking that its predecessors have run.
//
// A kind of work hands out a callable per task, which every runtime copies into its task as a program would its closure.
#pragma once

#include <bench/common/compute.hpp>
#include <bench/overhead/patterns.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace weir::bench::overhead {

// Whether every task of a run has run once, after its predecessors. Cells are plain memory: that tasks see what their
// predecessors wrote is part of what is checked.
class checker {
 public:
  explicit checker(std::uint64_t tasks) : cells_(tasks, 0) {}

  void ran(const position& p) {
    for (const std::uint32_t column : p.before) expect(cells_[p.step_before + column] == value(p.step));
    expect(cells_[p.task] != value(p.step + 1));
    cells_[p.task] = value(p.step + 1);
  }
  void expect(bool right) {
    if (!right) failed_.store(true, std::memory_order_relaxed);
  }
  // Between runs, and between replays: all tasks must have run; the next run writes other values.
  void end_run() {
    for (const std::uint64_t cell : cells_) expect(cell >> 40 == run_ && cell != 0);
    run_++;
  }
  bool passed() const { return !failed_.load(std::memory_order_relaxed); }

 private:
  // A run's number is above its tasks' steps, of which there are fewer than 2^40.
  std::uint64_t value(std::uint64_t step) const { return run_ << 40 | step; }

  std::vector<std::uint64_t> cells_;
  std::uint64_t run_ = 1;
  std::atomic<bool> failed_{false};
};

struct no_work {
  static constexpr bool checks = false;
  struct task {
    void operator()() const {}
  };
  task of(const position&) const { return {}; }
};

struct busy_work {
  static constexpr bool checks = false;
  std::uint64_t iterations;
  struct task {
    std::uint64_t iterations;
    void operator()() const { compute(iterations); }
  };
  task of(const position&) const { return {iterations}; }
};

struct checking_work {
  static constexpr bool checks = true;
  checker* check;
  struct task {
    checker* check;
    position where;
    void operator()() const { check->ran(where); }
  };
  task of(const position& p) const { return {check, p}; }
};

// A run: what to create, and what its tasks do.
struct workload {
  const pattern* what = nullptr;
  const grid* graph = nullptr;   // of patterns that are grids
  std::uint64_t tasks = 0;       // of the graph
  std::uint64_t replays = 1;     // of the graph, one after the other
  std::uint32_t creators = 1;    // tasks that create the others, in patterns that have them
  unsigned fib = 0;              // argument, for that pattern
  std::uint64_t fib_result = 0;  // set by the run
  std::uint64_t iterations = 0;  // of compute() in each task
  checker* check = nullptr;      // if the tasks check, and then they do nothing else

  template <class Use>
  void with_work(const Use& use) const {
    if (check != nullptr) use(checking_work{check});
    else if (iterations != 0) use(busy_work{iterations});
    else use(no_work{});
  }
  // Calls create(position) for each independent task.
  template <class Create>
  void for_each_independent(const Create& create) const {
    for (std::uint64_t i = 0; i < tasks; i++) create(position{0, i, 0, 0, {}});
  }
};

}  // namespace weir::bench::overhead
