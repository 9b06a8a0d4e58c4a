// What weir emulate says about a run: a table for people, JSON for programs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <machine/machine.hpp>
#include <tools/emulator/boot/guest.hpp>
#include <tools/emulator/profile/functions.hpp>

namespace weir::tools {

// What is said of functions.
struct profile_report {
  std::size_t rows = 20;   // at most, for people
  std::string program;     // its file
  emulator::function_names names;
};

struct emulated_run {
  machine::description machine;
  emulator::layout shape;
  std::optional<emulator::model_config> model;   // none: nothing was measured
  std::map<int, std::string> names;              // of regions
  std::optional<profile_report> profile;         // none: functions are not told apart
  emulator::guest_result result;
  int status = 0;
};

// One object; "regions" in the order in which they ended. README.md of tools/emulator explains the keys.
nlohmann::ordered_json emulate_json(const emulated_run& run);
// Ends with a newline; empty if there is nothing to tell.
std::string emulate_text(const emulated_run& run);

}  // namespace weir::tools
