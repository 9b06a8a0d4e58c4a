// Running the programs of bench/main/, reading what they print.
#include "bench_main_runs.hpp"

#include <bench/common/median.hpp>
#include <bench/common/plural.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace weir::tools {
namespace {

constexpr std::string_view main_runtimes[] = {"weir", "onetbb", "libgomp", "libomp", "taskflow", "libfork"};
constexpr double longest_main_seconds = 120;  // of a process, before it is killed

}  // namespace

std::span<const std::string_view> main_runtime_names() { return main_runtimes; }

std::string part_name(const bench::from_main::row& row, bench::from_main::place from) {
  return fmt::format("{}:{}", row.name, bench::from_main::name_of(from));
}

main_run::main_run(const bench::from_main::row& row, bench::from_main::place from, const bench_program& program,
                   int workers, const main_limits& limits)
    : row_(row), from_(from), program_(program), workers_(workers), limits_(limits) {}

std::string main_run::name() const {
  return fmt::format("{} under {}, {}", part_name(row_, from_), program_.runtime, bench::plural(workers_, "worker"));
}

std::uint64_t main_run::size() const { return limits_.quick ? row_.quick_size : row_.size; }

void main_run::measure() {
  std::vector<std::string> arguments = {program_.path.string(), "--row", part_name(row_, from_), "--workers",
                                        std::to_string(workers_), "--iterations", std::to_string(limits_.iterations),
                                        "--least-ms", std::to_string(limits_.least_ms)};
  if (size() != 0) arguments.insert(arguments.end(), {"--size", std::to_string(size())});
  const program_answer answer = ask_program(arguments, longest_main_seconds);
  failure_ = answer.failure;
  if (!failure_.empty()) return;
  try {
    const auto said = nlohmann::json::parse(answer.line);
    ns_.push_back(said.at("ns").get<double>());
    if (!said.at("calls").is_null()) calls_ = said.at("calls").get<double>();
    if (said.at("serial_ns").is_null()) return;
    serial_ns_.push_back(said.at("serial_ns").get<double>());
    overhead_ns_.push_back(ns_.back() - serial_ns_.back());
  } catch (const nlohmann::json::exception& e) {
    failure_ = fmt::format("printed \"{}\": {}", answer.line, e.what());
  }
}

main_result main_run::result() const {
  main_result r{.row = &row_, .from = from_, .runtime = program_.runtime, .workers = workers_, .size = size()};
  r.ns = bench::median(ns_);
  r.lowest = *std::ranges::min_element(ns_);
  r.highest = *std::ranges::max_element(ns_);
  if (!serial_ns_.empty()) r.serial = bench::median(serial_ns_);
  if (row_.what == bench::from_main::kind::overhead && r.serial) r.overhead = bench::median(overhead_ns_);
  if (calls_) r.call = r.ns * workers_ / *calls_;
  r.runs = ns_.size();
  return r;
}

}  // namespace weir::tools
