// One pass over a trace: columns for each worker, short tasks summed up on the way if there are many.
#include "timeline.hpp"

#include <bench/common/plural.hpp>
#include <tools/weir/trace_summary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <vector>

namespace weir::tools {
namespace {

using bench::plural;

using json = nlohmann::ordered_json;

// A task, or several short ones of a worker that follow each other.
struct entry {
  std::uint64_t begin = 0, end = 0, busy = 0, count = 1, bytes = 0, local = 0;
  int name = 0, home = -1, origin = 0, flags = 0;
};

struct lane {
  std::vector<entry> entries;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sleeps;
};

class collector {
 public:
  explicit collector(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

  void begin(const trace_about& a) {
    lanes_.resize(static_cast<std::size_t>(a.workers));
    nodes_ = a.nodes;
    if (a.tasks > most_) resolution_ = std::max<std::uint64_t>(1, a.run_ns * static_cast<std::uint64_t>(a.workers) / most_);
  }
  void task(const trace_task& t, int name) {
    entry e{.begin = t.begin, .end = t.end, .busy = t.end - t.begin, .bytes = t.bytes(), .local = t.local(), .name = name, .home = t.home};
    if (t.from != trace_task::origin::own) e.origin = (t.from == trace_task::origin::stolen ? 1 : -1) * (t.from_worker + 2);
    e.flags = (t.nested ? 1 : 0) | (t.failed || t.skipped ? 2 : 0);
    auto& entries = lanes_[static_cast<std::size_t>(t.worker)].entries;
    if (resolution_ > 0 && e.end - e.begin < resolution_ && !entries.empty() && joins(entries.back(), e)) join(entries.back(), e);
    else entries.push_back(e);
  }
  void sleep(const trace_sleep& s) {
    if (s.end - s.begin >= resolution_) lanes_[static_cast<std::size_t>(s.worker)].sleeps.emplace_back(s.begin, s.end);
  }
  void buffers(const trace_buffers& b) {
    auto& [times, bytes] = buffers_[b.node >= 0 ? fmt::format("node {}", b.node) : std::string(b.name)];
    times.push_back(b.time);
    bytes.push_back(b.bytes);
    if (b.node >= 0) order_[fmt::format("node {}", b.node)] = b.node;
  }
  bool summed_up() const { return resolution_ > 0; }
  std::uint64_t resolution() const { return resolution_; }

  json lanes(std::uint64_t start) {
    json all = json::array();
    for (lane& l : lanes_) all.push_back(columns(l, start));
    return all;
  }
  json buffer_curves(std::uint64_t start) const {
    std::vector<std::string> names;
    for (const auto& [name, samples] : buffers_) names.push_back(name);
    std::ranges::sort(names, {}, [&](const std::string& n) { return order_.contains(n) ? order_.at(n) : nodes_; });
    json all = json::array();
    for (const std::string& name : names) {
      const auto& [times, bytes] = buffers_.at(name);
      json t = json::array();
      for (const std::uint64_t at : times) t.push_back(at < start ? 0 : at - start);
      all.push_back({{"name", name}, {"times", t}, {"bytes", bytes}});
    }
    return all;
  }

 private:
  // Neighbours in one span of the resolution; not what lies within another task, nor what was taken from elsewhere.
  bool joins(const entry& last, const entry& e) const {
    return e.begin >= last.end && e.begin - last.begin < resolution_ && last.end - last.begin < resolution_ && (e.flags | last.flags) == 0;
  }
  static void join(entry& last, const entry& e) {
    last.end = e.end;
    last.busy += e.busy;
    last.count++;
    last.bytes += e.bytes;
    last.local += e.local;
    last.origin = 0;
  }
  // Times are differences: half of the digits. Tasks that wait come before those that they wait for.
  static json columns(lane& l, std::uint64_t start) {
    std::ranges::sort(l.entries, [](const entry& a, const entry& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
    std::ranges::sort(l.sleeps);
    json j;
    for (const char* name : {"begin", "time", "busy", "count", "name", "bytes", "local", "home", "origin", "flags", "sleep_begin", "sleep_time"}) j[name] = json::array();
    std::uint64_t before = start;
    for (const entry& e : l.entries) {
      j["begin"].push_back(e.begin - before);
      before = e.begin;
      j["time"].push_back(e.end - e.begin);
      j["busy"].push_back(e.busy);
      j["count"].push_back(e.count);
      j["name"].push_back(e.name);
      j["bytes"].push_back(e.bytes);
      j["local"].push_back(e.local);
      j["home"].push_back(e.home);
      j["origin"].push_back(e.origin);
      j["flags"].push_back(e.flags);
    }
    before = start;
    for (auto [begin, end] : l.sleeps) {
      begin = std::max(begin, start);  // before the first task they only wait for it
      if (end <= begin) continue;
      j["sleep_begin"].push_back(begin - before);
      before = begin;
      j["sleep_time"].push_back(end - begin);
    }
    return j;
  }

  const std::size_t most_;
  int nodes_ = 0;
  std::uint64_t resolution_ = 0;  // ns; 0: every task by itself
  std::vector<lane> lanes_;
  std::map<std::string, std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>>> buffers_;
  std::map<std::string, int> order_;
};

json names_of(const trace_summary& s, const std::vector<std::string>& names) {
  json all = json::array();
  for (const std::string& name : names) {
    const task_totals& t = s.by_name().at(name);
    json j = {{"name", name}, {"count", t.count}, {"median_ns", t.durations.median()}, {"longest_ns", t.longest_ns}, {"total_ns", t.total_ns}};
    j["locality"] = t.locality() ? json(*t.locality()) : json();
    j["stolen"] = t.stolen;
    j["pushed"] = t.pushed;
    all.push_back(j);
  }
  return all;
}

}  // namespace

bool looks_like_trace(const std::string& path) {
  std::ifstream in(path);
  std::string begin(64, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin.find("\"otherData\"") != std::string::npos || begin.find("\"traceEvents\"") != std::string::npos;
}

json trace_data(const std::string& path, std::size_t most_tasks) {
  const trace_summary s(path);
  std::vector<std::string> names;
  for (const auto& [name, totals] : s.by_name()) names.push_back(name);
  std::ranges::sort(names, std::greater<>(), [&](const std::string& n) { return s.by_name().at(n).total_ns; });
  std::map<std::string, int, std::less<>> index;
  for (std::size_t i = 0; i < names.size(); i++) index[names[i]] = static_cast<int>(i);

  collector c(most_tasks);
  trace_handlers h;
  h.about = [&](const trace_about& a) { c.begin(a); };
  h.task = [&](const trace_task& t) { c.task(t, index.find(t.name)->second); };
  h.sleep = [&](const trace_sleep& x) { c.sleep(x); };
  h.buffers = [&](const trace_buffers& b) { c.buffers(b); };
  read_trace(path, h);

  const trace_about& a = s.about();
  std::string note = fmt::format("policy {}, {} on {} of {}: {} in {}.", a.policy, plural(a.workers, "worker"),
                                 plural(a.nodes, "node"), a.machine, plural(s.all().count, "task"),
                                 time_text(static_cast<double>(s.span_ns())));
  if (const auto locality = s.all().locality()) note += fmt::format(" Locality {:.1f} %.", 100 * *locality);
  if (c.summed_up()) note += fmt::format(" Neighbours shorter than {} are summed up.", time_text(static_cast<double>(c.resolution())));
  if (a.tasks_lost > 0)
    note += fmt::format(" {} ran besides, and found no room in the trace.", plural(a.tasks_lost, "task"));
  json j = {{"title", "Trace " + std::filesystem::path(path).filename().string()}, {"note", note}, {"nodes", a.nodes}, {"span_ns", s.span_ns()}, {"worker_nodes", a.worker_nodes}, {"bytes_read", a.bytes_read}, {"bytes_written", a.bytes_written}};
  j["names"] = names_of(s, names);
  j["buffers"] = c.buffer_curves(s.begin_ns());
  j["lanes"] = c.lanes(s.begin_ns());
  return j;
}

}  // namespace weir::tools
