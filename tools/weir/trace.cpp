// weir trace: a summary of a trace for people and programs, and its task graph in the DOT language.
#include "trace.hpp"

#include "trace_file.hpp"
#include "trace_summary.hpp"

#include <bench/common/check.hpp>
#include <bench/common/plural.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <ranges>
#include <string_view>

namespace weir::tools {
namespace {

using bench::format_bytes;
using bench::plural;

struct trace_options {
  std::string file;
  bool json = false;
};

// Of names and workers. The others are summed up in a line: a screen holds no more.
constexpr std::size_t most_rows = 24;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string locality_text(const task_totals& t) { return t.locality() ? percent(*t.locality()) : "-"; }
double share(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole); }
std::string cut(const std::string& name, std::size_t width) { return name.size() <= width ? name : name.substr(0, width - 3) + "..."; }

using named_totals = std::pair<const std::string, task_totals>;

std::vector<const named_totals*> by_total(const trace_summary& s) {
  std::vector<const named_totals*> rows;
  for (const named_totals& row : s.by_name()) rows.push_back(&row);
  std::ranges::sort(rows, [](const named_totals* a, const named_totals* b) { return a->second.total_ns > b->second.total_ns; });
  return rows;
}

std::string header_text(const trace_summary& s) {
  const trace_about& a = s.about();
  std::string text = fmt::format("policy {}, {} on {} ({}): {} in {}\n", a.policy, plural(a.workers, "worker"),
                                 plural(a.nodes, "node"), a.machine, plural(s.all().count, "task"),
                                 time_text(static_cast<double>(s.span_ns())));
  for (const auto line : std::views::split(a.chosen, '\n'))
    if (!line.empty()) text += fmt::format("chosen: {}\n", std::string_view(line.begin(), line.end()));
  if (a.tasks_lost > 0)
    text += fmt::format("incomplete: {} ran besides, and found no room in the trace\n", plural(a.tasks_lost, "task"));
  return text;
}

std::string tasks_text(const trace_summary& s) {
  std::string text = fmt::format("\n{:<24} {:>10} {:>10} {:>10} {:>10} {:>7} {:>9} {:>11} {:>9} {:>9}\n", "tasks", "count", "median", "longest", "total", "share", "locality", "bytes", "stolen", "pushed");
  const auto row = [&](const std::string& name, const task_totals& t) {
    text += fmt::format("{:<24} {:>10} {:>10} {:>10} {:>10} {:>7} {:>9} {:>11} {:>9} {:>9}\n", cut(name, 24), t.count, time_text(t.durations.median()), time_text(static_cast<double>(t.longest_ns)), time_text(static_cast<double>(t.total_ns)),
                        percent(share(t.total_ns, s.all().total_ns)), locality_text(t), t.bytes == 0 ? "-" : format_bytes(t.bytes), t.stolen, t.pushed);
  };
  const auto rows = by_total(s);
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); i++) row(rows[i]->first, rows[i]->second);
  if (rows.size() > most_rows) text += fmt::format("and {} other names\n", rows.size() - most_rows);
  if (rows.size() > 1) row("all", s.all());
  if (s.all().failed + s.all().skipped > 0) text += fmt::format("{} failed, {} skipped\n", s.all().failed, s.all().skipped);
  return text;
}

std::string worker_row(const std::string& name, const worker_totals& w, std::uint64_t span, std::size_t workers) {
  return fmt::format("{:<24} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n", name, w.tasks, percent(share(w.busy_ns, span * workers)), percent(share(w.asleep_ns, span * workers)),
                     percent(std::max(0.0, 1 - share(w.busy_ns + w.asleep_ns, span * workers))), w.stolen, w.pushed);
}

