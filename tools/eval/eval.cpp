// The command: everything is checked before the first run; what is finished is kept, whatever happens.
#include "eval.hpp"

#include "comparison.hpp"
#include "figures.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "runner.hpp"
#include "store.hpp"

#include <bench/common/kernel.hpp>
#include <bench/common/options.hpp>
#include <bench/common/plural.hpp>
#include <tools/emulator/boot/kernel.hpp>
#include <tools/report/report.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <set>

namespace weir::tools {
namespace {

namespace fs = std::filesystem;
using bench::input_error;

constexpr int run_failed = 1, signal_base = 128;

struct eval_options {
  std::string name, machine, output, only, cells, command;
  bool quick = false, full = false, json = false, list = false, dry_run = false;
};

std::string this_program() { return fs::read_symlink("/proc/self/exe"); }
std::string plans_folder() { return fs::path(this_program()).parent_path().parent_path() / "share" / "weir" / "eval"; }

std::string machine_word(const plan& p) { return p.machine.ends_with(".toml") ? fs::path(p.machine).stem().string() : p.machine; }

// A choice of cells makes other runs, which have a folder of their own.
std::string default_folder(const plan& p, const std::string& cells) {
  std::string choice = cells.empty() ? "" : "-" + cells;
  std::ranges::replace_if(choice, [](char c) { return c == '/' || c == ','; }, '-');
  const char* const size = p.quick ? "-quick" : p.full ? "-full" : "";
  return fmt::format("weir-eval/{}-{}{}{}", p.name, machine_word(p), size, choice);
}

bool chosen(const run_group& g, const std::vector<std::string>& only) { return only.empty() || std::ranges::find(only, g.experiment) != only.end(); }

std::vector<std::string> chosen_experiments(const eval_options& o, const plan& p) {
  if (o.only.empty()) return {};
  std::vector<std::string> only = bench::parse_names("--only", o.only), known;
  for (const run_group& g : p.groups)
    if (std::ranges::find(known, g.experiment) == known.end()) known.push_back(g.experiment);
  for (const std::string& each : only)
    if (std::ranges::find(known, each) == known.end()) throw input_error(fmt::format("--only {}: {} has no such experiment on {}; there are {}", each, p.name, p.machine, fmt::join(known, ", ")));
  return only;
}

std::vector<std::string> chosen_cells(const eval_options& o) {
  return o.cells.empty() ? std::vector<std::string>() : bench::parse_names("--cells", o.cells);
}

class evaluation {
 public:
  evaluation(const eval_options& o, const plan& p) : options_(o), plan_(p), only_(chosen_experiments(o, p)), runner_(p, o.command.empty() ? this_program() : fs::absolute(o.command).string()) {
    for (const run_group& g : p.groups)
      if (chosen(g, only_)) add_group(g);
  }

  int run() {
    if (plan_.emulated() && options_.command.empty()) emulator::find_equipment("", true);   // throws before anything is written
    const std::string folder = options_.output.empty() ? default_folder(plan_, options_.cells) : options_.output;
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw input_error(fmt::format("{}: cannot be made: {}", folder, error.message()));
    result_store store(folder + "/results.jsonl", plan_);
    run_groups(store);
    if (interrupted_ == 0) show(store, folder);
    say_what_is_missing(store);
    return interrupted_ != 0 ? signal_base + interrupted_ : failed_ > 0 ? run_failed : 0;
  }

  // Commands on standard output; what is not one of them on the other.
  void print_commands() const {
    double seconds = 0;
    std::size_t count = 0;
    for (const run_group& g : groups_) {
      if (!g.left_out.empty()) continue;
      seconds += g.expected_seconds, count++;
      print_commands(g);
    }
    say_what_is_left_out([](const run_group&) { return false; });
    fmt::print(stderr, "weir: {} of runs, {} in all: a guess from the times in the file, which are for {}\n",
               bench::plural(count, "group"), duration_text(seconds), plan_.basis);
  }

 private:
  void print_commands(const run_group& g) const {
    if (g.numa_balancing) fmt::print("sysctl kernel.numa_balancing={:d}\n", *g.numa_balancing);
    for (const arguments& program : g.programs) {
      arguments all = {"weir", "emulate", "--roi", "--machine", plan_.machine};
      all.insert(all.end(), g.emulate.begin(), g.emulate.end());
      all.emplace_back("--");
      all.insert(all.end(), program.begin(), program.end());
      fmt::print("{}\n", plan_.emulated() ? shell_text(all) : g.bound(program));
    }
  }

  // Each experiment once, with its reason.
  void say_what_is_left_out(const std::function<bool(const run_group&)>& has) const {
    std::set<std::string> said;
    for (const run_group& g : groups_)
      if (!g.left_out.empty() && !has(g) && said.insert(g.experiment).second)
        fmt::print(stderr, "weir: {} is left out: {}\n", g.experiment, g.left_out);
  }

  void add_group(const run_group& g) {
    if (const auto missing = runner_.missing_program(g)) {
      if (!g.optional) throw input_error(fmt::format("{}: {} is not there; build it first", g.experiment, *missing));
      if (!left_out_.insert(*missing).second) return;
      fmt::print(stderr, "weir: {} is left out: {} was not built\n", g.experiment, fs::path(*missing).filename().string());
      return;
    }
    groups_.push_back(g);
  }

