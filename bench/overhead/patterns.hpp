// Task graphs as data: what the programs of this folder run, whatever the runtime.
//
//   independent   tasks without data
//   fib           recursive spawning and waiting
//   grid          steps of tasks; a task depends on some columns of the step before and writes its own column
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace weir::bench::overhead {

enum class form : std::uint8_t { independent, fib, grid };

// What a column's value is: a datum of the runtime's, or the program's own memory, of which a task names addresses
// (own_memory.hpp).
//
//   cells   a number a column, side by side
//   blocks  4 KiB a column, named whole
//   tiles   the same, 16 rows of 256 bytes side by side in a matrix of as many columns of tiles
//   strips  as blocks, but a task reads one range of the step before: its column and a number on either side
//   fresh   no columns: each task names a line that none has named before
enum class memory : std::uint8_t { data, cells, blocks, tiles, strips, fresh };

// Updates whose order does not matter. The tasks of every other step update the value of one column in such a group
// (members_of_group of them), those of the steps between update it alone.
enum class group : std::uint8_t { none, commutative, concurrent };
inline constexpr std::uint32_t members_of_group = 8;

struct pattern {
  std::string_view name, description;
  form shape = form::grid;
  bool in_place = false;      // a task updates the value of its column, and depends on nothing else
  bool replay = false;        // the graph is built once and run again and again
  bool random = false;        // uses the seed
  bool dependences = false;   // has a number of dependences per task to choose
  bool creators = false;      // has a number of tasks to choose that create the others, each those of some columns
  memory values = memory::data;
  group updates = group::none;
  std::uint32_t width = 32;   // default number of columns
  std::uint32_t most_width = 1 << 16;

  bool by_address() const { return values != memory::data; }
  bool has_groups() const { return updates != group::none; }
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

  // Of a pattern with groups: whether the task is in one, and whose value it updates.
  bool is_in_group() const { return step % 2 == 1; }
  std::uint32_t updated_column() const { return is_in_group() ? column / members_of_group : column; }
};

// Some of a grid's columns: one of `of` parts, which are as large as each other.
struct columns_part {
  std::uint32_t index = 0, of = 1;

  std::uint32_t first(std::uint32_t width) const { return bound(width, index); }
  std::uint32_t last(std::uint32_t width) const { return bound(width, index + 1); }

 private:
  std::uint32_t bound(std::uint32_t width, std::uint32_t i) const {
    return static_cast<std::uint32_t>(std::uint64_t{width} * i / of);
  }
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
    for_each_task_of({}, tasks, create);
  }
  // For those of them that are in some of the columns.
  template <class Create>
  void for_each_task_of(columns_part part, std::uint64_t tasks, const Create& create) const {
    std::uint64_t first = 0, step_before = 0;
    for (std::size_t r = 0, step = 0; first < tasks; step++) {
      const std::uint32_t width = rows_[r].width();
      const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(part.last(width), tasks - first));
      for (std::uint32_t column = part.first(width); column < last; column++)
        create(position{step, first + column, step_before, column, rows_[r].before(column)});
      step_before = first;
      first += width;
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
