// weir report: results and traces as one page for a browser.
#pragma once

#include <CLI/App.hpp>

namespace weir::tools {

void add_report_command(CLI::App& app);

}  // namespace weir::tools
