// Running the programs of bench/overhead/, reading what they print.
#include "bench_overhead_programs.hpp"

#include <bench/common/median.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace weir::tools {
namespace {

constexpr std::string_view runtimes[] = {"weir", "libgomp", "libomp", "onetbb", "starpu", "taskflow"};

constexpr overhead_row costs[] = {
    {"independent", "independent", "", ""},
    {"chains", "chains", "", ""},
    {"stencil", "stencil", "", ""},
    {"replay-stencil", "replay-stencil", "", ""},
    {"fib", "fib", "", ""},
    {"reduction-tree", "reduction-tree", "", ""},
    {"fft", "fft", "", ""},
    {"all-to-all", "all-to-all", "", ""},
    {"random-graph", "random-graph", "", ""},
    {"dependences-0", "dependences", "--dependences", "0"},
    {"dependences-1", "dependences", "--dependences", "1"},
    {"dependences-2", "dependences", "--dependences", "2"},
    {"dependences-4", "dependences", "--dependences", "4"},
    {"dependences-8", "dependences", "--dependences", "8"},
    {"dependences-16", "dependences", "--dependences", "16"},
    {"creators-1", "creators", "--creators", "1"},
    {"creators-4", "creators", "--creators", "4"},
    {"commutative", "commutative", "", ""},
    {"concurrent", "concurrent", "", ""},
    {"ref-chains", "ref-chains", "", ""},
    {"ref-many", "ref-chains", "--width", "100000"},
    {"ref-creators-1", "ref-creators", "--creators", "1"},
    {"ref-creators-4", "ref-creators", "--creators", "4"},
    {"ref-commutative", "ref-commutative", "", ""},
    {"ref-concurrent", "ref-concurrent", "", ""},
    {"ref-stencil", "ref-stencil", "", ""},
    {"ref-blocks", "ref-blocks", "", ""},
    {"ref-tiles", "ref-tiles", "", ""},
    {"ref-halo", "ref-halo", "", ""},
    {"ref-fresh", "ref-fresh", "", ""},
    {"granularity-0us", "stencil", "--task-ns", "0"},
    {"granularity-1us", "stencil", "--task-ns", "1000"},
    {"granularity-10us", "stencil", "--task-ns", "10000"},
    {"granularity-100us", "stencil", "--task-ns", "100000"},
};
constexpr overhead_row metgs[] = {
    {"trivial", "trivial", "", ""},
    {"stencil_1d", "stencil_1d", "", ""},
    {"fft", "fft", "", ""},
    {"tree", "tree", "", ""},
    {"random_nearest", "random_nearest", "", ""},
};

constexpr std::uint64_t first_tasks = 500;  // to begin with: some take 300 us a task
constexpr std::uint64_t growth = 8;         // there are runtimes in which a task costs more the more there are

}  // namespace

std::span<const overhead_row> cost_rows() { return costs; }
std::span<const overhead_row> metg_rows() { return metgs; }
std::span<const std::string_view> runtime_names() { return runtimes; }

overhead_run::overhead_run(const overhead_row& row, const bench_program& program, int workers, const run_limits& limits)
    : row_(row), program_(program), workers_(workers), limits_(limits) {}

std::string overhead_run::name() const { return fmt::format("{} under {}, {} {}", row_.name, program_.runtime, workers_, workers_ == 1 ? "worker" : "workers"); }

// The first line of a run's output, or a failure.
std::optional<std::string> overhead_run::line_of(std::vector<std::string> more) {
  std::vector<std::string> arguments = {program_.path.string(), "--pattern", std::string(row_.program_pattern), "--workers", std::to_string(workers_)};
  if (!row_.option.empty()) arguments.insert(arguments.end(), {std::string(row_.option), std::string(row_.value)});
  arguments.insert(arguments.end(), more.begin(), more.end());
  program_answer answer = ask_program(arguments, limits_.longest_seconds);
  failure_ = std::move(answer.failure);
  if (!failure_.empty()) return {};
  return std::move(answer.line);
}

std::optional<double> overhead_run::ns_of(std::uint64_t tasks) {
  const auto line = line_of({"--tasks", std::to_string(tasks)});
  if (!line) return {};
  try {
    const auto run = nlohmann::json::parse(*line);
    tasks_run_ = run.at("tasks").get<std::uint64_t>();
    return tasks_run_ == 0 ? 0 : run.at("ns_per_task").get<double>();
  } catch (const nlohmann::json::exception& e) {
    failure_ = fmt::format("printed \"{}\": {}", *line, e.what());
    return {};
  }
}

bool overhead_run::choose_tasks() {
  const double run_ns = limits_.run_seconds * 1e9;
  std::uint64_t tasks = std::min(first_tasks, limits_.tasks);
  for (;;) {
    const auto ns = ns_of(tasks);
    if (!ns) return false;
    const auto fitting = *ns <= 0 ? limits_.tasks : static_cast<std::uint64_t>(std::min(run_ns / *ns, static_cast<double>(limits_.tasks)));
    const std::uint64_t next = std::min(fitting, growth * tasks);
    if (next <= tasks) break;
    tasks = next;
    if (tasks == fitting && fitting < 2 * tasks_run_) break;
  }
  tasks_ = tasks;
  return true;
}

void overhead_run::measure_cost() {
  if (tasks_ == 0 && !choose_tasks()) return;
  const auto ns = ns_of(tasks_);
  if (ns && tasks_run_ != 0) ns_.push_back(*ns);  // so few tasks may be allowed that there is no fib()
}

void overhead_run::measure_metg(int repeat) {
  const auto line = line_of({"--metg", "--repeat", std::to_string(repeat)});
  if (!line) return;
  try {
    const auto metg = nlohmann::json::parse(*line).at("metg_ns");
    if (metg.is_null()) never_++;
    else ns_.push_back(metg.get<double>());
  } catch (const nlohmann::json::exception& e) {
    failure_ = fmt::format("printed \"{}\": {}", *line, e.what());
  }
}

overhead_result overhead_run::result() const {
  overhead_result r{.pattern = std::string(row_.name), .runtime = program_.runtime, .workers = workers_, .tasks = tasks_run_, .runs = ns_.size() + never_};
  if (ns_.size() > never_) r.ns = bench::median(ns_);
  if (r.ns) r.lowest = *std::ranges::min_element(ns_), r.highest = *std::ranges::max_element(ns_);
  return r;
}

}  // namespace weir::tools
