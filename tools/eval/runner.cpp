// Command lines, processes, and result lines.
#include "runner.hpp"

#include "process.hpp"

#include <bench/common/kernel.hpp>
#include <machine/machine.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace weir::tools {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr const char* shell = "/bin/sh";

// Keys of a region, as weir emulate reports it, that become fields of the result line. Those by pair of nodes are left
// out: 1152 numbers a run on 24 nodes.
constexpr const char* region_keys[] = {"virtual_ms", "lines", "read_lines_by_class", "write_lines_by_class", "contention", "queue_ms", "shared_cache_hits", "accesses",
                                       "user_minsns", "kernel_minsns", "page_faults", "pages_moved", "system_calls", "idle_ms", "skew_breaks"};

struct mismatch {
  std::string what;
};

bool is_result(std::string_view line) { return line.starts_with('{'); }

std::vector<json> results_in(const std::string& text) {
  std::vector<json> results;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!is_result(line)) continue;
    json j = json::parse(line, nullptr, false);
    if (j.is_discarded()) throw mismatch{fmt::format("it printed a line that is no JSON: {}", line.substr(0, 200))};
    results.push_back(std::move(j));
  }
  return results;
}

// Adds what was measured in a region. prefix: "" or the region's name and "_".
void add_region(json& line, const nlohmann::json& region, const std::string& prefix) {
  if (!region.value("complete", false)) throw mismatch{"a region was not ended by the program"};
  for (const char* key : region_keys)
    if (region.contains(key)) line[prefix + key] = region[key];
  line[prefix + "memory_locality"] = region.value("locality", nlohmann::json());
  line[prefix + "time_ms"] = region.value("virtual_ms", 0.0);
}

// On the host the program's own time stands for the region's.
void add_host_time(json& line, const std::string& prefix) {
  const auto seconds = line.find(prefix + "seconds");
  if (seconds != line.end() && seconds->is_number()) line[prefix + "time_ms"] = seconds->get<double>() * 1e3;
}

// The last line that the command said about itself, or the last one at all.
std::string complaint(const std::string& errors, int status) {
  std::istringstream in(errors);
  std::string last, own;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || is_result(line)) continue;
    last = line;
    if (line.starts_with("weir: ") && !line.starts_with("weir: note:")) own = line.substr(6);
  }
  const std::string& said = own.empty() ? last : own;
  return said.empty() ? fmt::format("it ended with status {}", status) : said;
}

}  // namespace

group_runner::group_runner(const plan& p, std::string command) : plan_(p), weir_(std::move(command)), folder_(fs::path(weir_).parent_path()) {
  const machine::description m = p.emulated() ? machine::load(p.machine) : machine::host();
  class_names_ = m.class_names;
  classes_ = m.distance_class;
  nodes_ = m.nodes.size();
}

std::optional<std::string> group_runner::missing_program(const run_group& g) const {
  for (const arguments& program : g.programs)
    if (const std::string path = resolved(program)[0]; ::access(path.c_str(), X_OK) != 0) return path;
  return std::nullopt;
}

// Programs lie beside the weir command, unless they have a path of their own.
arguments group_runner::resolved(const arguments& program) const {
  arguments all = program;
  if (all[0] == "weir") all[0] = weir_;
  else if (!all[0].starts_with('/') && !all[0].starts_with("./") && !all[0].starts_with("../")) all[0] = folder_ + "/" + all[0];
  return all;
}

// Several programs run one after the other under a shell; into a guest they are taken along.
arguments group_runner::command_of(const run_group& g) const {
  arguments command, program = resolved(g.programs[0]);
  if (plan_.emulated()) {
    command = {weir_, "emulate", "--json", "--roi", "--machine", plan_.machine, "--timeout", fmt::format("{:g}", plan_.timeout_s)};
    command.insert(command.end(), g.emulate.begin(), g.emulate.end());
  }
  if (g.programs.size() > 1) {
    std::string script;
    std::vector<std::string> files;
    for (const arguments& each : g.programs) {
      const arguments whole = resolved(each);
      script += (script.empty() ? "" : " && ") + shell_text(whole);
      if (std::ranges::find(files, whole[0]) == files.end()) files.push_back(whole[0]);
    }
    for (const std::string& file : files)
      if (plan_.emulated()) command.insert(command.end(), {"--file", file});
    program = {shell, "-c", script};
  }
  if (plan_.emulated()) command.emplace_back("--");
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

group_outcome group_runner::run(const run_group& g, const std::function<void()>& printed) const {
  group_outcome outcome;
  const numa_balancing_setting balancing(g.numa_balancing);
  if (!balancing.done()) {
    outcome.failure = "the kernel's numa_balancing could not be switched";
    return outcome;
  }
  // The emulator has a limit of its own, and ends more gently.
  const watched_program what = {command_of(g), plan_.emulated() ? 0 : plan_.timeout_s, g.cpus};
  const watched_process done = run_watched(what, [&](std::string_view line) {
    if (is_result(line)) printed();
  });
  outcome.interrupted = done.interrupted;
  if (done.interrupted != 0) return outcome;
  if (done.timed_out) outcome.failure = fmt::format("it had not ended after {:g} s", plan_.timeout_s);
  else if (done.status != 0) outcome.failure = complaint(done.errors, done.status);
  outcome.hopeless = outcome.failure.starts_with("cannot emulate here");
  if (!outcome.failure.empty()) return outcome;
  try {
    nlohmann::json emulated;
    if (plan_.emulated()) {
      emulated = nlohmann::json::parse(done.output, nullptr, false);
      if (!emulated.is_object() || !emulated.contains("regions")) throw mismatch{"weir emulate did not say what it measured"};
    }
    outcome.lines = with_regions(g, results_in(plan_.emulated() ? done.errors : done.output), emulated);
  } catch (const mismatch& e) {
    outcome.failure = e.what;
  }
  return outcome;
}

std::vector<json> group_runner::with_regions(const run_group& g, std::vector<json> lines, const nlohmann::json& emulated) const {
  for (const auto& [name, number] : g.regions) {
    if (!plan_.emulated()) break;
    std::vector<const nlohmann::json*> runs;
    for (const auto& r : emulated["regions"])
      if (r.value("number", -1) == number) runs.push_back(&r);
    if (runs.size() != lines.size()) throw mismatch{fmt::format("it printed {} results and marked region {} {} times; expected as many", lines.size(), number, runs.size())};
    for (std::size_t i = 0; i < runs.size(); i++) add_region(lines[i], *runs[i], name.empty() ? "" : name + "_");
  }
  if (lines.empty()) throw mismatch{"it printed no result"};
  for (json& line : lines) {
    if (!plan_.emulated())
      for (const auto& [name, number] : g.regions) add_host_time(line, name.empty() ? "" : name + "_");
    name_distance(line);
    if (line.value("verified", json()) == false) throw mismatch{"a result was not verified"};
  }
  return lines;
}

// A line about a pair of nodes also gets the class of their distance.
void group_runner::name_distance(json& line) const {
  const auto from = line.find("from_node"), to = line.find("to_node");
  if (from == line.end() || to == line.end() || !from->is_number_unsigned() || !to->is_number_unsigned()) return;
  const std::size_t pair = from->get<std::size_t>() * nodes_ + to->get<std::size_t>();
  if (from->get<std::size_t>() < nodes_ && to->get<std::size_t>() < nodes_ && pair < classes_.size()) line["distance"] = class_names_[static_cast<std::size_t>(classes_[pair])];
}

}  // namespace weir::tools
