// The results of an evaluation as a file of JSON lines: the first says what was evaluated and which figures it makes, the
// others are one run each.
#pragma once

#include "plan.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::tools {

// Of the form of the lines; another number is refused.
inline constexpr int results_version = 1;

// The lines of the plan's runs that were there already, and a place to add more. Holds a lock on the file.
class result_store {
 public:
  // Makes the file if it is not there. Lines of a group that is not whole, and a last line that is cut off, are taken
  // away: that group is run again. Throws bench::input_error, and leaves the file as it is: not readable, no such results,
  // another version, evaluation or machine, or runs that the plan does not have.
  result_store(const std::string& path, const plan& p);
  ~result_store();
  result_store(const result_store&) = delete;
  result_store& operator=(const result_store&) = delete;

  bool has(const run_group& g) const;
  // Seconds that the group took; 0 if it is not there.
  double seconds_of(const run_group& g) const;
  // All lines of one group at once; on the disk before this returns. Each gets "experiment", "command", the case's
  // fields, "runs" (how many lines there are), "group_seconds" and its turn, if it has some. Throws bench::input_error
  // if the file cannot be written.
  void add(const run_group& g, const std::vector<nlohmann::ordered_json>& lines, double seconds);

  const nlohmann::ordered_json& header() const { return header_; }
  const std::vector<nlohmann::ordered_json>& lines() const { return lines_; }
  const std::string& path() const { return path_; }

 private:
  void read();
  static bool belongs(const nlohmann::ordered_json& line, const run_group& g);
  void check_header(const nlohmann::ordered_json& first) const;
  void keep_whole_groups();
  void rewrite() const;

  std::string path_;
  const plan& plan_;
  nlohmann::ordered_json header_;
  std::vector<nlohmann::ordered_json> lines_;
  std::vector<std::size_t> numbers_;   // of the lines in the file
  bool damaged_ = false;               // what is in the file is not what is here
  int lock_ = -1;
};

}  // namespace weir::tools
