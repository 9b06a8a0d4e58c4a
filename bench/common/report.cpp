// Medians, units and columns.
#include <bench/common/report.hpp>

#include <bench/common/check.hpp>
#include <bench/common/median.hpp>
#include <bench/common/plural.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace weir::bench {

namespace {

template <class Value>
double median_of(const run_group& g, const Value& value) {
  std::vector<double> values;
  for (const run_result& r : g.runs) values.push_back(static_cast<double>(value(r)));
  return median(values);
}

std::string format_seconds(double s) {
  if (s < 1e-3) return fmt::format("{:.1f} us", s * 1e6);
  return s < 1 ? fmt::format("{:.2f} ms", s * 1e3) : fmt::format("{:.3f} s", s);
}

const char* yes_no(const run_group& g) {
  if (!g.runs.front().verified) return "-";
  return std::all_of(g.runs.begin(), g.runs.end(), [](const run_result& r) { return r.verified->passed; }) ? "yes" : "NO";
}

// "-" where the runtime knows of no bytes: on shared arrays tasks depend on each other, and name no memory.
std::string locality_text(const run_group& g) {
  if (!g.runs.front().counts.locality()) return "-";
  return fmt::format("{:.1f}%", 100 * median_of(g, [](const run_result& r) { return r.counts.locality().value_or(0); }));
}

std::string row(const run_group& g, double serial_seconds) {
  const double seconds = median_of(g, [](const run_result& r) { return r.seconds; });
  const auto [fastest, slowest] = std::minmax_element(g.runs.begin(), g.runs.end(), [](const run_result& a, const run_result& b) { return a.seconds < b.seconds; });
  const auto count = [&](auto value) { return fmt::format("{:.0f}", median_of(g, value)); };
  std::string pushes = count([](const run_result& r) { return r.counts.pushes; });
  const std::string refused = count([](const run_result& r) { return r.counts.pushes_refused; });
  if (refused != "0") pushes = fmt::format("{} ({} refused)", pushes, refused);
  const double peak = median_of(g, [](const run_result& r) { return r.counts.peak_buffer_bytes; });
  return fmt::format("  {:<16} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8} {:>10} {:>11} {:>8} {:>9} {:>8}\n", g.policy, format_seconds(seconds), format_seconds(fastest->seconds), format_seconds(slowest->seconds),
                     count([](const run_result& r) { return r.counts.tasks; }), count([](const run_result& r) { return r.nanoseconds_per_task(); }),
                     serial_seconds > 0 ? fmt::format("{:.2f}x", serial_seconds / seconds) : "-", locality_text(g), format_bytes(static_cast<std::uint64_t>(peak)),
                     count([](const run_result& r) { return r.counts.steals(); }), pushes, yes_no(g));
}

// What the processor counted in the runs, as far as it did: a line, or nothing.
std::string counted_text(const run_group& g) {
  std::vector<double> lines, locality;
  for (const run_result& r : g.runs) {
    if (!r.counted) continue;
    const auto instructions = r.counted->instructions, from_memory = r.counted->lines();
    const auto share = r.counted->memory_locality();
    if (instructions && from_memory && *instructions > 0) lines.push_back(1000 * *from_memory / *instructions);
    if (share) locality.push_back(*share);
  }
  std::string text;
  if (!lines.empty()) text += fmt::format(", {:.2f} lines from memory per thousand instructions", median(lines));
  if (!locality.empty()) text += fmt::format(", {:.1f} % of loads from memory on the own node", 100 * median(locality));
  return text.empty() ? text : fmt::format("  {:<16} {}\n", g.policy, text.substr(2));
}

// "medians of 5 rounds, after 1 that does not count": what the numbers below are.
std::string rounds_text(std::size_t repeats, int warm_up) {
  std::string text = repeats > 1 ? fmt::format("medians of {}", plural(repeats, "round")) : "one run each";
  if (warm_up > 0) text += fmt::format(", after {} that {} not count", warm_up, warm_up == 1 ? "does" : "do");
  return text;
}

std::string_view control_of(const configuration& c) {
  if (!c.parallel_control) return "sequential";
  switch (c.where_created) {
    case creators::dealt: return "parallel";
    case creators::stolen: return "stolen";
    case creators::scattered: return "scattered";
  }
  return "?";
}

std::string title(const run_request& request, const run_result& r) {
  const kernel& k = *request.what;
  const configuration& c = request.problem;
  std::string text = fmt::format("{}  size {}  block {}", k.name, format_size(c.size), format_size(c.block));
  if (k.uses.iterations) text += fmt::format("  iterations {}", c.iterations);
  if (k.uses.clusters) text += fmt::format("  clusters {}", c.clusters);
  if (k.uses.bins) text += fmt::format("  bins {}", c.bins);
  if (c.parallel_control) text += fmt::format("  {} control", control_of(c));
  if (c.data_in == storage::shared) text += "  shared";
  if (c.load_store) text += "  with load and store";
  if (c.data_in == storage::own) text += fmt::format("  own memory  init {}", name_of(c.init));
  if (c.annotate) text += "  annotated";
  return text + fmt::format("  workers {}  nodes {}  live set {}\n", r.workers, r.nodes, format_bytes(r.live_bytes));
}

}  // namespace

