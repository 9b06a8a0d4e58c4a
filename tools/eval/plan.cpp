// From TOML to run groups: overlays for machine and --quick, cases, and words in braces.
#include "plan.hpp"

#include "toml.hpp"

#include <machine/machine.hpp>
#include <weir/detail/nearest.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace weir::tools {
namespace {

namespace fs = std::filesystem;
using bench::input_error;
using json = nlohmann::ordered_json;
using words = std::map<std::string, std::string>;

// ---------------------------------------------------------------- files

toml::table parse(const std::string& path) { return toml_file::read<input_error>(path, "an evaluation"); }

std::string path_of(const std::string& name, const std::string& folder) {
  if (name.ends_with(".toml")) return name;
  const std::string path = folder + "/" + name + ".toml";
  if (name.find('/') == std::string::npos && fs::exists(path)) return path;
  std::string known;
  std::vector<std::string> names;
  for (const auto& [each, title] : known_plans(folder)) {
    names.push_back(each);
    known += (known.empty() ? "" : ", ") + each;
  }
  throw input_error(fmt::format("no evaluation \"{}\"; there are {}, or a file ending in .toml{}", name,
                                known.empty() ? "none" : known, weir::detail::proposal(name, names)));
}

// ---------------------------------------------------------------- words in braces

// Replaces {NAME}; what is put in may have such words again.
std::string filled(const toml_reader& at, std::string text, const words& known) {
  constexpr int deepest = 8;   // more is a word that contains itself
  for (int depth = 0; depth < deepest; depth++) {
    std::string result;
    bool any = false;
    for (std::size_t i = 0; i < text.size(); i++) {
      const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
      if (end == std::string::npos) {
        result += text[i];
        continue;
      }
      const std::string name = text.substr(i + 1, end - i - 1);
      const auto found = known.find(name);
      if (found == known.end()) at.refuse(fmt::format("\"{{{}}}\" is not known here; expected a parameter or a field of the case", name));
      result += found->second;
      any = true;
      i = end;
    }
    text = result;
    if (!any) return text;
  }
  at.refuse(fmt::format("\"{}\" contains itself", text));
}

arguments split(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

// Options of weir emulate: a text that is divided at spaces.
arguments options_of(const toml_reader& t, const words& known) { return split(filled(t, t.text("emulate", ""), known)); }

void overlay(words& into, const toml_reader& t) {
  for (auto&& [key, value] : t.raw()) into[std::string(key.str())] = t.word(key.str());
}

// ---------------------------------------------------------------- figures

json as_json(const toml_reader& t, const toml::node& n, std::string_view key) {
  if (n.is_string()) return n.as_string()->get();
  if (n.is_integer()) return n.as_integer()->get();
  if (n.is_floating_point()) return n.as_floating_point()->get();
  if (n.is_boolean()) return n.as_boolean()->get();
  if (n.is_array()) {
    json list = json::array();
    for (const toml::node& each : *n.as_array()) list.push_back(as_json(t, each, key));
    return list;
  }
  if (!n.is_table()) t.refuse(n, key, "a text, a number or a list");
  json object = json::object();
  for (auto&& [k, v] : *n.as_table()) object[std::string(k.str())] = as_json(t, v, k.str());
  return object;
}

json table_json(const toml_reader& t, std::string_view key) { return t.has(key) ? as_json(t, *t.raw().get(key), key) : json::object(); }

json bar_json(const toml_reader& t) {
  t.allow_only({"where", "series", "value", "per", "baseline", "same"});
  json b = {{"where", table_json(t, "where")}, {"series", t.text("series")}};
  if (t.has("value")) b["value"] = t.text("value");
  if (t.has("per")) b["per"] = t.text("per");
  if (t.has("baseline")) b["baseline"] = table_json(t, "baseline");
  if (t.has("same")) b["same"] = t.texts("same");
  return b;
}

json quoted_json(const toml_reader& t) {
  t.allow_only({"series", "values", "machine"});
  json values = json::array();
  for (const toml_reader& v : t.tables("values")) {
    v.allow_only({"group", "value"});
    values.push_back({{"group", v.text("group")}, {"value", v.positive("value", 0)}});
  }
  return {{"series", t.text("series")}, {"values", values}};
}

// Text for a machine: one for all, or a table by machine.
std::string text_for(const toml_reader& t, std::string_view key, const std::string& machine) {
  if (!t.has(key)) return {};
  if (!t.raw().get(key)->is_table()) return t.text(key);
  return t.table(key).text(machine, "");
}

bool meant_for(const toml_reader& t, const std::string& section) {
  const std::vector<std::string> machines = t.texts("machines");
  return machines.empty() || std::find(machines.begin(), machines.end(), section) != machines.end();
}

json figure_json(const toml_reader& t, const std::string& section) {
  t.allow_only({"title", "note", "paper", "machines", "axis", "unit", "group", "value", "bars", "quoted"});
  json f = {{"title", t.text("title")}, {"note", text_for(t, "note", section)}, {"paper", text_for(t, "paper", section)}, {"axis", t.text("axis")}, {"unit", t.text("unit")},
            {"group", t.text("group")}, {"value", t.text("value")},            {"bars", json::array()},               {"quoted", json::array()}};
  static constexpr std::string_view units[] = {"ms", "ns", "bytes", "share", "ratio", "count"};
  if (std::find(std::begin(units), std::end(units), f["unit"].get<std::string>()) == std::end(units)) t.refuse(*t.raw().get("unit"), "unit", fmt::format("one of {}", fmt::join(units, ", ")));
  for (const toml_reader& b : t.tables("bars")) f["bars"].push_back(bar_json(b));
  if (f["bars"].empty()) t.refuse("key \"bars\" is missing: expected one table or more");
  for (const toml_reader& q : t.tables("quoted"))
    if (const auto on = q.texts("machine"); on.empty() || std::ranges::find(on, section) != on.end()) f["quoted"].push_back(quoted_json(q));
  return f;
}

// A name, or a list of names?
bool includes(const json& names, const std::string& name) {
  if (names.is_string()) return names.get_ref<const std::string&>() == name;
  return names.is_array() && std::any_of(names.begin(), names.end(), [&](const json& n) { return n == name; });
}

json comparison_plan(const toml_reader& t) {
  t.allow_only({"title", "cell", "contender", "repeat", "value", "without", "subject", "rivals"});
  json c = json::object();
  for (const char* key : {"title", "cell", "contender", "repeat", "value", "subject"}) c[key] = t.text(key);
  if (t.has("without")) c["without"] = table_json(t, "without");
  c["rivals"] = t.texts("rivals");
  if (c["rivals"].empty()) t.refuse("key \"rivals\" is missing: expected a text or a list of texts");
  return c;
}

// ---------------------------------------------------------------- cells

// A table whose values may be lists stands for all combinations of them.
std::vector<words> combinations(const toml_reader& t) {
  std::vector<words> all(1);
  for (auto&& [key, value] : t.raw()) {
    const std::vector<std::string> values = t.words(key.str());
    std::vector<words> longer;
    for (const words& each : all)
      for (const std::string& v : values) {
        longer.push_back(each);
        longer.back()[std::string(key.str())] = v;
      }
    all = std::move(longer);
  }
  return all;
}

bool is_named(const words& cell, const std::string& name) {
  std::istringstream parts(name);
  for (std::string part; std::getline(parts, part, '/');)
    if (std::ranges::none_of(cell, [&](const auto& field) { return field.second == part; })) return false;
  return true;
}

// ---------------------------------------------------------------- experiments

class reader {
 public:
  reader(const toml::table& root, const std::string& path, const plan_options& o) : root_(root, path), options_(o) {}

  plan read(const std::string& name) {
    root_.allow_only({"title", "source", "machine", "parameters", "cases", "cells", "quick", "full", "machines",
                      "experiments", "figures", "comparisons"});
    plan_.name = name;
    plan_.title = root_.text("title");
    plan_.source = root_.text("source");
    plan_.quick = options_.quick;
    plan_.full = options_.full;
    choose_machine();
    const toml_reader machine = root_.table("machines").table(section_), quick = root_.table("quick");
    const toml_reader full = root_.table("full");
    machine.allow_only({"scaling", "emulate", "timeout", "basis", "parameters", "cases", "cells"});
    quick.allow_only({"scaling", "pace", "parameters", "cases", "cells"});
    full.allow_only({"scaling", "pace", "parameters", "cases", "cells", "machines"});
    if (options_.full) check_full(full);
    plan_.scaling = scaling_of(machine.text("scaling", ""), quick, full);
    plan_.timeout_s = machine.positive("timeout", 1800);
    plan_.basis = machine.text("basis", "two CPUs");
    overlays_ = {machine, root_};
    if (options_.quick) overlays_.insert(overlays_.begin(), quick);
    if (options_.full) overlays_.insert(overlays_.begin(), full);
    pace_ = overlays_.size() > 2 ? overlays_.front().positive("pace", 1) : 1;
    for (auto o = overlays_.rbegin(); o != overlays_.rend(); o++) overlay(parameters_, o->table("parameters"));
    for (const toml_reader& e : root_.tables("experiments")) add_experiment(e, machine);
    check_names_of_cells();
    if (plan_.groups.empty()) root_.refuse("there is nothing to run: expected [[experiments]]");
    plan_.comparisons = json::array();
    for (const toml_reader& c : root_.tables("comparisons")) plan_.comparisons.push_back(comparison_plan(c));
    plan_.figures = json::array();
    for (const toml_reader& f : root_.tables("figures")) {
      json figure = figure_json(f, section_);
      add_left_out(figure);
      if (meant_for(f, section_)) plan_.figures.push_back(figure);
    }
    return std::move(plan_);
  }

 private:
  void check_full(const toml_reader& full) const {
    if (options_.quick) throw input_error("--quick and --full exclude each other");
    if (!root_.has("full")) throw input_error(root_.file() + ": --full: it has no other sizes");
    if (!meant_for(full, section_))
      throw input_error(fmt::format("--full is for machine {}, not {}", fmt::join(full.texts("machines"), " or "),
                                    plan_.machine));
  }

  // What is said of the machine; --quick adds to that, --full says something else.
  std::string scaling_of(const std::string& scaling, const toml_reader& quick, const toml_reader& full) const {
    if (options_.full) return full.text("scaling", scaling);
    const std::string more = quick.text("scaling", "");
    if (!options_.quick || more.empty()) return scaling;
    return scaling.empty() ? more : scaling + " " + more;
  }

  // The machine, and the section of the file that describes what to do on it.
  void choose_machine() {
    const toml_reader machines = root_.table("machines");
    std::string m = options_.machine;
    if (m.empty()) m = options_.host.nodes > 1 && machines.has("host") ? "host" : root_.text("machine");
    const std::string stem = m.ends_with(".toml") ? fs::path(m).stem().string() : m;
    section_ = machines.has(stem) ? stem : m != "host" ? "other" : "";
    if (section_.empty() || !machines.has(section_)) {
      std::string known;
      for (auto&& [key, value] : machines.raw()) known += (known.empty() ? "" : ", ") + std::string(key.str());
      throw input_error(fmt::format("{}: nothing is said about machine \"{}\"; there are {}", root_.file(), m, known.empty() ? "none" : known));
    }
    plan_.machine = m;
  }

  // Cases of an experiment: its own, or a list of this name where the topmost overlay has one.
  std::vector<toml_reader> cases_of(const toml_reader& e) const {
    static const toml::table none;
    if (!e.has("cases")) return {{none, e.file()}};
    if (!e.raw().get("cases")->is_string()) return e.tables("cases");
    const std::string name = e.text("cases");
    for (const toml_reader& o : overlays_)
      if (o.table("cases").has(name)) return o.table("cases").tables(name);
    e.refuse(*e.raw().get("cases"), "cases", fmt::format("a list of cases, or the name of one in [cases], not \"{}\"", name));
  }

  // Cells of an experiment that were asked for; without any there is one that adds nothing.
  std::vector<words> cells_of(const toml_reader& e) {
    if (!e.has("cells")) return {words()};
    const std::string name = e.text("cells");
    const auto has_it = [&](const toml_reader& o) { return o.table("cells").has(name); };
    const auto overlay = std::ranges::find_if(overlays_, has_it);
    if (overlay == overlays_.end()) e.refuse(*e.raw().get("cells"), "cells", "the name of a list in [cells]");
    std::vector<words> all;
    for (const toml_reader& t : overlay->table("cells").tables(name))
      for (words& cell : combinations(t)) all.push_back(std::move(cell));
    known_cells_.insert(known_cells_.end(), all.begin(), all.end());
    if (options_.cells.empty()) return all;
    std::erase_if(all, [&](const words& cell) {
      return std::ranges::none_of(options_.cells, [&](const std::string& wanted) { return is_named(cell, wanted); });
    });
    return all;
  }

  void check_names_of_cells() const {
    for (const std::string& wanted : options_.cells)
      if (std::ranges::none_of(known_cells_, [&](const words& cell) { return is_named(cell, wanted); }))
        throw input_error(fmt::format("--cells {}: {} has no such cell on {}", wanted, plan_.name, plan_.machine));
  }

  void add_experiment(const toml_reader& e, const toml_reader& machine) {
    e.allow_only({"name", "commands", "emulate", "host", "cases", "cells", "turns", "together", "regions", "machines",
                  "quick", "seconds", "optional"});
    if (!meant_for(e, section_) || (options_.quick && !e.truth("quick", true))) return;
    const std::vector<words> cells = cells_of(e);
    if (cells.empty()) return;
    if (!e.has("turns")) return add_cases(e, machine, cells, 0);
    for (int turn = 1; turn <= e.positive("turns", 1); turn++) add_cases(e, machine, cells, turn);
  }

  void add_cases(const toml_reader& e, const toml_reader& machine, const std::vector<words>& cells, int turn) {
    const auto together = static_cast<std::size_t>(e.positive("together", 1));
    std::size_t cases = 0;
    for (const toml_reader& c : cases_of(e)) {
      words known = parameters_;
      overlay(known, c);
      if (together <= 1 || cases++ % together == 0) plan_.groups.push_back(empty_group(e, machine, known));
      run_group& g = plan_.groups.back();
      g.turn = turn;
      for (const words& cell : cells) add_commands(g, e, known, cell);
      if (g.programs.empty() || std::ranges::any_of(g.programs, &arguments::empty)) e.refuse("key \"commands\": expected a program and its arguments, or a list of such");
      if (together <= 1)
        for (auto&& [key, value] : c.raw()) g.fields.emplace_back(key.str(), filled(c, c.word(key.str()), known));
    }
  }

  static void add_commands(run_group& g, const toml_reader& e, words known, const words& cell) {
    for (const auto& [key, value] : cell) known[key] = value;
    for (const std::string& command : e.texts("commands")) g.programs.push_back(split(filled(e, command, known)));
  }

  run_group empty_group(const toml_reader& e, const toml_reader& machine, const words& known) {
    run_group g;
    g.experiment = e.text("name");
    if (plan_.emulated()) {
      g.emulate = options_of(machine, known);
      for (const std::string& o : options_of(e, known)) g.emulate.push_back(o);
    }
    add_regions(g, e);
    add_host(g, e.table("host"));
    g.expected_seconds = seconds_of(e) * e.positive("together", 1) * pace_;
    g.optional = e.truth("optional", false);
    return g;
  }

  // One number for all machines, or numbers by machine, of which "other" is for those that have none.
  double seconds_of(const toml_reader& e) const {
    constexpr double usual = 60;
    if (!e.has("seconds") || !e.raw().get("seconds")->is_table()) return e.positive("seconds", usual);
    const toml_reader by_machine = e.table("seconds");
    return by_machine.positive(section_, by_machine.positive("other", usual));
  }

  // What is asked of this machine where nothing is emulated, and whether it can be had.
  void add_host(run_group& g, const toml_reader& wanted) {
    wanted.allow_only({"least_nodes", "nodes", "numa_balancing"});
    const auto least = static_cast<std::size_t>(wanted.positive("least_nodes", 1));
    const auto nodes = static_cast<std::size_t>(wanted.positive("nodes", 0));
    if (wanted.has("numa_balancing")) g.numa_balancing = wanted.truth("numa_balancing", false);
    if (plan_.emulated()) return g.numa_balancing.reset();
    const host_facts& host = options_.host;
    const std::size_t there = host.node_cpus.size(), needed = std::max(least, nodes);
    if (there < needed)
      g.left_out = fmt::format("it needs {} nodes with CPUs, and this machine has {}", needed, there);
    else if (g.numa_balancing)
      g.left_out = why_no_numa_balancing(*g.numa_balancing);
    for (std::size_t n = 0; n < std::min(nodes, there); n++)
      g.cpus.insert(g.cpus.end(), host.node_cpus[n].begin(), host.node_cpus[n].end());
    std::ranges::sort(g.cpus);
  }

  // Why a figure has less in it than it might: {experiment: reason}.
  void add_left_out(json& figure) const {
    json reasons = json::object();
    const auto add = [&](const json& where) {
      const json names = where.is_object() ? where.value("experiment", json()) : json();
      for (const run_group& g : plan_.groups)
        if (!g.left_out.empty() && includes(names, g.experiment))
          reasons[g.experiment] = g.left_out;
    };
    for (const json& b : figure["bars"]) add(b["where"]), add(b.value("baseline", json()));
    if (!reasons.empty()) figure["left_out"] = reasons;
  }

  static void add_regions(run_group& g, const toml_reader& e) {
    const toml_reader regions = e.table("regions");
    for (auto&& [key, value] : regions.raw()) {
      const auto number = value.value_exact<std::int64_t>();
      if (!number || *number < 0 || *number > 254) regions.refuse(value, key.str(), "a region's number from 0 to 254");
      g.regions.emplace_back(key.str(), static_cast<int>(*number));
    }
    if (g.regions.empty()) g.regions.emplace_back("", 0);
  }

  toml_reader root_;
  const plan_options& options_;
  std::string section_;
  words parameters_;
  double pace_ = 1;                     // how much longer everything takes with --quick or --full
  std::vector<toml_reader> overlays_;   // the one that counts most comes first
  std::vector<words> known_cells_;
  plan plan_;
};

}  // namespace

std::string shell_text(const arguments& all) {
  std::string text;
  for (const std::string& word : all) {
    text += text.empty() ? "" : " ";
    if (!word.empty() && word.find_first_of(" \t\n\"'`$\\;&|<>*?()[]{}#~!") == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::string run_group::command() const {
  std::string text = emulate.empty() ? "" : shell_text(emulate) + " -- ";
  if (numa_balancing) text += fmt::format("sysctl kernel.numa_balancing={:d} && ", *numa_balancing);
  for (std::size_t i = 0; i < programs.size(); i++) text += (i == 0 ? "" : " && ") + bound(programs[i]);
  return text;
}

std::string run_group::bound(const arguments& program) const {
  return (cpus.empty() ? "" : "taskset -c " + machine::index_ranges(cpus) + " ") + shell_text(program);
}

plan load_plan(const std::string& name, const std::string& folder, const plan_options& options) {
  const std::string path = path_of(name, folder);
  const toml::table root = parse(path);
  return reader(root, path, options).read(fs::path(path).stem().string());
}

std::vector<std::pair<std::string, std::string>> known_plans(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml") {
      const toml::table root = parse(entry.path());
      all.emplace_back(entry.path().stem(), root["title"].value_or(std::string()));
    }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace weir::tools
