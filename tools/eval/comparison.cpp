// From times to ratios, and to tables.
#include "comparison.hpp"

#include "fields.hpp"

#include <bench/common/median.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace weir::tools {
namespace {

using json = nlohmann::ordered_json;

constexpr double limits[] = {1.05, 1.15};  // what a table counts cells above

// Student's t for 95 %, two-sided, by degrees of freedom from 1 on; behind the last the normal distribution's.
double student(std::size_t degrees) {
  constexpr double values[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  return degrees <= std::size(values) ? values[degrees - 1] : 1.96 + 2.4 / static_cast<double>(degrees);
}

bool same_half(int a, int b) { return (a - b) % 2 == 0; }

// Of the repeats that are, or are not, in the same half as this one.
std::optional<double> median_of(const repeats& times, int repeat, bool same) {
  std::vector<double> values;
  for (const auto& [r, time] : times)
    if (same_half(r, repeat) == same) values.push_back(time);
  return values.empty() ? std::nullopt : std::optional(bench::median(values));
}

std::string best_for(int repeat, const std::map<std::string, repeats>& times, const std::vector<std::string>& rivals) {
  std::string best;
  double lowest = 0;
  for (const std::string& rival : rivals) {
    const auto found = times.find(rival);
    if (found == times.end() || !found->second.contains(repeat)) continue;
    const std::optional<double> median = median_of(found->second, repeat, false);
    if (median && (best.empty() || *median < lowest)) best = rival, lowest = *median;
  }
  return best;
}

double median_of(const repeats& times) {
  std::vector<double> values;
  for (const auto& [repeat, time] : times) values.push_back(time);
  return bench::median(values);
}

estimate overall_of(const std::vector<compared_cell>& cells) {
  std::map<int, std::vector<double>> by_repeat;
  for (const compared_cell& c : cells)
    for (const auto& [repeat, ratio] : c.ratios) by_repeat[repeat].push_back(ratio);
  std::vector<double> means;
  for (const auto& [repeat, ratios] : by_repeat)
    if (ratios.size() == cells.size()) means.push_back(geometric_mean(ratios).mean);
  return geometric_mean(means);
}

// Times by cell, in the order of the lines, then by contender and repeat: medians of the runs of a process, without
// those that only warm up.
class collected_times {
 public:
  collected_times(const json& plan, const std::vector<json>& lines) {
    std::map<std::string, std::map<std::string, std::map<int, std::vector<double>>>> runs;
    for (const json& line : lines) {
      const auto cell = filled_from(line, plan.at("cell")), contender = filled_from(line, plan.at("contender"));
      const auto repeat = filled_from(line, plan.at("repeat"));
      const auto value = line.find(plan.at("value").get<std::string>());
      if (!cell || !contender || !repeat || value == line.end() || !value->is_number()) continue;
      if (has_fields(line, plan.value("without", json::object({{"", ""}})))) continue;
      if (!runs.contains(*cell)) cells_.push_back(*cell);
      runs[*cell][*contender][std::stoi(*repeat)].push_back(value->get<double>());
    }
    for (const auto& [cell, contenders] : runs)
      for (const auto& [contender, by_repeat] : contenders)
        for (const auto& [repeat, values] : by_repeat) times_[cell][contender][repeat] = bench::median(values);
  }

  const std::vector<std::string>& cells() const { return cells_; }
  const std::map<std::string, repeats>& of(const std::string& cell) const { return times_.at(cell); }
  bool has(const std::string& contender) const {
    return std::ranges::any_of(times_, [&](const auto& cell) { return cell.second.contains(contender); });
  }

 private:
  std::vector<std::string> cells_;
  std::map<std::string, std::map<std::string, repeats>> times_;
};

std::string interval_text(const estimate& e) {
  if (!e.low) return fmt::format("{:.2f}", e.mean);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", e.mean, *e.low, *e.high);
}

json estimate_json(const estimate& e) {
  const auto number = [](const std::optional<double>& x) { return x ? json(*x) : json(); };
  return {{"mean", e.mean}, {"low", number(e.low)}, {"high", number(e.high)}};
}

std::string row_text(const comparison& c, const compared_cell& cell, std::size_t first) {
  const auto time = [&](const std::string& contender) {
    const auto found = cell.medians.find(contender);
    return found == cell.medians.end() ? std::string("-") : fmt::format("{:.2f}", found->second);
  };
  std::string text = fmt::format("{:{}}{:>10}", cell.name, first, time(c.subject));
  for (const std::string& rival : c.rivals) text += fmt::format("{:>10}", time(rival));
  return text + fmt::format("  {:<20}{}\n", interval_text(cell.ratio), cell.rival);
}

}  // namespace

estimate geometric_mean(const std::vector<double>& ratios) {
  constexpr std::size_t fewest_for_interval = 3;
  if (ratios.empty()) return {};
  const auto n = static_cast<double>(ratios.size());
  double sum = 0, squares = 0;
  for (const double r : ratios) sum += std::log(r);
  for (const double r : ratios) squares += (std::log(r) - sum / n) * (std::log(r) - sum / n);
  estimate e{.mean = std::exp(sum / n)};
  if (ratios.size() < fewest_for_interval) return e;
  const double half = student(ratios.size() - 1) * std::sqrt(squares / (n - 1) / n);
  e.low = std::exp(sum / n - half);
  e.high = std::exp(sum / n + half);
  return e;
}

std::optional<compared_cell> compare_cell(const std::string& name, const std::map<std::string, repeats>& times,
                                          const std::string& subject, const std::vector<std::string>& rivals) {
  const auto own = times.find(subject);
  if (own == times.end()) return std::nullopt;
  compared_cell cell{.name = name};
  std::vector<double> ratios;
  for (const auto& [repeat, time] : own->second) {
    const std::string rival = best_for(repeat, times, rivals);
    if (rival.empty()) continue;
    ratios.push_back(cell.ratios[repeat] = time / times.at(rival).at(repeat));
  }
  if (ratios.empty()) return std::nullopt;
  cell.ratio = geometric_mean(ratios);
  cell.medians[subject] = median_of(own->second);
  for (const std::string& rival : rivals) {
    const auto found = times.find(rival);
    if (found == times.end()) continue;
    cell.medians[rival] = median_of(found->second);
    if (cell.rival.empty() || cell.medians[rival] < cell.medians[cell.rival]) cell.rival = rival;
  }
  return cell;
}

std::size_t comparison::wholly_above(double limit) const {
  const auto wholly = [=](const compared_cell& c) { return c.ratio.low && *c.ratio.low > limit; };
  return static_cast<std::size_t>(std::ranges::count_if(cells, wholly));
}

std::size_t comparison::above(double limit) const {
  const auto is_above = [=](const compared_cell& c) { return c.ratio.mean > limit; };
  return static_cast<std::size_t>(std::ranges::count_if(cells, is_above));
}

std::vector<comparison> comparisons_of(const json& plan, const std::vector<json>& lines) {
  std::vector<comparison> all;
  for (const json& each : plan) {
    const collected_times times(each, lines);
    comparison c{.title = each.at("title"), .subject = each.at("subject")};
    for (const json& rival : each.at("rivals"))
      if (times.has(rival)) c.rivals.push_back(rival);
    for (const std::string& cell : times.cells())
      if (auto compared = compare_cell(cell, times.of(cell), c.subject, c.rivals)) c.cells.push_back(*compared);
    c.overall = overall_of(c.cells);
    if (!c.cells.empty()) all.push_back(std::move(c));
  }
  return all;
}

std::string comparison_text(const comparison& c) {
  std::size_t first = 0;
  for (const compared_cell& cell : c.cells) first = std::max(first, cell.name.size());
  std::string text = fmt::format("\n{}\n{:{}}{:>10}", c.title, "", first, c.subject);
  for (const std::string& rival : c.rivals) text += fmt::format("{:>10}", rival);
  text += fmt::format("  {:<20}{}\n", "ratio", "best rival");
  for (const compared_cell& cell : c.cells) text += row_text(c, cell, first);
  text += fmt::format("geometric mean of {} {}: {}\n", c.cells.size(), c.cells.size() == 1 ? "cell" : "cells",
                      interval_text(c.overall));
  for (const double limit : limits)
    text += fmt::format("above {:.2f}: {}, of these {} with the whole interval\n", limit, c.above(limit),
                        c.wholly_above(limit));
  return text;
}

json comparison_json(const comparison& c) {
  json cells = json::array();
  for (const compared_cell& cell : c.cells)
    cells.push_back(
        {{"cell", cell.name}, {"medians", cell.medians}, {"rival", cell.rival}, {"ratio", estimate_json(cell.ratio)}});
  json above = json::array();
  for (const double limit : limits)
    above.push_back({{"limit", limit}, {"cells", c.above(limit)}, {"wholly", c.wholly_above(limit)}});
  return {{"title", c.title}, {"subject", c.subject},  {"rivals", c.rivals},
          {"overall", estimate_json(c.overall)}, {"above", above}, {"cells", cells}};
}

}  // namespace weir::tools
