// weir solve: a sparse linear system, solved.
#pragma once

#include <CLI/App.hpp>

#include <memory>

namespace weir::tools {

// Adds the subcommand. It prints to standard output and throws weir::error on bad input. The exit status is there once the
// command line is parsed: 0, or 1 if the method did not converge.
std::shared_ptr<const int> add_solve_command(CLI::App& app);

}  // namespace weir::tools
