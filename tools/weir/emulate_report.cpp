// From counts to shares, and to text.
#include "emulate_report.hpp"

#include "emulate_functions.hpp"
#include "spaced.hpp"

#include <bench/common/plural.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace weir::tools {
namespace {

using emulator::region_report;
using lines = std::vector<std::uint64_t>;

double milliseconds(std::uint64_t ps) { return static_cast<double>(ps) / 1e9; }
std::uint64_t sum(const lines& v) { return std::accumulate(v.begin(), v.end(), std::uint64_t{0}); }

std::string region_name(const emulated_run& run, int number) {
  if (const auto at = run.names.find(number); at != run.names.end()) return at->second;
  return number == emulator::whole_program ? "program" : fmt::format("region {}", number);
}

// Adds up node pairs: by class of distance, or by the node that served them.
lines by_class(const machine::description& m, const lines& by_pair) {
  lines sums(m.class_names.size());
  for (std::size_t i = 0; i < by_pair.size(); i++) sums[static_cast<std::size_t>(m.distance_class[i])] += by_pair[i];
  return sums;
}

lines by_server(std::size_t nodes, const region_report& r) {
  lines sums(nodes);
  for (std::size_t i = 0; i < r.counted.read_lines.size(); i++) sums[i % nodes] += r.counted.read_lines[i] + r.counted.write_lines[i];
  return sums;
}

// Of the lines that came from memory, the share from the CPU's own node; nothing if none did.
std::optional<double> locality(const lines& read, const lines& written) {
  const std::uint64_t all = sum(read) + sum(written);
  if (all == 0) return std::nullopt;
  return static_cast<double>(read[0] + written[0]) / static_cast<double>(all);
}

// The busiest controller's share of the lines against an equal one; 1 is balanced, the number of nodes the worst.
double contention(const lines& served) {
  const std::uint64_t all = sum(served);
  return all == 0 ? 1 : static_cast<double>(*std::max_element(served.begin(), served.end()) * served.size()) / static_cast<double>(all);
}

nlohmann::ordered_json matrix(const lines& by_pair, std::size_t nodes) {
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t from = 0; from < nodes; from++) rows.push_back(lines(by_pair.begin() + static_cast<std::ptrdiff_t>(from * nodes), by_pair.begin() + static_cast<std::ptrdiff_t>((from + 1) * nodes)));
  return rows;
}

nlohmann::ordered_json region_json(const emulated_run& run, const region_report& r) {
  const std::size_t nodes = run.machine.nodes.size();
  const lines read = by_class(run.machine, r.counted.read_lines), written = by_class(run.machine, r.counted.write_lines), served = by_server(nodes, r);
  const auto near = locality(read, written);
  nlohmann::ordered_json json = {{"region", region_name(run, r.number)},
                                 {"number", r.number},
                                 {"run", r.run},
                                 {"complete", r.complete},
                                 {"virtual_ms", milliseconds(r.end_ps - r.begin_ps)},
                                 {"locality", near ? nlohmann::ordered_json(*near) : nlohmann::ordered_json()},
                                 {"lines", sum(served)},
                                 {"read_lines_by_class", read},
                                 {"write_lines_by_class", written},
                                 {"lines_served_by_node", served},
                                 {"contention", contention(served)},
                                 {"queue_ms", milliseconds(r.counted.queue_ps)},
                                 {"shared_cache_hits", r.counted.shared_cache_hits},
                                 {"accesses", r.counted.accesses},
                                 {"user_minsns", static_cast<double>(r.counted.instructions) / 1e6},
                                 {"kernel_minsns", static_cast<double>(r.counted.kernel_instructions) / 1e6},
                                 {"page_faults", r.counted.page_faults},
                                 {"pages_moved", r.counted.migrations},
                                 {"system_calls", r.counted.system_calls},
                                 {"idle_ms", milliseconds(r.counted.idle_ps)},
                                 {"skew_breaks", r.counted.skew_breaks},
                                 {"read_lines_by_pair", matrix(r.counted.read_lines, nodes)},
                                 {"write_lines_by_pair", matrix(r.counted.write_lines, nodes)}};
  if (run.profile) json["functions"] = functions_json(r.counted.code, run.profile->names);
  return json;
}

