// weir report: results and traces as one page for a browser.
#pragma once

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace weir::tools {

// Why no report can be written by this build; empty if one can.
std::string cannot_report();

// Writes the page, whole or not at all. Throws bench::input_error: files that are neither results nor traces, a page that
// cannot be written, a build that cannot report.
void write_report(const std::vector<std::string>& files, const std::string& output, const std::string& title);

void add_report_command(CLI::App& app);

}  // namespace weir::tools
