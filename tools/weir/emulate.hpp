// weir emulate: a program on a NUMA machine that is not there.
#pragma once

#include <CLI/App.hpp>

#include <memory>
#include <string>
#include <vector>

namespace weir::tools {

// Adds the subcommand. command: the program to run and its arguments, as they came after "--". What it returns is set when it has run: the exit status of the program, 128 + the number of the
// signal that ended it or this command, or 2 if it could not be run to its end. Throws weir::error on bad input.
std::shared_ptr<int> add_emulate_command(CLI::App& app, std::vector<std::string> command);

}  // namespace weir::tools