// Worker by worker, or node by node if there are many.
std::string workers_text(const trace_summary& s) {
  const trace_about& a = s.about();
  std::string text = fmt::format("\n{:<24} {:>10} {:>10} {:>10} {:>10} {:>9} {:>9}\n", a.workers > static_cast<int>(most_rows) ? "nodes" : "workers", "tasks", "busy", "asleep", "other", "stolen", "pushed");
  std::vector<worker_totals> nodes(static_cast<std::size_t>(a.nodes));
  std::vector<std::size_t> workers(nodes.size(), 0);
  worker_totals all;
  const auto merge = [](worker_totals& to, const worker_totals& w) {
    to.tasks += w.tasks, to.busy_ns += w.busy_ns, to.asleep_ns += w.asleep_ns, to.stolen += w.stolen, to.pushed += w.pushed;
  };
  for (std::size_t w = 0; w < s.workers().size(); w++) {
    const auto node = static_cast<std::size_t>(a.worker_nodes[w]);
    merge(nodes[node], s.workers()[w]);
    merge(all, s.workers()[w]);
    workers[node]++;
    if (s.workers().size() <= most_rows) text += worker_row(fmt::format("worker {} (node {})", w, node), s.workers()[w], s.span_ns(), 1);
  }
  if (s.workers().size() > most_rows)
    for (std::size_t n = 0; n < nodes.size(); n++)
      if (workers[n] > 0)
        text += worker_row(fmt::format("node {} ({})", n, plural(workers[n], "worker")), nodes[n], s.span_ns(),
                           workers[n]);
  if (s.workers().size() > 1) text += worker_row("all", all, s.span_ns(), s.workers().size());
  return text;
}

// Who took from whom, if there is more than one node: the largest first.
std::string moves_text(const trace_summary& s) {
  const auto nodes = static_cast<std::size_t>(s.about().nodes);
  if (nodes < 2) return "";
  struct move {
    std::uint64_t steals, pushes;
    std::size_t from, to;
  };
  std::vector<move> moves;
  for (std::size_t from = 0; from <= nodes; from++)
    for (std::size_t to = 0; to < nodes; to++)
      if (s.steals()[from][to] + s.pushes()[from][to] > 0) moves.push_back({s.steals()[from][to], s.pushes()[from][to], from, to});
  if (moves.empty()) return "";
  std::ranges::sort(moves, [](const move& a, const move& b) { return a.steals + a.pushes > b.steals + b.pushes; });
  std::string text = fmt::format("\n{:<24} {:>10} {:>10}\n", "from node to node", "stolen", "pushed");
  constexpr std::size_t most_moves = 10;
  for (std::size_t i = 0; i < std::min(moves.size(), most_moves); i++) {
    const move& m = moves[i];
    text += fmt::format("{:<24} {:>10} {:>10}\n", m.from == nodes ? fmt::format("program -> {}", m.to) : fmt::format("{} -> {}", m.from, m.to), m.steals, m.pushes);
  }
  if (moves.size() > most_moves) text += fmt::format("and {} other pairs\n", moves.size() - most_moves);
  return text;
}

std::string path_text(const trace_summary& s) {
  const critical_path path = s.longest_path();
  if (path.tasks == 0) return "";
  std::string text = fmt::format("\ncritical path: {}, {}, {} of the run; workers busy at best: {:.1f}\n",
                                 plural(path.tasks, "task"), time_text(static_cast<double>(path.ns)),
                                 percent(share(path.ns, s.span_ns())), share(s.work().ns(), path.ns));
  std::vector<std::pair<std::uint64_t, std::string>> names;
  for (const auto& [name, sums] : path.by_name) names.emplace_back(sums.second, name);
  std::ranges::sort(names, std::greater<>());
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 5); i++)
    text += fmt::format("  {:<22} {:>10} {:>10}\n", cut(names[i].second, 22), path.by_name.at(names[i].second).first, time_text(static_cast<double>(names[i].first)));
  return text;
}

std::string one_sided_text(const trace_summary& s) {
  const auto run = s.work().one_sided(s.longest_path());
  return run ? "\n" + run->text + "\n" : "";
}

nlohmann::ordered_json one_sided_json(const trace_summary& s) {
  const auto run = s.work().one_sided(s.longest_path());
  if (!run) return {};
  const auto known = [](const auto& value, bool is) { return is ? nlohmann::ordered_json(value) : nullptr; };
  return {{"worker", known(run->worker, run->worker >= 0)}, {"node", known(run->node, run->node >= 0)},
          {"share", run->share}, {"reason", known(run->reason, !run->reason.empty())}, {"text", run->text}};
}

