// weir bench aggregate: a triangular solve, one task a row, aggregated with coarse strings. Time and memory of the
// aggregation; time of a solve, sequential, without aggregation and with each, measured in turn.
#include "bench_aggregate.hpp"

#include <bench/aggregate/problem.hpp>
#include <bench/common/kernel.hpp>
#include <bench/common/median.hpp>
#include <bench/common/options.hpp>
#include <bench/common/parser.hpp>
#include <bench/common/plural.hpp>
#include <tools/common/stopwatch.hpp>
#include <weir/coarse_graph.hpp>
#include <weir/runtime.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <malloc.h>
#include <optional>
#include <string>
#include <vector>

namespace weir::tools {
namespace {

using bench::median;
using bench::plural;
using bench::triangle;

struct aggregate_options {
  std::string matrices = "cube:100", policy, machine;
  std::string coarse = "S,F(32),CD(4),D(400),auto";
  int workers = 0, repeat = 5;
  bool json = false;
};

// Memory of this process, from the system: what is resident, and the most that was since forget_peak().
std::optional<std::uint64_t> status_bytes(const char* key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return 1024 * std::stoull(line.substr(line.find(':') + 1));
  return {};
}
bool forget_peak() {
  ::malloc_trim(0);
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

// Bytes that f needed at most, beyond what was there before; nothing if the system does not tell.
std::optional<std::uint64_t> peak_bytes_of(const auto& f) {
  const bool forgotten = forget_peak();
  const auto before = status_bytes("VmRSS");
  f();
  const auto most = status_bytes("VmHWM");
  if (!forgotten || !before || !most) return {};
  return *most > *before ? *most - *before : 0;
}

struct row {
  std::string coarse;
  std::size_t aggregates = 0, edges = 0;
  std::optional<std::uint64_t> peak_bytes;
  std::vector<double> aggregate_seconds, solve_seconds;
  std::optional<coarse_graph> graph;
};

class aggregate_session {
 public:
  aggregate_session(const aggregate_options& o, const std::string& matrix)
      : options_(o), name_(matrix), system_(bench::make_triangle(matrix)), graph_(system_.offsets, system_.columns), runtime_({.workers = o.workers, .policy = o.policy, .machine = o.machine}) {}

  // False if a result differs.
  bool run() {
    for (std::uint32_t t = 0; t < system_.rows(); t++) system_.solve_row(t);
    expected_ = system_.x;
    for (const std::string& coarse : bench::parse_names("--coarsen", options_.coarse)) measure_aggregation(rows_.emplace_back(row{coarse}));
    for (int i = 0; i < options_.repeat; i++) measure_solves();
    if (options_.json) print_json();
    else print_table();
    if (!right_) fmt::print(stderr, "weir: {}: a result differs from the sequential one\n", name_);
    return right_;
  }

 private:
  void measure_aggregation(row& r) {
    r.peak_bytes = peak_bytes_of([&] { make(r); });
    for (int i = 0; i < options_.repeat; i++) {
      r.graph.reset();
      r.aggregate_seconds.push_back(seconds_of([&] { make(r); }));
    }
    r.aggregates = r.graph->aggregates();
    r.edges = r.graph->edges();
  }

  void make(row& r) {
    r.graph.emplace(aggregate(graph_, r.coarse, runtime_, [this](graph::task_id t) { system_.solve_row(t); }));
  }

  void measure_solves() {
    const auto body = [this](std::span<const graph::task_id> tasks) {
      for (graph::task_id t : tasks) system_.solve_row(t);
    };
    time_solve(sequential_, [&] {
      for (std::uint32_t t = 0; t < system_.rows(); t++) system_.solve_row(t);
    });
    time_solve(fine_, [&] { graph_.run(runtime_, body); });
    for (row& r : rows_) time_solve(r.solve_seconds, [&] { r.graph->run(runtime_, body); });
  }

  void time_solve(std::vector<double>& seconds, const auto& solve) {
    std::fill(system_.x.begin(), system_.x.end(), 0);
    seconds.push_back(seconds_of(solve));
    right_ &= system_.x == expected_;
  }

  std::size_t tasks() const { return system_.rows(); }

  void print_table() const {
    const double one = median(sequential_);
    fmt::print("{}: {}, {}, {}\n\n", name_, plural(tasks(), "task"), plural(system_.columns.size(), "edge"),
               plural(runtime_.workers(), "worker"));
    fmt::print("{:<24} {:>10} {:>10} {:>12} {:>10} {:>10} {:>8}\n", "coarse string", "aggregates", "edges", "aggregate ms", "peak B/task", "solve ms", "speedup");
    const auto line = [&](const std::string& name, const std::string& aggregates, const std::string& edges, const std::string& ms, const std::string& bytes, double solve) {
      fmt::print("{:<24} {:>10} {:>10} {:>12} {:>11} {:>9.2f} {:>8.2f}\n", name, aggregates, edges, ms, bytes, 1e3 * solve, one / solve);
    };
    line("(sequential)", "", "", "", "", one);
    line("(none)", "", "", "", "", median(fine_));
    for (const row& r : rows_)
      line(r.coarse == "auto" ? "auto: " + r.graph->algorithms() : r.coarse, std::to_string(r.aggregates), std::to_string(r.edges), fmt::format("{:.1f}", 1e3 * median(r.aggregate_seconds)),
           r.peak_bytes ? fmt::format("{:.1f}", static_cast<double>(*r.peak_bytes) / static_cast<double>(tasks())) : "?", median(r.solve_seconds));
    fmt::print("\n");
  }

  void print_json() const {
    const auto print = [&](const std::string& coarse, const std::vector<double>& solve, const row* r) {
      nlohmann::ordered_json j = {{"matrix", name_}, {"coarsen", coarse}, {"workers", runtime_.workers()}, {"tasks", tasks()}, {"edges", system_.columns.size()}};
      if (r != nullptr) {
        j["algorithms"] = r->graph->algorithms();
        j["aggregates"] = r->aggregates;
        j["aggregate_edges"] = r->edges;
        j["aggregate_seconds"] = median(r->aggregate_seconds);
        j["peak_bytes"] = r->peak_bytes ? nlohmann::ordered_json(*r->peak_bytes) : nlohmann::ordered_json();
      }
      j["solve_seconds"] = median(solve);
      j["sequential_solve_seconds"] = median(sequential_);
      fmt::print("{}\n", j.dump());
    };
    print("none", fine_, nullptr);
    for (const row& r : rows_) print(r.coarse, r.solve_seconds, &r);
  }

  const aggregate_options& options_;
  const std::string name_;
  triangle system_;
  graph graph_;
  runtime runtime_;
  std::vector<double> expected_, sequential_, fine_;
  std::vector<row> rows_;
  bool right_ = true;
};

}  // namespace

CLI::App* add_aggregate_command(CLI::App& bench, std::shared_ptr<int> status) {
  auto o = std::make_shared<aggregate_options>();
  CLI::App* own = bench.add_subcommand("aggregate", "What coarse strings cost and bring on graphs of tiny tasks");
  own->add_option("--matrix", o->matrices, "cube:N, seven points in natural order, or nested:N, in nested dissection")->capture_default_str()->type_name("M[,M...]");
  own->add_option("--coarsen", o->coarse, "Coarse strings")->capture_default_str()->type_name("C[,C...]");
  own->add_option("--workers", o->workers, "Workers; 0: one per CPU the process may use")
      ->transform(bench::whole_number(0, runtime_options::most_workers))
      ->type_name("N");
  own->add_option("--policy", o->policy, "Policy of the runtime")->type_name("P");
  own->add_option("--machine", o->machine,
                  "Machine to pretend: a machine that comes with weir, a machine file, or \"nodes:N cpus:K\"; "
                  "default: the host")
      ->type_name("M")
      ->envname("WEIR_MACHINE");
  own->add_option("--repeat", o->repeat, "Measurements, of which medians are shown")
      ->transform(bench::whole_number(1, 1000000))
      ->capture_default_str()
      ->type_name("R");
  own->add_flag("--json", o->json, "One JSON object a matrix and coarse string, one a line");
  own->callback([o, status] {
    bool right = true;
    for (const std::string& matrix : bench::parse_names("--matrix", o->matrices)) right &= aggregate_session(*o, matrix).run();
    *status = right ? 0 : 1;
  });
  return own;
}

}  // namespace weir::tools
