// A trace, as the page's timeline, heat map and memory curve need it.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace weir::tools {

// Of longer traces, neighbouring tasks of a worker are summed up until there are about as many: the page stays below some
// 25 MB, and a browser has all of it in memory.
inline constexpr std::size_t most_timeline_tasks = 200'000;

// Throws bench::input_error as read_trace() does.
nlohmann::ordered_json trace_data(const std::string& path, std::size_t most_tasks = most_timeline_tasks);

// The file begins like a trace.
bool looks_like_trace(const std::string& path);

}  // namespace weir::tools
