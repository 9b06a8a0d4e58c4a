// From lines to bars.
//
// A figure has a value (the name of a field), a group (a text with fields in braces) and bars. Each entry of bars picks
// lines (where) and says which series they belong to. With a baseline the bar is the baseline's median divided by the
// line's value: a speed-up. The baseline are the lines with the same group whose fields are as it says, and as the bar's
// line has them where `same` names them.
#include "figures.hpp"

#include "fields.hpp"

#include <bench/common/kernel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace weir::tools {
namespace {

using json = nlohmann::ordered_json;
using json_lines = std::vector<json>;

std::optional<double> number(const json& line, const std::string& key) {
  const auto field = line.find(key);
  return field == line.end() || !field->is_number() ? std::nullopt : std::optional(field->get<double>());
}

// One entry of a figure's bars.
struct bar {
  json where, baseline;
  std::string series, value, per;
  std::vector<std::string> same;

  std::optional<double> of(const json& line) const {
    const auto v = number(line, value);
    if (!v || per.empty()) return v;
    const auto divisor = number(line, per);
    return divisor && *divisor > 0 ? std::optional(*v / *divisor) : std::nullopt;
  }
};

class drawing {
 public:
  drawing(const json& figure, const json_lines& lines) : lines_(lines), group_(figure.at("group")) {
    const std::string unit = figure.at("unit"), paper = figure.value("paper", ""), note = figure.value("note", "");
    factor_ = unit == "ms" ? 1e6 : 1;
    chart_ = {.title = figure.at("title"), .note = note + (note.empty() || paper.empty() ? "" : " ") + (paper.empty() ? "" : "Paper: " + paper), .axis = figure.at("axis"), .unit = unit == "ms" ? "ns" : unit};
    for (const json& b : figure.at("bars"))
      add(bar{b.at("where"), b.value("baseline", json()), b.at("series"), b.value("value", figure.at("value").get<std::string>()), b.value("per", ""), b.value("same", std::vector<std::string>())});
    for (const json& q : figure.value("quoted", json::array()))
      for (const json& v : q.at("values"))
        if (std::ranges::find(chart_.groups, v.at("group").get<std::string>()) != chart_.groups.end()) sample(v.at("group"), q.at("series"), v.at("value").get<double>() * factor_);
  }

  // Why there is nothing to draw, or nothing of some lines, in words; empty: nobody knows a reason.
  std::string reasons(const json& figure, const json_lines& lines) const {
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
    for (const std::string& what : lacking_) add(what + ", which its bars are named by");
    const json left_out = figure.value("left_out", json::object());
    for (const auto& [experiment, why] : left_out.items())
      if (std::ranges::none_of(lines, [&](const json& line) { return line.value("experiment", "") == experiment; }))
        add(fmt::format("{} was not run: {}", experiment, why.get<std::string>()));
    return text;
  }

  // What the programs said of counters that this machine does not have, if a bar needs one.
  static std::string missing_counters(const json& figure, const json_lines& lines) {
    for (const json& b : figure.at("bars"))
      for (const json& line : lines)
        if (has_fields(line, b.at("where")) && line.contains("counters_missing"))
          return "it needs counters that this machine does not have: " + line["counters_missing"].get<std::string>();
    return {};
  }

  // Nothing if no line was for it.
  std::optional<chart> result() {
    if (samples_.empty()) return std::nullopt;
    for (const std::string& s : chart_.series) {
      auto& values = chart_.values.emplace_back();
      for (const std::string& g : chart_.groups) {
        const auto found = samples_.find({g, s});
        values.push_back(found == samples_.end() ? std::nullopt : std::optional(summed_up(found->second)));
      }
    }
    return std::move(chart_);
  }

 private:
  void add(const bar& b) {
    for (const json& line : lines_) {
      if (!has_fields(line, b.where)) continue;
      std::string missing;
      const auto group = filled_from(line, group_, &missing), series = filled_from(line, b.series, &missing);
      if (!missing.empty())
        lacking_.insert(fmt::format("lines of {} have no field {}", line.value("experiment", "(none)"), missing));
      const auto value = b.of(line);
      if (!group || !series || !value) continue;
      if (b.baseline.is_null()) sample(*group, *series, *value * factor_);
      else if (const auto reference = baseline(b, line, *group); reference && *value > 0) sample(*group, *series, *reference / *value);
    }
  }

