// weir bench overhead: which programs to run, and in which order. The programs themselves are in bench/overhead/.
#include "bench_overhead.hpp"

#include "bench_overhead_programs.hpp"
#include "bench_overhead_report.hpp"
#include "bench_progress.hpp"

#include <bench/common/kernel.hpp>
#include <bench/common/options.hpp>
#include <bench/common/parser.hpp>
#include <weir/runtime.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weir::tools {
namespace {

using bench::input_error;
using bench::parse_names;

struct overhead_options {
  std::optional<std::string> patterns, runtimes, workers;
  std::uint64_t tasks = 0;
  int repeat = 0;
  bool metg = false, quick = false, json = false;
};

template <class Rows>
std::string names_of(const Rows& rows) {
  std::string names;
  for (const auto& r : rows) names += (names.empty() ? "" : ", ") + std::string(r.name);
  return names;
}

std::vector<overhead_row> chosen_rows(const overhead_options& o) {
  const std::span<const overhead_row> known = o.metg ? metg_rows() : cost_rows();
  if (!o.patterns) {
    const std::size_t count = o.quick && !o.metg ? std::min(quick_rows, known.size()) : known.size();
    return {known.begin(), known.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  std::vector<overhead_row> rows;
  for (const std::string& name : parse_names("--patterns", *o.patterns)) {
    const auto found = std::ranges::find(known, name, &overhead_row::name);
    if (found == known.end()) throw input_error(fmt::format("--patterns: no pattern \"{}\"; there are {}", name, names_of(known)));
    rows.push_back(*found);
  }
  return rows;
}

std::vector<int> chosen_workers(const overhead_options& o) {
  std::vector<int> counts;
  if (!o.workers) {
    counts = {1, runtime().workers()};
  } else {
    for (const std::string& text : parse_names("--workers", *o.workers)) {
      int n = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
      if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > runtime_options::most_workers)
        throw input_error(
            fmt::format("--workers {}: expected whole numbers from 1 to {}", text, runtime_options::most_workers));
      counts.push_back(n);
    }
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

run_limits limits_of(const overhead_options& o) {
  run_limits limits = o.quick ? run_limits{.run_seconds = 0.03, .tasks = 20000} : run_limits{};
  if (o.tasks != 0) limits.tasks = o.tasks;
  return limits;
}

int rounds_of(const overhead_options& o) {
  if (o.repeat != 0) return o.repeat;
  if (o.metg) return o.quick ? 1 : 3;
  return o.quick ? 3 : 5;
}

// All runs. Those of one row alternate, round after round, so that a disturbance hits no runtime alone.
class overhead_session {
 public:
  explicit overhead_session(const overhead_options& o)
      : options_(o), rows_(chosen_rows(o)), programs_(choose_programs("overhead", runtime_names(), o.runtimes)), workers_(chosen_workers(o)),
        progress_(rows_.size() * programs_.size() * workers_.size() * static_cast<std::size_t>(rounds_of(o))) {}

  // False if a program failed.
  bool run() {
    for (const overhead_row& row : rows_) {
      std::vector<overhead_result> results = measure(row);
      compare(results);
      if (options_.json) print_json(results, options_.metg);
      all_.insert(all_.end(), results.begin(), results.end());
    }
    progress_.clear();
    if (!options_.json) print_table(all_, workers_, rounds_of(options_), options_.metg);
    return !failed_;
  }

 private:
  std::vector<overhead_result> measure(const overhead_row& row) {
    std::vector<overhead_run> runs;
    for (const int n : workers_)
      for (const bench_program& p : programs_)
        if (p.has(row.program_pattern)) runs.emplace_back(row, p, n, limits_of(options_));
    for (int round = 0; round < rounds_of(options_); round++)
      for (overhead_run& r : runs) {
        progress_.next(r.name());
        if (!r.failure().empty()) continue;
        if (options_.metg) r.measure_metg(options_.quick ? 1 : 3);
        else r.measure_cost();
        if (!r.failure().empty()) complain(r);
      }
    std::vector<overhead_result> results;
    for (const overhead_run& r : runs)
      if (r.failure().empty()) results.push_back(r.result());
    return results;
  }

  void complain(const overhead_run& r) {
    progress_.clear();
    fmt::print(stderr, "weir: {}: {}\n", r.name(), r.failure());
    failed_ = true;
  }

  const overhead_options& options_;
  std::vector<overhead_row> rows_;
  std::vector<bench_program> programs_;
  std::vector<int> workers_;
  std::vector<overhead_result> all_;
  run_progress progress_;
  bool failed_ = false;
};

int run_overhead(const overhead_options& o) {
  if (o.metg && o.tasks != 0) throw input_error("--metg and --tasks exclude each other: the sweep chooses how many tasks a point needs");
  return overhead_session(o).run() ? 0 : 1;
}

}  // namespace

CLI::App* add_overhead_command(CLI::App& bench, std::shared_ptr<int> status) {
  auto o = std::make_shared<overhead_options>();
  CLI::App* overhead = bench.add_subcommand("overhead", "What one task costs, under weir and under other runtimes");
  overhead->add_option("--patterns", o->patterns, "Task graphs; default: all")->type_name("P[,P...]");
  overhead->add_option("--runtimes", o->runtimes, fmt::format("Of {}; default: those that are there", fmt::join(runtime_names(), ", ")))->type_name("R[,R...]");
  overhead->add_option("--workers", o->workers, "Numbers of workers; default: 1, and one per CPU the process may use")->type_name("N[,N...]");
  overhead->add_option("--tasks", o->tasks, "Most tasks of a run; runtimes that are slow at a graph get fewer")
      ->transform(bench::whole_number(1, std::uint64_t{1} << 32))
      ->type_name("T");
  overhead->add_option("--repeat", o->repeat, "Rounds; the median is shown")
      ->transform(bench::whole_number(1, 1000000))
      ->type_name("R");
  overhead->add_flag("--metg", o->metg, "Minimum effective task granularity (METG 50 %) instead of the cost of empty tasks");
  overhead->add_flag("--quick", o->quick, "Few tasks, few rounds, the first patterns");
  overhead->add_flag("--json", o->json, "One JSON object per pattern, runtime and number of workers, one a line");
  overhead->callback([o, status] { *status = run_overhead(*o); });
  return overhead;
}

}  // namespace weir::tools
