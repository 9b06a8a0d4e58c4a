// From lines to charts: lines of one machine and number of workers make a section, runs of one bar are summed up.
#include "results.hpp"

#include <bench/common/kernel.hpp>
#include <tools/eval/figures.hpp>
#include <tools/eval/store.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace weir::tools {
namespace {

using bench::input_error;
using json = nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const char* key, const char* expected) {
  throw input_error(fmt::format("{}: \"{}\" is not there or no {}; expected lines as weir bench --json, of this version, prints them", where, key, expected));
}

std::string text_of(const json& line, const char* key, const std::string& where) {
  if (const auto at = line.find(key); at != line.end() && at->is_string()) return at->get<std::string>();
  refuse(where, key, "text");
}

double number_of(const json& line, const char* key, const std::string& where) {
  if (const auto at = line.find(key); at != line.end() && at->is_number() && at->get<double>() >= 0) return at->get<double>();
  refuse(where, key, "number of 0 or more");
}

std::string size_of(const json& line) {
  std::string text;
  if (const auto at = line.find("size"); at != line.end() && at->is_array())
    for (const json& n : *at)
      if (n.is_number()) text += fmt::format("{}{}", text.empty() ? "" : "x", n.get<std::uint64_t>());
  return text;
}

// A kernel and its variant. The size is part of it: bars of different problems do not stand side by side.
std::string problem_of(const json& line, const std::string& kernel) {
  std::string text = kernel;
  if (const std::string size = size_of(line); !size.empty()) text += " " + size;
  if (const json control = line.value("control", json()); control.is_string() && control != "sequential")
    text += fmt::format(", {} control", control.get<std::string>());
  if (line.value("shared", json()) == true) text += ", shared";
  if (line.value("memory", json()) == "own") text += ", own memory";
  return text;
}

void remember(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// A machine file is known by its name.
std::string machine_name(const std::string& machine) { return machine.ends_with(".toml") ? std::filesystem::path(machine).stem().string() : machine; }

const char* workers_word(double n) { return n == 1 ? "worker" : "workers"; }

}  // namespace

namespace {

// Of numbers of any size: squares of differences from the mean, not differences of squares.
std::optional<double> sample_deviation(const std::vector<double>& x) {
  if (x.size() < 2) return std::nullopt;
  double sum = 0, squares = 0;
  for (const double v : x) sum += v;
  const double mean = sum / static_cast<double>(x.size());
  for (const double v : x) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(x.size() - 1));
}

}  // namespace

chart_value summed_up(std::vector<double> x) {
  std::ranges::sort(x);
  const std::size_t n = x.size();
  return {n % 2 == 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2, x.front(), x.back(), n, sample_deviation(x)};
}

namespace {

nlohmann::ordered_json to_json(const chart_value& v) {
  nlohmann::ordered_json j = {{"median", v.median}, {"low", v.low}, {"high", v.high}, {"n", v.n}, {"deviation", nullptr}};
  if (v.deviation) j["deviation"] = *v.deviation;
  return j;
}

}  // namespace

nlohmann::ordered_json to_json(const chart_section& s) {
  nlohmann::ordered_json j = {{"title", s.title}, {"note", s.note}, {"charts", nlohmann::ordered_json::array()}};
  for (const chart& c : s.charts) {
    nlohmann::ordered_json k = {{"title", c.title}, {"note", c.note}, {"axis", c.axis}, {"unit", c.unit}, {"groups", c.groups}, {"series", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < c.series.size(); i++) {
      nlohmann::ordered_json values = nlohmann::ordered_json::array();
      for (const auto& v : c.values[i])
        values.push_back(v ? to_json(*v) : nullptr);
      k["series"].push_back({{"name", c.series[i]}, {"values", values}});
    }
    j["charts"].push_back(k);
  }
  if (!s.not_drawn.empty()) j["not_drawn"] = s.not_drawn;
  return j;
}

void result_reader::add_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw input_error(path + ": cannot be read: " + std::strerror(errno));
  std::size_t number = 0, results = 0;
  in_evaluation_ = false;
  for (std::string line; std::getline(in, line);) {
    number++;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = fmt::format("{}: line {}", path, number);
    const json j = json::parse(line, nullptr, false);
    if (j.is_discarded()) {
      if (in.eof()) throw input_error(where + " ends in the middle: the file is truncated");
      throw input_error(where + " is no JSON; expected a result a line, as weir bench --json prints them");
    }
    add_line(j, where);
    results++;
  }
  if (in.bad()) throw input_error(path + ": cannot be read to its end");
  if (results == 0) throw input_error(path + ": empty; expected results, as weir bench --json prints them, or a trace");
}