nlohmann::ordered_json totals_json(const task_totals& t) {
  nlohmann::ordered_json j = {{"count", t.count}, {"median_ns", t.durations.median()}, {"longest_ns", t.longest_ns}, {"total_ns", t.total_ns}, {"bytes", t.bytes}};
  j["locality"] = t.locality() ? nlohmann::ordered_json(*t.locality()) : nlohmann::ordered_json();
  j["stolen"] = t.stolen;
  j["pushed"] = t.pushed;
  j["failed"] = t.failed;
  j["skipped"] = t.skipped;
  return j;
}

std::string summary_json(const trace_summary& s) {
  const trace_about& a = s.about();
  nlohmann::ordered_json j = {{"policy", a.policy}, {"machine", a.machine}, {"nodes", a.nodes}, {"workers", a.workers}, {"tasks_lost", a.tasks_lost}, {"span_ns", s.span_ns()}};
  if (!a.chosen.empty()) j["chosen"] = a.chosen;
  j["all"] = totals_json(s.all());
  for (const named_totals* row : by_total(s)) {
    nlohmann::ordered_json t = {{"name", row->first}};
    t.update(totals_json(row->second));
    j["tasks"].push_back(t);
  }
  for (std::size_t w = 0; w < s.workers().size(); w++) {
    const worker_totals& t = s.workers()[w];
    j["per_worker"].push_back({{"worker", w}, {"node", a.worker_nodes[w]}, {"tasks", t.tasks}, {"busy_ns", t.busy_ns}, {"asleep_ns", t.asleep_ns}, {"stolen", t.stolen}, {"pushed", t.pushed}});
  }
  j["steals"] = s.steals();
  j["pushes"] = s.pushes();
  const critical_path path = s.longest_path();
  j["critical_path"] = {{"tasks", path.tasks}, {"ns", path.ns}};
  j["one_sided"] = one_sided_json(s);
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

void print_summary(const trace_options& o) {
  const trace_summary s(o.file);
  if (o.json) fmt::print("{}\n", summary_json(s));
  else
    fmt::print("{}{}{}{}{}{}", header_text(s), tasks_text(s), workers_text(s), moves_text(s), path_text(s),
               one_sided_text(s));
}

std::string dot_text(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') text += "\\n";
    else text += c;
  }
  return text;
}

// A node a task, filled by where it ran; an edge a dependence.
void print_dot(const trace_options& o) {
  static constexpr const char* fills[] = {"#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fcbba1", "#d9d9d9", "#c7e9c0", "#fee391"};
  std::string text = "digraph weir {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n";
  trace_handlers h;
  h.task = [&](const trace_task& t) {
    text += fmt::format("  \"{}.{}\" [label=\"{}\\nnode {}, {}\", fillcolor=\"{}\"];\n", t.id.worker, t.id.end, dot_text(t.name), t.node, time_text(static_cast<double>(t.end - t.begin)), fills[static_cast<std::size_t>(t.node) % std::size(fills)]);
    for (const trace_task_id& b : t.after) text += fmt::format("  \"{}.{}\" -> \"{}.{}\";\n", b.worker, b.end, t.id.worker, t.id.end);
  };
  read_trace(o.file, h);
  fmt::print("{}}}\n", text);
}

}  // namespace

void add_trace_command(CLI::App& app) {
  CLI::App* trace = app.add_subcommand("trace", "Read a trace that WEIR_TRACE or weir bench --trace has written");
  trace->require_subcommand(1);
  auto o = std::make_shared<trace_options>();
  CLI::App* summary = trace->add_subcommand("summary", "Tasks by name, workers, steals and pushes, critical path");
  summary->add_option("file", o->file, "a trace that weir has written")->type_name("FILE")->required();
  summary->add_flag("--json", o->json, "Print JSON, for programs");
  summary->callback([o] { print_summary(*o); });
  CLI::App* dot = trace->add_subcommand("dot", "The task graph in the DOT language, for graphviz; for some hundred tasks");
  dot->add_option("file", o->file, "a trace that weir has written")->type_name("FILE")->required();
  dot->callback([o] { print_dot(*o); });
}

}  // namespace weir::tools
