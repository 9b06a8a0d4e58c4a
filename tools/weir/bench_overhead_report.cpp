// Tables and JSON of `weir bench overhead`.
#include "bench_overhead_report.hpp"

#include <bench/common/output.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace weir::tools {
namespace {

const overhead_result* find(const std::vector<overhead_result>& results, std::string_view pattern, std::string_view runtime, int workers) {
  const auto found = std::ranges::find_if(results, [&](const overhead_result& r) { return r.pattern == pattern && r.runtime == runtime && r.workers == workers; });
  return found == results.end() ? nullptr : &*found;
}

// In order of appearance.
std::vector<std::string> patterns_in(const std::vector<overhead_result>& results, int workers) {
  std::vector<std::string> names;
  for (const overhead_result& r : results)
    if (r.workers == workers && std::ranges::find(names, r.pattern) == names.end()) names.push_back(r.pattern);
  return names;
}

std::vector<std::string_view> runtimes_in(const std::vector<overhead_result>& results) {
  std::vector<std::string_view> names;
  for (const std::string_view name : runtime_names())
    if (std::ranges::find(results, name, &overhead_result::runtime) != results.end()) names.push_back(name);
  return names;
}

std::string cell(const overhead_result* r, bool metg) {
  if (r == nullptr || (!r->ns && !metg)) return fmt::format("{:>10}{:>9}", "-", "");
  if (!r->ns) return fmt::format("{:>10}{:>9}", "never", "");
  const bool compared = r->ratio && r->runtime != "weir";
  return fmt::format("{:>10.0f}{:>9}", *r->ns, compared ? fmt::format("{:.2f}x", *r->ratio) : "");
}

std::string_view without_trailing_space(std::string_view line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

}  // namespace

void compare(std::vector<overhead_result>& results) {
  for (overhead_result& r : results) {
    const overhead_result* weir = find(results, r.pattern, "weir", r.workers);
    if (weir != nullptr && weir->ns && *weir->ns > 0 && r.ns) r.ratio = *r.ns / *weir->ns;
  }
}

void print_json(const std::vector<overhead_result>& results, bool metg) {
  const auto number = [](const std::optional<double>& x) { return x ? nlohmann::ordered_json(*x) : nlohmann::ordered_json(nullptr); };
  for (const overhead_result& r : results) {
    nlohmann::ordered_json line = {{"pattern", r.pattern}, {"runtime", r.runtime}, {"workers", r.workers}};
    if (!metg) line["tasks"] = r.tasks;
    line[metg ? "metg_ns" : "ns_per_task"] = number(r.ns);
    line["lowest_ns"] = number(r.lowest);
    line["highest_ns"] = number(r.highest);
    line["ratio_to_weir"] = number(r.ratio);
    line["runs"] = r.runs;
    fmt::print("{}\n", line.dump());
  }
  bench::flush_output();
}

void print_table(const std::vector<overhead_result>& results, const std::vector<int>& workers, int rounds, bool metg) {
  const std::string_view what = metg ? "METG(50 %) in ns: the granularity at which half of the time is useful work" : "ns per task";
  fmt::print("{}; x: as much as under weir; medians of {} {}\n", what, rounds, rounds == 1 ? "run" : "runs");
  for (const int n : workers) {
    std::string line = fmt::format("{:<18}", fmt::format("{} {}", n, n == 1 ? "worker" : "workers"));
    for (const std::string_view runtime : runtimes_in(results)) line += fmt::format("{:>10}{:>9}", runtime, "");
    fmt::print("\n{}\n", without_trailing_space(line));
    for (const std::string& pattern : patterns_in(results, n)) {
      line = fmt::format("{:<18}", pattern);
      for (const std::string_view runtime : runtimes_in(results)) line += cell(find(results, pattern, runtime, n), metg);
      fmt::print("{}\n", without_trailing_space(line));
    }
  }
  bench::flush_output();
}

}  // namespace weir::tools