void result_reader::add_line(const json& line, const std::string& where) {
  if (line.is_object() && (in_evaluation_ || line.contains("eval"))) add_evaluation(line, where);
  else if (line.is_object() && line.contains("kernel")) add_kernel(line, where);
  else if (line.is_object() && line.contains("pattern")) add_overhead(line, where);
  else throw input_error(where + " is no result: it has neither \"kernel\" nor \"pattern\"; expected lines as weir bench --json, of this version, prints them");
}

void result_reader::add_evaluation(const json& line, const std::string& where) {
  if (!line.contains("eval")) return evaluations_.back().lines.emplace_back(line), void();
  if (const json version = line.value("version", json()); version != results_version) throw input_error(fmt::format("{}: an evaluation of version {}; this weir reads version {}", where, version.dump(), results_version));
  in_evaluation_ = true;
  evaluations_.push_back({line, {}, where});
}

result_reader::group_of_lines& result_reader::group(const std::string& title) {
  const auto at = std::ranges::find(groups_, title, &group_of_lines::title);
  if (at != groups_.end()) return *at;
  groups_.push_back({.title = title});
  return groups_.back();
}

void result_reader::add_kernel(const json& line, const std::string& where) {
  const std::string kernel = text_of(line, "kernel", where), policy = text_of(line, "policy", where);
  const double workers = number_of(line, "workers", where);
  const bool is_virtual = line.contains("virtual_ms");
  const double ns = is_virtual ? number_of(line, "virtual_ms", where) * 1e6 : number_of(line, "seconds", where) * 1e9;
  std::string title = fmt::format("Kernels on {}, {:.0f} {}", line.contains("machine") ? machine_name(text_of(line, "machine", where)) : "this machine", workers, workers_word(workers));
  if (line.contains("nodes")) title += fmt::format(", {:.0f} node{}", number_of(line, "nodes", where), line["nodes"] == 1 ? "" : "s");
  group_of_lines& g = group(title);
  const std::string problem = problem_of(line, kernel);
  remember(g.rows, problem);
  remember(g.columns, policy);
  g.virtual_time &= is_virtual;
  runs& r = g.cells[{problem, policy}];
  r["ns"].push_back(ns);
  if (line.contains("locality") && !line["locality"].is_null()) r["locality"].push_back(number_of(line, "locality", where));
  if (line.contains("peak_buffer_bytes")) r["peak"].push_back(number_of(line, "peak_buffer_bytes", where));
}

void result_reader::add_overhead(const json& line, const std::string& where) {
  const std::string pattern = text_of(line, "pattern", where), runtime = text_of(line, "runtime", where);
  const double workers = number_of(line, "workers", where);
  const bool metg = line.contains("metg_ns");
  group_of_lines& g = group(fmt::format("{}, {:.0f} {}", metg ? "Smallest useful task" : "What a task costs", workers, workers_word(workers)));
  g.overhead = true;
  remember(g.rows, pattern);
  remember(g.columns, runtime);
  runs& r = g.cells[{pattern, runtime}];
  const char* const key = metg ? "metg_ns" : "ns_per_task";
  if (!line.contains(key)) refuse(where, key, "number of 0 or more");
  if (line[key].is_null()) return;  // the runtime has no such tasks
  r[key].push_back(number_of(line, key, where));
  for (const char* end : {"lowest_ns", "highest_ns"})
    if (line.contains(end) && !line[end].is_null()) r[end].push_back(number_of(line, end, where));
  if (line.contains("runs")) r["runs"].push_back(number_of(line, "runs", where));
}

