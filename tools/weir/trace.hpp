// weir trace: what a trace says, in a terminal; and its task graph.
#pragma once

#include <CLI/App.hpp>

namespace weir::tools {

void add_trace_command(CLI::App& app);

}  // namespace weir::tools
