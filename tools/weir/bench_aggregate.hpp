// weir bench aggregate: what aggregation of a graph of tiny tasks costs, and what it brings.
#pragma once

#include <CLI/App.hpp>

#include <memory>

namespace weir::tools {

// Adds the subcommand to `bench`. The exit status is there once the command line is parsed: 1 if a result differs from
// the sequential program's.
CLI::App* add_aggregate_command(CLI::App& bench, std::shared_ptr<int> status);

}  // namespace weir::tools