namespace {

// One chart of a section: a quantity of each cell, or nothing where a cell has none.
template <class Cells, class ValueOf>
std::optional<chart> chart_of(chart c, const std::vector<std::string>& rows, const std::vector<std::string>& columns, const Cells& cells, ValueOf&& value_of) {
  c.groups = rows;
  c.series = columns;
  bool any = false;
  for (const std::string& column : columns) {
    auto& values = c.values.emplace_back();
    for (const std::string& row : rows) {
      const auto at = cells.find({row, column});
      values.push_back(at == cells.end() ? std::nullopt : value_of(row, at->second));
      any |= values.back().has_value();
    }
  }
  return any ? std::optional(std::move(c)) : std::nullopt;
}

}  // namespace

chart_section result_reader::section_of(const group_of_lines& g) const {
  chart_section s{.title = g.title, .note = "Bars are medians, whiskers reach from the lowest to the highest run."};
  const auto add = [&](chart c, auto&& value_of) {
    if (auto made = chart_of(std::move(c), g.rows, g.columns, g.cells, value_of)) s.charts.push_back(std::move(*made));
  };
  const auto quantity = [](const char* key) {
    return [key](const std::string&, const runs& r) { return r.contains(key) ? std::optional(summed_up(r.at(key))) : std::nullopt; };
  };
  if (g.overhead) {
    const auto cost = [](const char* key) {
      return [key](const std::string&, const runs& r) -> std::optional<chart_value> {
        if (!r.contains(key)) return std::nullopt;
        chart_value v = summed_up(r.at(key));
        if (r.contains("lowest_ns") && r.contains("highest_ns")) v.low = *std::ranges::min_element(r.at("lowest_ns")), v.high = *std::ranges::max_element(r.at("highest_ns"));
        if (r.contains("runs")) {  // a line sums up so many
          v.n = static_cast<std::size_t>(*std::ranges::max_element(r.at("runs")));
          v.deviation.reset();
        }
        return v;
      };
    };
    add({.title = "Time per task", .axis = "time per task", .unit = "ns"}, cost("ns_per_task"));
    add({.title = "Granularity at which half of the time is useful work: METG(50 %)", .axis = "time of a task", .unit = "ns"}, cost("metg_ns"));
    return s;
  }
  add({.title = g.virtual_time ? "Virtual time" : "Time", .axis = g.virtual_time ? "virtual time" : "time", .unit = "ns"}, quantity("ns"));
  if (std::ranges::find(g.columns, "steal") != g.columns.end() && g.columns.size() > 1) {
    const auto speedup = [&](const std::string& row, const runs& r) -> std::optional<chart_value> {
      const auto base = g.cells.find({row, "steal"});
      if (base == g.cells.end()) return std::nullopt;
      const double reference = summed_up(base->second.at("ns")).median;
      std::vector<double> ratios = r.at("ns");
      for (double& v : ratios) {
        if (v <= 0) return std::nullopt;
        v = reference / v;
      }
      return summed_up(std::move(ratios));
    };
    add({.title = "Speed-up over steal", .note = "Times the median of steal is larger.", .axis = "speed-up", .unit = "ratio"}, speedup);
  }
  add({.title = "Locality", .note = "Share of dependence bytes on the executing worker's own node.", .axis = "locality", .unit = "share"}, quantity("locality"));
  add({.title = "Peak memory in version buffers", .axis = "peak memory", .unit = "bytes"}, quantity("peak"));
  return s;
}

std::vector<chart_section> result_reader::sections() const {
  std::vector<chart_section> all;
  for (const group_of_lines& g : groups_) all.push_back(section_of(g));
  for (const evaluation& e : evaluations_) all.push_back(figures_of(e.header, e.lines, e.where));
  return all;
}

}  // namespace weir::tools
