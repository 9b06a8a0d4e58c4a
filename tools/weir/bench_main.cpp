// weir bench main: which programs to run, and in which order. The programs themselves are in bench/main/.
#include "bench_main.hpp"

#include "bench_main_report.hpp"
#include "bench_main_runs.hpp"
#include "bench_progress.hpp"

#include <bench/common/kernel.hpp>
#include <bench/common/options.hpp>
#include <bench/common/parser.hpp>
#include <bench/main/element.hpp>
#include <weir/runtime.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace weir::tools {
namespace {

struct main_options {
  std::optional<std::string> rows, runtimes;
  int workers = 0, repeat = 0;
  bool quick = false, json = false;
};

using main_row = bench::from_main::row;

std::string main_row_names() {
  std::string names;
  for (const main_row& r : bench::from_main::rows()) names += (names.empty() ? "" : ", ") + std::string(r.name);
  return names;
}

std::vector<const main_row*> chosen_main_rows(const main_options& o) {
  const auto known = bench::from_main::rows();
  std::vector<const main_row*> rows;
  if (!o.rows)
    for (const main_row& r : known) rows.push_back(&r);
  for (const std::string& name : o.rows ? bench::parse_names("--rows", *o.rows) : std::vector<std::string>{}) {
    const auto found = std::ranges::find(known, name, &main_row::name);
    if (found == known.end())
      throw bench::input_error(fmt::format("--rows: no row \"{}\"; there are {}", name, main_row_names()));
    rows.push_back(&*found);
  }
  return rows;
}

int main_rounds(const main_options& o) { return o.repeat != 0 ? o.repeat : o.quick ? 3 : 5; }

// All runs. Those of one row alternate, round after round, so that a disturbance hits no runtime alone.
class main_session {
 public:
  explicit main_session(const main_options& o)
      : options_(o), rows_(chosen_main_rows(o)), programs_(choose_programs("main", main_runtime_names(), o.runtimes)),
        workers_(o.workers != 0 ? o.workers : runtime().workers()), progress_(count_runs()) {
    limits_.quick = o.quick;
    if (o.quick) limits_.least_ms = 5;
    limits_.iterations = bench::from_main::iterations_of_element();
  }

  // False if a program failed.
  bool run() {
    say_what_is_left_out();
    for (const main_row* row : rows_) {
      std::vector<main_result> results = measure(*row);
      compare_workers(results);
      if (options_.json) print_main_json(results);
      all_.insert(all_.end(), results.begin(), results.end());
    }
    progress_.clear();
    if (!options_.json) print_main_table(all_, workers_, main_rounds(options_));
    return !failed_;
  }

 private:
  std::vector<main_run> runs_of(const main_row& row) const {
    const bool recursion = row.what == bench::from_main::kind::recursion;
    std::vector<main_run> runs;
    for (const auto from : {bench::from_main::place::main, bench::from_main::place::task})
      for (const int n : recursion ? std::vector<int>{1, 2} : std::vector<int>{workers_})
        for (const bench_program& p : programs_)
          if (p.has(part_name(row, from))) runs.emplace_back(row, from, p, n, limits_);
    return runs;
  }

  std::size_t count_runs() const {
    std::size_t runs = 0;
    for (const main_row* row : rows_) runs += runs_of(*row).size();
    return runs * static_cast<std::size_t>(main_rounds(options_));
  }

  std::vector<main_result> measure(const main_row& row) {
    std::vector<main_run> runs = runs_of(row);
    for (int round = 0; round < main_rounds(options_); round++)
      for (main_run& r : runs) {
        progress_.next(r.name());
        if (!r.failure().empty()) continue;
        r.measure();
        if (!r.failure().empty()) complain(fmt::format("{}: {}", r.name(), r.failure()));
      }
    std::vector<main_result> results;
    for (const main_run& r : runs)
      if (r.failure().empty()) results.push_back(r.result());
    return results;
  }

  void complain(const std::string& what) {
    progress_.clear();
    fmt::print(stderr, "weir: {}\n", what);
    failed_ = true;
  }

  void say_what_is_left_out() const {
    if (options_.runtimes) return;
    for (const std::string_view name : main_runtime_names())
      if (std::ranges::find(programs_, name, &bench_program::runtime) == programs_.end())
        fmt::print(stderr, "weir: {} is left out: it was not installed when weir was built\n", name);
  }

  const main_options& options_;
  std::vector<const main_row*> rows_;
  std::vector<bench_program> programs_;
  int workers_;
  main_limits limits_;
  run_progress progress_;
  std::vector<main_result> all_;
  bool failed_ = false;
};

}  // namespace

CLI::App* add_main_command(CLI::App& bench, std::shared_ptr<int> status) {
  auto o = std::make_shared<main_options>();
  CLI::App* own = bench.add_subcommand("main", "What things cost from main(), under weir and under other runtimes");
  own->add_option("--rows", o->rows, fmt::format("Of {}; default: all", main_row_names()))->type_name("ROW[,ROW...]");
  own->add_option("--runtimes", o->runtimes,
                  fmt::format("Of {}; default: those that are there", fmt::join(main_runtime_names(), ", ")))
      ->type_name("R[,R...]");
  own->add_option("--workers", o->workers, "Workers; 0: one per CPU the process may use. Recursions have one, and two")
      ->transform(bench::whole_number(0, runtime_options::most_workers))
      ->type_name("N");
  own->add_option("--repeat", o->repeat, "Rounds; the median is shown")
      ->transform(bench::whole_number(1, 1000000))
      ->type_name("R");
  own->add_flag("--quick", o->quick, "Small sizes, few rounds");
  own->add_flag("--json", o->json, "One JSON object per row, place, runtime and number of workers, one a line");
  own->callback([o, status] { *status = main_session(*o).run() ? 0 : 1; });
  return own;
}

}  // namespace weir::tools
