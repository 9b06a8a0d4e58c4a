// weir bench main: what things cost that a program does from main(), under weir and under other runtimes.
#pragma once

#include <CLI/App.hpp>

#include <memory>

namespace weir::tools {

// Adds the subcommand to `bench`. The exit status is there once the command line is parsed: 1 if a program failed.
CLI::App* add_main_command(CLI::App& bench, std::shared_ptr<int> status);

}  // namespace weir::tools
