// weir bench latency and weir bench migration: memory itself, without tasks.
#pragma once

#include <CLI/App.hpp>

#include <memory>
#include <vector>

namespace weir::tools {

// Adds both subcommands to `weir bench`; sets status when one has run.
std::vector<CLI::App*> add_memory_commands(CLI::App& bench, std::shared_ptr<int> status);

}  // namespace weir::tools
