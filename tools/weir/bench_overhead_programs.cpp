// Finding the programs of bench/overhead/, running them, reading what they print.
#include "bench_overhead_programs.hpp"

#include <bench/common/median.hpp>
#include <tools/common/subprocess.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <system_error>

namespace weir::tools {
namespace {

constexpr std::string_view runtimes[] = {"weir", "libgomp", "libomp", "onetbb", "starpu"};

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

std::filesystem::path own_folder() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::vector<std::filesystem::path> places() { return {own_folder() / "peers", (own_folder() / "../libexec/weir").lexically_normal()}; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> patterns_of(const std::filesystem::path& program) {
  std::istringstream lines(run_process({program.string(), "--list"}, std::chrono::seconds(20)).output);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

}  // namespace

std::span<const overhead_row> cost_rows() { return costs; }
std::span<const overhead_row> metg_rows() { return metgs; }
std::span<const std::string_view> runtime_names() { return runtimes; }

bool overhead_program::has(std::string_view pattern) const { return std::ranges::find(patterns, pattern) != patterns.end(); }

std::string program_places() {
  std::string text;
  for (const auto& place : places()) text += (text.empty() ? "" : " and ") + (place / "overhead-*").string();
  return text;
}

std::vector<overhead_program> find_programs() {
  std::vector<overhead_program> found;
  for (const std::string_view runtime : runtimes)
    for (const auto& place : places()) {
      const std::filesystem::path path = place / fmt::format("overhead-{}", runtime);
      if (::access(path.c_str(), X_OK) != 0) continue;
      found.push_back({std::string(runtime), path, patterns_of(path)});
      break;
    }
  return found;
}

overhead_run::overhead_run(const overhead_row& row, const overhead_program& program, int workers, const run_limits& limits)
    : row_(row), program_(program), workers_(workers), limits_(limits) {}

std::string overhead_run::name() const { return fmt::format("{} under {}, {} {}", row_.name, program_.runtime, workers_, workers_ == 1 ? "worker" : "workers"); }

// The last line of a run's output, or a failure.
std::optional<std::string> overhead_run::line_of(std::vector<std::string> more) {
  std::vector<std::string> arguments = {program_.path.string(), "--pattern", std::string(row_.program_pattern), "--workers", std::to_string(workers_)};
  if (!row_.option.empty()) arguments.insert(arguments.end(), {std::string(row_.option), std::string(row_.value)});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(limits_.longest_seconds * 1000));
  const finished_process done = run_process(arguments, limit);
  if (done.timed_out) failure_ = fmt::format("killed after {} s", limits_.longest_seconds);
  else if (done.status > 128) failure_ = fmt::format("ended by signal {}", done.status - 128);
  else if (done.status != 0) failure_ = done.errors.empty() ? fmt::format("exit status {}", done.status) : first_line(done.errors);
  else if (done.output.empty()) failure_ = "printed nothing";
  if (!failure_.empty()) return {};
  return first_line(done.output);
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
