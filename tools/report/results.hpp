// Results of measurements, one JSON object a line, as charts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::tools {

// Of some runs: what a bar and its whiskers show.
struct chart_value {
  double median = 0, low = 0, high = 0;
  std::size_t n = 0;
  std::optional<double> deviation;  // sample standard deviation, where runs are known one by one and are several
};

// Median, extremes and deviation; x is not empty.
chart_value summed_up(std::vector<double> x);

// Bars side by side: a group for each kernel or pattern, a bar for each policy or runtime.
struct chart {
  std::string title, note, axis, unit;  // unit: ns, bytes, share, ratio
  std::vector<std::string> groups, series;
  std::vector<std::vector<std::optional<chart_value>>> values;  // by series, by group
};

// What was measured on one machine.
struct chart_section {
  std::string title, note;
  std::vector<chart> charts;
  std::vector<std::string> not_drawn;  // a sentence a figure that there are no results for
};

nlohmann::ordered_json to_json(const chart_section&);

// Reads lines as `weir bench --json`, `weir bench overhead --json` and `weir eval` print them. Of a kernel: "kernel",
// "policy", "workers" and "seconds" or "virtual_ms" must be there; "machine", "nodes", "size", "control", "memory",
// "shared", "locality" and "peak_buffer_bytes" are used if they are. Of a task's cost: "pattern", "runtime", "workers"
// and "ns_per_task" or "metg_ns". A file that weir eval wrote says itself which figures its lines make.
class result_reader {
 public:
  // Throws bench::input_error: empty, truncated, no JSON, or lines that are no such results.
  void add_file(const std::string& path);
  std::vector<chart_section> sections() const;

 private:
  using runs = std::map<std::string, std::vector<double>>;  // by quantity
  struct group_of_lines {
    std::string title;
    std::vector<std::string> rows, columns;  // in order of their first line
    std::map<std::pair<std::string, std::string>, runs> cells;
    bool virtual_time = true, overhead = false;
  };
  void add_line(const nlohmann::json&, const std::string& where);
  void add_kernel(const nlohmann::json&, const std::string& where);
  void add_overhead(const nlohmann::json&, const std::string& where);
  group_of_lines& group(const std::string& title);
  void add_evaluation(const nlohmann::json&, const std::string& where);
  chart_section section_of(const group_of_lines&) const;

  struct evaluation {
    nlohmann::ordered_json header;
    std::vector<nlohmann::ordered_json> lines;
    std::string where;
  };

  std::vector<group_of_lines> groups_;
  std::vector<evaluation> evaluations_;
  bool in_evaluation_ = false;   // lines of the file belong to the last one
};

}  // namespace weir::tools
