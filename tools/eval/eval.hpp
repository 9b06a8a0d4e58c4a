// weir eval: an evaluation, that is experiments and figures as data, on an emulated machine or on this one.
#pragma once

#include <CLI/App.hpp>

#include <memory>

namespace weir::tools {

// Adds the subcommand. What it returns is set when it has run: 0; 1 if a run failed; 128 + the number of the signal that
// ended it. Throws weir::error on bad input.
std::shared_ptr<const int> add_eval_command(CLI::App& app);

}  // namespace weir::tools
