// weir bench --bound: the whole graph once, its divisions, then runs whose traces say where each task ran.
#include "bench_bound.hpp"

#include "trace_file.hpp"

#include <bench/common/check.hpp>
#include <bench/common/median.hpp>
#include <bench/common/output.hpp>
#include <bench/common/plural.hpp>
#include <bench/common/task_names.hpp>
#include <bench/partition/bound.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

namespace weir::tools {
namespace {

using namespace weir::bench;

// For traces; gone with this.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "weir-bound-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string file(std::size_t number) const { return (path_ / (std::to_string(number) + ".json")).string(); }

 private:
  std::filesystem::path path_;
};

// Of each task, by number, the node that it ran on.
std::vector<int> nodes_in(const std::string& trace, std::size_t tasks) {
  std::vector<int> node(tasks, -1);
  read_trace(trace, {.about = {},
                     .task =
                         [&](const trace_task& t) {
                           if (const auto n = task_names::number_in(t.name); n && *n < tasks) node[*n] = t.node;
                         },
                     .sleep = {},
                     .buffers = {}});
  if (const auto lost = std::find(node.begin(), node.end(), -1); lost != node.end())
    throw error("task " + std::to_string(lost - node.begin()) + " is not in the trace");
  return node;
}

class comparison {
 public:
  explicit comparison(const bound_request& r)
      : request_(r), program_(see_all_of(*r.run.what, r.run.problem)),
        bound_(program_, machine_seen(r.run.how), offline_bound::how()) {}

  void print() {
    if (!request_.json) print_head();
    for (const offline_division& d : bound_.divisions())
      print_row({bound_.partitioner(), d, static_cast<int>(d.bands), &d == &bound_.best()});
    std::vector<std::vector<bytes_between>> runs(request_.policies.size());
    for (int repeat = 0; repeat < request_.repeat; repeat++)
      for (std::size_t p = 0; p < runs.size(); p++) runs[p].push_back(run(request_.policies[p]));
    for (std::size_t p = 0; p < runs.size(); p++) print_row({request_.policies[p], median_of(runs[p]), 0, false});
    if (!request_.json) fmt::print("\n");
  }

 private:
  struct row {
    std::string what;
    bytes_between figures;
    int bands;  // 0: a run
    bool is_best;
  };

  bytes_between run(const std::string& policy) {
    run_request r = request_.run;
    task_names names;
    r.problem.names = &names;
    r.how.policy = policy;
    r.how.trace = folder_.file(traces_++);
    const run_result done = run_once(r);
    if (!done.trace_failure.empty()) throw error(done.trace_failure);
    const std::vector<int> node = nodes_in(r.how.trace, program_.bytes.size());
    std::filesystem::remove(r.how.trace);
    return bound_.of_run(node);
  }
  // Each figure by itself.
  static bytes_between median_of(const std::vector<bytes_between>& runs) {
    const auto of = [&](double bytes_between::*which) {
      std::vector<double> all;
      for (const bytes_between& r : runs) all.push_back(r.*which);
      return median(all);
    };
    return {of(&bytes_between::cut_bytes), of(&bytes_between::distant_bytes), of(&bytes_between::imbalance),
            of(&bytes_between::speed), of(&bytes_between::length_ns)};
  }

  // Nothing where the best sends nothing.
  std::optional<double> times_best(const bytes_between& b) const {
    if (bound_.best().cut_bytes == 0) return std::nullopt;
    return b.cut_bytes / bound_.best().cut_bytes;
  }
  void print_head() const {
    const configuration& c = request_.run.problem;
    fmt::print("{}  size {}  block {}: {}, {} that have {} in common; {}\n", request_.run.what->name,
               format_size(c.size), format_size(c.block), plural(program_.bytes.size(), "task"),
               plural(program_.links.size(), "pair"), format_bytes(static_cast<std::uint64_t>(bound_.all_bytes())),
               request_.repeat > 1 ? fmt::format("medians of {} runs", request_.repeat) : "one run each");
    if (program_.bytes_there != 0)
      fmt::print("  left out: {} that were there before\n", format_bytes(program_.bytes_there));
    fmt::print("  {:<24}{:>6}{:>15}{:>9}{:>12}{:>13}{:>8}\n", "", "bands", "between nodes", "% of all", "times best",
               "imbalance %", "speed");
  }
  void print_row(const row& r) const {
    const bytes_between& f = r.figures;
    const std::optional<double> times = times_best(f);
    if (request_.json) {
      print_object(r);
    } else {
      fmt::print("  {:<24}{:>6}{:>15}{:>9.2f}{:>12}{:>13.1f}{:>8.3f}\n", r.what + (r.is_best ? "  (best)" : ""),
                 r.bands != 0 ? std::to_string(r.bands) : "", format_bytes(static_cast<std::uint64_t>(f.cut_bytes)),
                 100 * f.cut_bytes / std::max(bound_.all_bytes(), 1.0), times ? fmt::format("{:.2f}", *times) : "-",
                 100 * f.imbalance, f.speed);
    }
    flush_output();
  }
  void print_object(const row& r) const {
    const bytes_between& f = r.figures;
    nlohmann::json j{{"kernel", request_.run.what->name},
                     {"tasks", program_.bytes.size()},
                     {"links", program_.links.size()},
                     {"bytes_there_before", program_.bytes_there},
                     {"bytes", static_cast<std::uint64_t>(bound_.all_bytes())},
                     {"bytes_between", static_cast<std::uint64_t>(f.cut_bytes)},
                     {"bytes_times_distance", static_cast<std::uint64_t>(f.distant_bytes)},
                     {"imbalance", f.imbalance},
                     {"speed", f.speed}};
    if (const auto times = times_best(f)) j["times_best"] = *times;
    else j["times_best"] = nullptr;
    j[r.bands != 0 ? "partitioner" : "policy"] = r.what;
    if (r.bands != 0) j["bands"] = r.bands;
    if (r.bands != 0) j["best"] = r.is_best;
    fmt::print("{}\n", j.dump());
  }

  const bound_request& request_;
  const whole_program program_;
  const offline_bound bound_;
  const scratch_folder folder_;
  std::size_t traces_ = 0;
};

}  // namespace

void check_bound(const kernel& k, const configuration& c) {
  const auto needs = [&](bool holds, const char* what) {
    if (!holds) throw input_error(std::string(k.name) + ": --bound needs " + what);
  };
  needs(k.uses.by_hand, "an application on its own memory: weir bench --list");
  needs(c.data_in == storage::own, "--memory own");
  needs(c.init == first_touch::inside, "--init inside: where data lie is part of what is divided");
  needs(!c.parallel_control, "--control sequential: tasks are told apart by the order of their creation");
  needs(!c.annotate, "tasks that are not placed by --annotate");
}

void print_bound(const bound_request& r) { comparison(r).print(); }

}  // namespace weir::tools
