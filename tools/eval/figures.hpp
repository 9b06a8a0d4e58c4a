// Figures from results: which runs make which bar is said by the figures themselves, which are data
// (bench/eval/README.md).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tools/report/results.hpp>

namespace weir::tools {

// One section with a chart a figure that has at least one bar. header: the first line of a file of results; lines: the
// others. Throws bench::input_error that begins with `where` if the header's figures are none.
chart_section figures_of(const nlohmann::ordered_json& header, const std::vector<nlohmann::ordered_json>& lines, const std::string& where);

// The figures as tables for a terminal: groups down, series across, medians.
std::string figures_text(const chart_section& section);

}  // namespace weir::tools
