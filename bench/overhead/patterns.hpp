// Task graphs as data: what the programs of this folder run, whatever the runtime.
//
//   independent   tasks without data
//   fib           recursive spawning and waiting
//   grid          steps of tasks; a task depends on some columns of the step before and writes its own column
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weir::bench::overhead {

enum class form : std::uint8_t { independent, fib, grid };

struct pattern {
  std::string_view name, description;
  form shape = form::grid;
  bool in_place = false;      // a task updates the value of its column, and depends on nothing else
  bool replay = false;        // the graph is built once and run again and again
  bool random = false;        // uses the seed
  bool dependences = false;   // has a number of dependences per task to choose
  std::uint32_t width = 32;   // default number of columns
};

// All patterns, and the one of this name or null.
std::span<const pattern> patterns();
const pattern* find_pattern(std::string_view name);

// One step of a grid: for each of its tasks the columns of the step before that it reads, in ascending order.
class row {
 public:
  std::uint32_t width() const { return static_cast<std::uint32_t>(ends_.size()); }
  std::span<const std::uint32_t> before(std::uint32_t column) const {
    const std::uint32_t first = column == 0 ? 0 : ends_[column - 1];
    return {columns_.data() + first, ends_[column] - first};
  }
  // Of the first `tasks` tasks together.
  std::uint32_t dependences(std::uint32_t tasks) const { return tasks == 0 ? 0 : ends_[tasks - 1]; }

  void add_column(std::uint32_t column) { columns_.push_back(column); }
  void end_task() { ends_.push_back(static_cast<std::uint32_t>(columns_.size())); }

 private:
  std::vector<std::uint32_t> ends_, columns_;
};

// Where a task stands in its grid.
struct position {
  std::uint64_t step;
  std::uint64_t task;         // number in order of creation
  std::uint64_t step_before;  // number of the first task of the step before
  std::uint32_t column;
  std::span<const std::uint32_t> before;  // columns of the step before
};

class grid {
 public:
  // Tasks with more than this many dependences read neighbouring columns.
  static constexpr std::size_t most_scattered = 8;

  // `dependences` is for the patterns that have that choice.
  grid(const pattern&, std::uint32_t width, std::uint32_t dependences, std::uint64_t seed);

  std::uint32_t width() const { return width_; }
  std::uint32_t most_dependences() const;

  // Calls create(position) for the first `tasks` tasks, step by step.
  template <class Create>
  void for_each_task(std::uint64_t tasks, const Create& create) const {
    std::uint64_t task = 0, step_before = 0;
    for (std::size_t r = 0, step = 0; task < tasks; step++) {
      const std::uint64_t first = task;
      const std::uint32_t width = rows_[r].width();
      for (std::uint32_t column = 0; column < width && task < tasks; column++, task++)
        create(position{step, task, step_before, column, rows_[r].before(column)});
      step_before = first;
      if (++r == rows_.size()) r = repeated_;
    }
  }

  std::uint64_t tasks_in(std::uint64_t steps) const;
  double mean_dependences(std::uint64_t tasks) const;

 private:
  std::uint32_t width_;
  std::vector<row> rows_;     // of the first steps
  std::size_t repeated_ = 1;  // after the last row it goes on with this one
};

// Tasks that fib(n) spawns, its value, and the largest n whose fib(n) spawns at most so many.
std::uint64_t fib_tasks(unsigned n);
std::uint64_t fib_value(unsigned n);
unsigned fib_within(std::uint64_t tasks);

}  // namespace weir::bench::overhead
