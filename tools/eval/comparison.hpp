// How one contender of an evaluation does against the best of its rivals, cell by cell.
//
// A cell is a problem that all have solved, once in each repeat. Which rival is the best is chosen on the even repeats
// for the odd ones, and on the odd repeats for the even ones: the smallest of several medians is by chance smaller
// than it should be, and is not compared where it was chosen. So each repeat gives one ratio, of its own times.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::tools {

// A mean and the interval it lies in with a probability of 95 %, if there is one: from three repeats on.
struct estimate {
  double mean = 1;
  std::optional<double> low, high;
};

// Of ratios, one a repeat: their geometric mean, and Student's interval for the mean of their logarithms. It is exact
// for any number of repeats where the logarithms are normally distributed.
estimate geometric_mean(const std::vector<double>& ratios);

// Times of a contender by repeat.
using repeats = std::map<int, double>;

struct compared_cell {
  std::string name;
  std::map<std::string, double> medians;  // by contender
  std::string rival;                      // with the lowest median
  std::map<int, double> ratios;           // by repeat: the subject's time by that of the rival chosen on other repeats
  estimate ratio;
};

// Nothing if a repeat has no others of its rivals to choose on.
std::optional<compared_cell> compare_cell(const std::string& name, const std::map<std::string, repeats>& times,
                                          const std::string& subject, const std::vector<std::string>& rivals);

struct comparison {
  std::string title, subject;
  std::vector<std::string> rivals;  // those that have results
  std::vector<compared_cell> cells;
  estimate overall;                 // of the geometric means over the cells, one a repeat

  // Cells in which the subject takes longer: the whole interval, or the mean, above the limit.
  std::size_t wholly_above(double limit) const;
  std::size_t above(double limit) const;
};

// From result lines. What is compared is said by the file of the evaluation (bench/eval/README.md).
std::vector<comparison> comparisons_of(const nlohmann::ordered_json& plan,
                                       const std::vector<nlohmann::ordered_json>& lines);

std::string comparison_text(const comparison&);
nlohmann::ordered_json comparison_json(const comparison&);

}  // namespace weir::tools