std::string row(const std::string& name, const std::string& value, const std::string& remark = {}) { return fmt::format("  {:<24}{:>15}{}{}\n", name, value, remark.empty() ? "" : "  ", remark); }

std::string region_text(const emulated_run& run, const region_report& r) {
  const auto& c = r.counted;
  const lines read = by_class(run.machine, c.read_lines), written = by_class(run.machine, c.write_lines), served = by_server(run.machine.nodes.size(), r);
  std::string text = fmt::format("\n{}{}{}\n", region_name(run, r.number), r.run > 0 ? fmt::format(", run {}", r.run + 1) : "", r.complete ? "" : ", not ended by the program");
  text += row("virtual time", fmt::format("{:.3f} ms", milliseconds(r.end_ps - r.begin_ps)));
  const auto near = locality(read, written);
  text += row("locality", near ? fmt::format("{:.1f} %", 100 * *near) : "-", "lines that came from the CPU's own node");
  text += fmt::format("  {:<24}{:>15}{:>15}\n", "lines from memory", "read", "written");
  for (std::size_t k = 0; k < read.size(); k++)
    text += fmt::format("    {:<22}{:>15}{:>15}\n", run.machine.class_names[k], spaced(read[k]), spaced(written[k]));
  const auto busiest = std::max_element(served.begin(), served.end());
  text += row("busiest controller", fmt::format("{:.2f} x", contention(served)),
              fmt::format("an equal share: node {} served {} of {}", busiest - served.begin(),
                          bench::plural(*busiest, "line", spaced(*busiest)), spaced(sum(served))));
  text += row("waiting for controllers", fmt::format("{:.3f} ms", milliseconds(c.queue_ps)), "sum over CPUs");
  if (run.model->shared_cache_bytes > 0) text += row("shared cache hits", spaced(c.shared_cache_hits));
  text += row("page faults", spaced(c.page_faults));
  text += row("pages moved", spaced(c.migrations));
  text += row("system calls", spaced(c.system_calls));
  if (c.skew_breaks > 0)
    text += fmt::format("  The CPUs' clocks came apart {}, because this machine was busy: times are less exact.\n",
                        bench::plural(c.skew_breaks, "time"));
  if (run.profile) text += functions_text(c.code, run.profile->names, run.profile->rows, run.profile->program);
  return text;
}

}  // namespace

nlohmann::ordered_json emulate_json(const emulated_run& run) {
  nlohmann::ordered_json json = {{"machine", run.machine.name}, {"nodes", run.shape.nodes()}, {"cpus", run.shape.cpus}, {"memory_mib", run.shape.memory_mib}, {"classes", run.machine.class_names}, {"status", run.status},
                                 {"out_of_memory", run.result.out_of_memory}, {"boots", run.result.boots}, {"boot_seconds", run.result.boot_seconds}, {"seconds", run.result.seconds}, {"notes", run.shape.notes}};
  if (!run.model) return json;
  json["cache_kib"] = run.model->cache_bytes >> 10;
  json["shared_cache_kib"] = run.model->shared_cache_bytes >> 10;
  json["regions"] = nlohmann::ordered_json::array();
  for (const region_report& r : run.result.regions) json["regions"].push_back(region_json(run, r));
  return json;
}

std::string emulate_text(const emulated_run& run) {
  if (!run.model) return {};
  const std::string shared = run.model->shared_cache_bytes > 0 ? fmt::format(", {} KiB shared by a node", run.model->shared_cache_bytes >> 10) : "";
  std::string text = fmt::format("\n{}: {}, {} with {} KiB of cache each{}\n", run.machine.name,
                                 bench::plural(run.shape.nodes(), "node"), bench::plural(run.shape.cpu_count(), "CPU"),
                                 run.model->cache_bytes >> 10, shared);
  for (const std::string& note : run.shape.notes) text += note + "\n";
  for (const region_report& r : run.result.regions) text += region_text(run, r);
  if (run.result.regions.empty()) text += "The program marked no region (weir/region.h): there is nothing to report. Without --roi all of it counts.\n";
  return text;
}

}  // namespace weir::tools