std::string to_json(const run_request& request, const run_result& r, int repeat, const page_checker* pages) {
  const configuration& c = request.problem;
  nlohmann::ordered_json j;
  j["kernel"] = request.what->name;
  j["policy"] = r.policy;
  j["workers"] = r.workers;
  j["nodes"] = r.nodes;
  if (!request.how.machine.empty()) j["machine"] = request.how.machine;
  j["size"] = c.size;
  j["block"] = c.block;
  j["iterations"] = request.what->uses.iterations ? nlohmann::ordered_json(c.iterations) : nlohmann::ordered_json();
  if (request.what->uses.clusters) j["clusters"] = c.clusters;
  if (request.what->uses.bins) j["bins"] = c.bins;
  j["control"] = control_of(c);
  j["memory"] = name_of(c.data_in);
  j["shared"] = c.data_in == storage::shared;
  j["load_store"] = c.load_store;
  j["init"] = c.data_in == storage::own ? nlohmann::ordered_json(name_of(c.init)) : nlohmann::ordered_json();
  j["annotated"] = c.annotate;
  j["repeat"] = repeat;
  j["tasks"] = r.counts.tasks;
  j["tasks_of_busiest_worker"] = r.counts.tasks_of_busiest_worker();
  j["seconds"] = r.seconds;
  j["ns_per_task"] = r.nanoseconds_per_task();
  const auto locality = r.counts.locality();
  j["locality"] = locality ? nlohmann::ordered_json(*locality) : nlohmann::ordered_json();
  j["bytes"] = {{"read_local", r.counts.read_local()}, {"read_remote", r.counts.read_remote()}, {"write_local", r.counts.write_local()}, {"write_remote", r.counts.write_remote()}};
  j["live_bytes"] = r.live_bytes;
  j["peak_buffer_bytes"] = r.counts.peak_buffer_bytes;
  j["steals"] = r.counts.steals();
  j["pushes"] = r.counts.pushes;
  j["pushes_refused"] = r.counts.pushes_refused;
  j["pages_moved"] = r.counts.pages_moved;
  j["pages_refused"] = r.counts.pages_refused;
  j["moving_ns"] = r.counts.moving_ns;
  j["lost_before_moving_ns"] = r.counts.lost_before_moving_ns;
  const auto one = r.counts.one_sidedness();
  j["one_sided"] = one ? nlohmann::ordered_json(name_of(one->why)) : nlohmann::ordered_json();
  if (r.counted)
    for (const auto& [name, value] : r.counted->fields()) j[name] = value;
  if (!r.counters_missing.empty()) j["counters_missing"] = r.counters_missing;
  j["verified"] = r.verified ? nlohmann::ordered_json(r.verified->passed) : nlohmann::ordered_json();
  if (r.verified) j["largest_difference"] = r.verified->largest_difference, j["tolerance"] = r.verified->tolerance;
  if (pages) j["pages_checked"] = pages->checked(), j["pages_misplaced"] = pages->misplaced(), j["pages_unknown"] = pages->unknown();
  return j.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_table(const run_request& request, const std::vector<run_group>& groups, double serial_seconds,
                     int warm_up) {
  std::string text = title(request, groups.front().runs.front());
  text += fmt::format("  {}", rounds_text(groups.front().runs.size(), warm_up));
  if (serial_seconds > 0)
    text += fmt::format("; speed-up over the sequential program, {} on one CPU", format_seconds(serial_seconds));
  text += "\n";
  text += fmt::format("  {:<16} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8} {:>10} {:>11} {:>8} {:>9} {:>8}\n", "policy", "time", "fastest", "slowest", "tasks", "ns/task", "speedup", "locality", "peak bytes", "steals", "pushes", "verified");
  for (const run_group& g : groups) text += row(g, serial_seconds);
  for (const run_group& g : groups) text += counted_text(g);
  return text;
}

}  // namespace weir::bench
