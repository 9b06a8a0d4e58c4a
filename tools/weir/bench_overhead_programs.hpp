// What `weir bench overhead` measures, and the runs of its programs.
#pragma once

#include "bench_programs.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

// A row of the table: a pattern of the programs, with its options.
struct overhead_row {
  std::string_view name, program_pattern, option, value;
};
std::span<const overhead_row> cost_rows();
std::span<const overhead_row> metg_rows();
inline constexpr std::size_t quick_rows = 5;  // the first of cost_rows()

std::span<const std::string_view> runtime_names();  // weir first

struct run_limits {
  double run_seconds = 0.2;       // aim for one run
  std::uint64_t tasks = 200000;   // more tell nothing new, and oneTBB's graphs grow to hundreds of megabytes
  double longest_seconds = 60;    // of a process, before it is killed
};

struct overhead_result {
  std::string pattern, runtime;
  int workers = 0;
  std::uint64_t tasks = 0;
  std::optional<double> ns;       // per task, or METG; empty: no task was run, or never effective
  std::optional<double> lowest, highest;  // of the runs that `ns` is the median of
  std::optional<double> ratio;    // to weir's
  std::size_t runs = 0;
};

// One pattern under one runtime with one number of workers, measured as often as the caller likes.
class overhead_run {
 public:
  overhead_run(const overhead_row& row, const bench_program& program, int workers, const run_limits& limits);

  // Each runs the program once, and the first time also to find out how many tasks take about the time they should.
  void measure_cost();
  void measure_metg(int repeat);

  std::string name() const;
  const std::string& failure() const { return failure_; }  // one line; empty if there was none
  overhead_result result() const;                          // medians

 private:
  std::optional<std::string> line_of(std::vector<std::string> more);
  std::optional<double> ns_of(std::uint64_t tasks);
  bool choose_tasks();

  overhead_row row_;
  const bench_program& program_;
  int workers_;
  run_limits limits_;
  std::uint64_t tasks_ = 0;  // chosen; 0: not yet
  std::uint64_t tasks_run_ = 0;
  std::vector<double> ns_;
  std::size_t never_ = 0;    // METG runs in which no task was long enough
  std::string failure_;
};

}  // namespace weir::tools
