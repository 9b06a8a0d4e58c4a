// An evaluation as data: which programs are to be run on which machine, and which figures their results make.
// bench/eval/README.md describes the files.
#pragma once

#include "host.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::tools {

using arguments = std::vector<std::string>;

// What is run at one go: in a guest that boots once, or on the host. The programs print a line of JSON a run.
struct run_group {
  std::string experiment;
  std::vector<std::pair<std::string, std::string>> fields;   // of the case; every result line has them
  arguments emulate;                                         // options of weir emulate
  std::vector<arguments> programs;                           // one after the other; "weir" stands for the weir command
  std::vector<std::pair<std::string, int>> regions;          // marked regions by name; the one without a name is 0
  double expected_seconds = 60;                              // on plan::basis; only for estimates
  bool optional = false;                                     // the program may not have been built
  int turn = 0;                                              // which one, from 1 on; 0 if it is run only once
  std::vector<int> cpus;                                     // on the host: which it may use; empty: all
  std::optional<bool> numa_balancing;                        // on the host: what the kernel's must be
  std::string left_out;                                      // why this machine cannot run it; empty: it can

  // What identifies it among the results, with its turn: the commands, as a person would type them.
  std::string command() const;
  // One of its programs as a person would type it on the host.
  std::string bound(const arguments& program) const;
};

struct plan {
  std::string name, title, source, scaling;
  std::string machine;             // "host", a name in machines/ or a machine file
  bool quick = false, full = false;
  double timeout_s = 0;            // of a group
  std::string basis;               // what expected_seconds are for: "two CPUs"
  std::vector<run_group> groups;
  nlohmann::ordered_json figures;      // as figures.hpp reads them
  nlohmann::ordered_json comparisons;  // as comparison.hpp reads them

  // Options of weir emulate before "--" are in run_group::emulate; on the host it is empty.
  bool emulated() const { return machine != "host"; }
};

struct plan_options {
  std::string machine;             // empty: the host if it has several nodes and the file knows it, else the file's own choice
  bool quick = false, full = false;
  host_facts host;
  std::vector<std::string> cells;  // only cells that one of these names: their values, some or all, with / in between
};

// Reads NAME.toml in `folder`, or the file if the name ends in .toml. Throws bench::input_error: unknown name (it lists
// the known ones), no TOML, unknown keys, a machine that the file does not know; with file and line.
plan load_plan(const std::string& name, const std::string& folder, const plan_options& options);

// Words with spaces between them, quoted as a shell wants it where that is necessary.
std::string shell_text(const arguments& words);

// Names of the files in a folder, sorted, each with its title.
std::vector<std::pair<std::string, std::string>> known_plans(const std::string& folder);

}  // namespace weir::tools