  std::optional<double> baseline(const bar& b, const json& line, const std::string& group) const {
    std::vector<double> values;
    for (const json& other : lines_) {
      const auto shares = [&](const std::string& field) { return other.value(field, json()) == line.value(field, json()); };
      if (!has_fields(other, b.baseline) || filled_from(other, group_) != group ||
          !std::ranges::all_of(b.same, shares))
        continue;
      if (const auto v = b.of(other)) values.push_back(*v);
    }
    return values.empty() ? std::nullopt : std::optional(summed_up(values).median);
  }

  void sample(const std::string& group, const std::string& series, double value) {
    const auto remember = [](std::vector<std::string>& names, const std::string& name) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    remember(chart_.groups, group);
    remember(chart_.series, series);
    samples_[{group, series}].push_back(value);
  }

  const json_lines& lines_;
  std::string group_;
  double factor_ = 1;
  chart chart_;
  std::map<std::pair<std::string, std::string>, std::vector<double>> samples_;
  std::set<std::string> lacking_;  // what lines that a bar picks do not say: an error of who wrote the figure
};

std::string short_number(double x, const std::string& unit) {
  if (unit == "share") return fmt::format("{:.1f} %", 100 * x);
  if (unit == "ratio") return fmt::format("{:.2f}x", x);
  if (unit == "bytes") return fmt::format("{:.2f} MiB", x / (1 << 20));
  if (unit == "count") return fmt::format("{:.0f}", x);
  if (x >= 1e6) return fmt::format("{:.2f} ms", x / 1e6);
  return x >= 1e4 ? fmt::format("{:.1f} us", x / 1e3) : fmt::format("{:.1f} ns", x);
}

std::string table(const chart& c) {
  std::size_t first = 0;
  for (const std::string& g : c.groups) first = std::max(first, g.size());
  std::string text = fmt::format("{:{}}", "", first);
  std::vector<std::size_t> widths;
  for (const std::string& s : c.series) {
    widths.push_back(std::max<std::size_t>(s.size(), 9) + 2);
    text += fmt::format("{:>{}}", s, widths.back());
  }
  text += "\n";
  for (std::size_t g = 0; g < c.groups.size(); g++) {
    text += fmt::format("{:{}}", c.groups[g], first);
    for (std::size_t s = 0; s < c.series.size(); s++) text += fmt::format("{:>{}}", c.values[s][g] ? short_number(c.values[s][g]->median, c.unit) : "-", widths[s]);
    text += "\n";
  }
  return text;
}

void add_figure(chart_section& s, const json& figure, const json_lines& lines) {
  drawing from_lines(figure, lines);
  auto drawn = from_lines.result();
  std::string why = from_lines.reasons(figure, lines);
  if (drawn) {
    if (!why.empty()) drawn->note += (drawn->note.empty() ? "Incomplete: " : " Incomplete: ") + why + ".";
    return s.charts.push_back(std::move(*drawn));
  }
  if (why.empty()) why = drawing::missing_counters(figure, lines);
  if (why.empty()) return;
  s.not_drawn.push_back(fmt::format("{}: not drawn: {}.", figure.at("title").get<std::string>(), why));
}

}  // namespace

chart_section figures_of(const json& header, const json_lines& lines, const std::string& where) {
  try {
    const std::string scaling = header.value("scaling", "");
    chart_section s{.title = fmt::format("{} on {}", header.at("title").get<std::string>(), header.at("machine").get<std::string>()), .note = std::string("Bars are medians, whiskers reach from the lowest to the highest run.") + (scaling.empty() ? "" : " ") + scaling};
    for (const json& f : header.at("figures")) add_figure(s, f, lines);
    return s;
  } catch (const json::exception& e) {
    throw bench::input_error(fmt::format("{}: the figures are not as weir eval writes them: {}", where, e.what()));
  }
}

std::string figures_text(const chart_section& section) {
  std::string text = section.title + "\n" + section.note + "\n";
  for (const chart& c : section.charts) text += fmt::format("\n{}{}{}\n{}", c.title, c.note.empty() ? "" : "\n", c.note, table(c));
  for (const std::string& n : section.not_drawn) text += "\n" + n + "\n";
  return text;
}

}  // namespace weir::tools