  void run_groups(result_store& store) {
    eval_progress progress(groups_, [&](const run_group& g) { return store.seconds_of(g); });
    say_what_is_left_out([&](const run_group& g) { return store.has(g); });
    for (const run_group& g : groups_) {
      if (store.has(g) || !g.left_out.empty()) continue;
      progress.begin(g);
      const auto start = std::chrono::steady_clock::now();
      const group_outcome outcome = runner_.run(g, [&] { progress.printed(); });
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      interrupted_ = outcome.interrupted;
      if (interrupted_ != 0) return;
      progress.end(g, seconds, outcome.failure.empty());
      if (outcome.failure.empty()) {
        store.add(g, outcome.lines, seconds);
        continue;
      }
      progress.clear();
      if (outcome.hopeless) throw input_error(outcome.failure);
      fmt::print(stderr, "weir: {}: {}: {}\n", g.experiment, g.command(), outcome.failure);
      failed_++;
    }
  }

  void show(const result_store& store, const std::string& folder) const {
    if (store.lines().empty()) return;
    const chart_section figures = figures_of(store.header(), store.lines(), store.path());
    const std::vector<comparison> comparisons = comparisons_of(plan_.comparisons, store.lines());
    if (options_.json) print_json(figures, comparisons);
    else print_text(figures, comparisons, store.path());
    const std::string page = folder + "/report.html";
    if (const std::string reason = cannot_report(); !reason.empty()) fmt::print(stderr, "weir: note: no {}: {}\n", page, reason);
    else write_report({store.path()}, page, fmt::format("weir eval {} on {}", plan_.name, machine_word(plan_)));
    if (!options_.json && cannot_report().empty()) fmt::print("written: {}\n", page);
  }

  void print_json(const chart_section& figures, const std::vector<comparison>& comparisons) const {
    nlohmann::ordered_json all = to_json(figures);
    for (const comparison& c : comparisons) all["comparisons"].push_back(comparison_json(c));
    fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  void print_text(const chart_section& figures, const std::vector<comparison>& comparisons,
                  const std::string& path) const {
    fmt::print("{}", figures_text(figures));
    for (const comparison& c : comparisons) fmt::print("{}", comparison_text(c));
    fmt::print("\nwritten: {}\n", path);
  }

  void say_what_is_missing(const result_store& store) const {
    const auto has = [&](const run_group& g) { return store.has(g); };
    const auto wanted = [&](const run_group& g) { return has(g) || g.left_out.empty(); };
    const auto done = std::ranges::count_if(groups_, has), all = std::ranges::count_if(groups_, wanted);
    if (done == all) return;
    fmt::print(stderr, "weir: {} of {} groups of runs are done; the same command goes on with the others\n", done, all);
  }

  const eval_options& options_;
  const plan& plan_;
  std::vector<std::string> only_;
  group_runner runner_;
  std::vector<run_group> groups_;
  std::set<std::string> left_out_;   // programs that it was said of
  int failed_ = 0, interrupted_ = 0;
};

int run_eval(const eval_options& o) {
  if (o.list) {
    for (const auto& [name, title] : known_plans(plans_folder())) fmt::print("{:<12} {}\n", name, title);
    return 0;
  }
  if (o.name.empty()) throw input_error("eval needs the name of an evaluation; --list shows them");
  const plan p = load_plan(o.name, plans_folder(),
                           {.machine = o.machine,
                            .quick = o.quick,
                            .full = o.full,
                            .host = read_host(),
                            .cells = chosen_cells(o)});
  evaluation e(o, p);
  if (o.dry_run) return e.print_commands(), 0;
  return e.run();
}

}  // namespace

std::shared_ptr<const int> add_eval_command(CLI::App& app) {
  auto o = std::make_shared<eval_options>();
  auto status = std::make_shared<int>(0);
  CLI::App* eval = app.add_subcommand("eval", "Run an evaluation, such as a paper's, and draw its figures");
  eval->add_option("name", o->name, "Its name, or a file ending in .toml")->type_name("NAME");
  eval->add_flag("--list", o->list, "List the evaluations");
  eval->add_option("--machine", o->machine, "Machine to emulate, or host (default: the host if it has several nodes, else the evaluation's own choice)")->type_name("M");
  eval->add_flag("--quick,--subset", o->quick, "Fewer and smaller runs: does everything work?");
  eval->add_flag("--full", o->full, "The paper's sizes, which want a large machine and hours");
  eval->add_option("--only", o->only, "Run only these experiments")->type_name("E[,E...]");
  eval->add_option("--cells", o->cells,
                   "Run only cells with these values, several of one with / in between: wavefront/near")
      ->type_name("C[,C...]");
  eval->add_option("--out", o->output, "Folder for results.jsonl and report.html; what is there is not run again (default: weir-eval/NAME-MACHINE)")->type_name("DIR");
  eval->add_option("--command", o->command, "weir command that is measured (default: this one)")->type_name("FILE");
  eval->add_flag("--dry-run", o->dry_run, "Only print the commands, and about how long they take");
  eval->add_flag("--json", o->json, "Print the figures as JSON");
  eval->callback([o, status] { *status = run_eval(*o); });
  return status;
}

}  // namespace weir::tools
