// weir topo: the machine as weir sees it.
#pragma once

#include <CLI/App.hpp>

namespace weir::tools {

// Adds the subcommand. It prints to standard output and throws weir::error on bad input.
void add_topo_command(CLI::App& app);

}  // namespace weir::tools
