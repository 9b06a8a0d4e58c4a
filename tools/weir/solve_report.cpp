// Tables, JSON and pages of `weir solve`.
#include "solve_report.hpp"

#include <bench/common/plural.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace weir::tools {
namespace {

// 1234567 as 1,234,567.
std::string grouped(std::size_t n) {
  std::string s = std::to_string(n);
  for (std::ptrdiff_t at = std::ssize(s) - 3; at > 0; at -= 3) s.insert(static_cast<std::size_t>(at), 1, ',');
  return s;
}

std::string counted(std::size_t n, std::string_view noun) { return bench::plural(n, noun, grouped(n)); }
std::string workers_of(const solve_facts& f) { return bench::plural(f.workers, "worker"); }

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

double ratio(double of, double to) { return to > 0 ? of / to : 0; }

std::string speedup(double sequential, double parallel) { return fmt::format("{:.2f}x", ratio(sequential, parallel)); }

struct line {
  std::string what, value, time;
};

std::vector<line> lines_of(const solve_facts& f) {
  const std::string blocks = f.block == 1 ? "" : fmt::format(", blocks of {0} x {0}", f.block);
  const std::string tasks = f.coarsen == "none" ? "" : fmt::format(", put together to {} by {}", grouped(f.aggregated_tasks), f.coarsen);
  std::vector<line> all = {
      {"matrix", fmt::format("{}: {}, {}{}", f.matrix, counted(f.rows, "row"), counted(f.nonzeros, "nonzero"), blocks),
       duration(f.read_seconds)},
      {"order", f.order, duration(f.order_seconds)},
      {"pattern",
       fmt::format("ILU({}): {}, {:.2f} times the matrix's", f.level, counted(f.factor_nonzeros, "nonzero"),
                   ratio(static_cast<double>(f.factor_nonzeros), static_cast<double>(f.nonzeros))),
       duration(f.symbolic_seconds)},
      {"tasks", fmt::format("{}, {}{}", grouped(f.tasks), counted(f.edges, "edge"), tasks),
       duration(f.aggregate_seconds)},
  };
  if (f.nodes > 1) all.push_back({"memory", f.pages.pages > 0 ? f.memory + ": " + f.pages.to_string() : f.memory, f.pages.pages > 0 ? duration(f.distribute_seconds) : ""});
  if (f.shifted_pivots > 0) all.push_back({"pivots", fmt::format("{} shifted", grouped(static_cast<std::size_t>(f.shifted_pivots))), ""});
  if (f.method == "none") return all;
  all.push_back({f.method,
                 fmt::format("{}, residual {:.2e}{}", counted(static_cast<std::size_t>(f.iterations), "iteration"),
                             f.residual, f.converged ? "" : ", not converged"),
                 duration(f.iterate_seconds)});
  return all;
}

struct comparison {
  const char* what;
  double sequential, parallel;
};

// What was not measured is left out.
std::vector<comparison> comparisons_of(const solve_facts& f) {
  std::vector<comparison> all = {{"factorisation", f.sequential_factor_seconds, f.factor_seconds},
                                 {"triangular solves", f.sequential_solve_seconds, f.solve_seconds}};
  if (f.read_bytes_seconds > 0)
    all.push_back({"reading their bytes", f.sequential_read_bytes_seconds, f.read_bytes_seconds});
  return all;
}

std::string sequential_duration(const comparison& c) { return c.sequential > 0 ? duration(c.sequential) : ""; }
std::string speedup(const comparison& c) { return c.sequential > 0 ? speedup(c.sequential, c.parallel) : ""; }

nlohmann::ordered_json if_measured(double seconds) {
  return seconds > 0 ? nlohmann::ordered_json(seconds) : nlohmann::ordered_json();
}

std::string bandwidth(std::size_t bytes, double seconds) { return fmt::format("{:.1f} GB/s", ratio(static_cast<double>(bytes), seconds) * 1e-9); }

// ---------------------------------------------------------------- plot

constexpr double plot_width = 720, plot_height = 360, margin_left = 70, margin_right = 15, margin_top = 15, margin_bottom = 45;

// Residuals by iteration, the logarithm upwards.
class plot {
 public:
  explicit plot(const solve_facts& f) : history_(f.history), tolerance_(f.tolerance) {
    double least = tolerance_, most = 1;
    for (const double r : history_) {
      if (!(r > 0) || !std::isfinite(r)) continue;
      least = std::min(least, r);
      most = std::max(most, r);
    }
    bottom_ = std::floor(std::log10(least));
    top_ = std::max(std::ceil(std::log10(most)), bottom_ + 1);
  }
  std::string svg() const {
    std::string s = fmt::format("<svg viewBox='0 0 {} {}' role='img' aria-label='residual by iteration'>\n", plot_width, plot_height);
    s += axes();
    s += fmt::format("<line class='limit' x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'/>\n", margin_left, y(tolerance_), plot_width - margin_right, y(tolerance_));
    s += "<polyline class='residual' points='";
    for (std::size_t i = 0; i < history_.size(); i++)
      if (history_[i] > 0 && std::isfinite(history_[i])) s += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(i)), y(history_[i]));
    return s + "'/>\n</svg>\n";
  }

 private:
  double last() const { return std::max<double>(1, static_cast<double>(history_.size()) - 1); }
  double x(double iteration) const { return margin_left + (plot_width - margin_left - margin_right) * iteration / last(); }
  double y(double residual) const { return margin_top + (plot_height - margin_top - margin_bottom) * (top_ - std::log10(residual)) / (top_ - bottom_); }
  std::string axes() const {
    std::string s;
    const double decades = std::max(1.0, std::ceil((top_ - bottom_) / 10));
    for (double d = top_; d >= bottom_; d -= decades) {
      const double at = y(std::pow(10, d));
      s += fmt::format("<line class='grid' x1='{0:.1f}' y1='{1:.1f}' x2='{2:.1f}' y2='{1:.1f}'/><text x='{3:.1f}' y='{4:.1f}' text-anchor='end'>1e{5:.0f}</text>\n", margin_left, at, plot_width - margin_right, margin_left - 8, at + 4, d);
    }
    const double step = std::max(1.0, std::ceil(last() / 8));
    for (double i = 0; i <= last(); i += step) s += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{:.0f}</text>\n", x(i), plot_height - margin_bottom + 18, i);
    return s + fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>iteration</text>\n", (margin_left + plot_width - margin_right) / 2, plot_height - 6);
  }

  const std::vector<double>& history_;
  double tolerance_, bottom_, top_;
};

std::string escaped(std::string_view text) {
  std::string s;
  for (const char c : text) {
    if (c == '&') s += "&amp;";
    else if (c == '<') s += "&lt;";
    else if (c == '>') s += "&gt;";
    else s += c;
  }
  return s;
}

constexpr std::string_view style =
    "body { font: 15px/1.5 sans-serif; max-width: 760px; margin: 2em auto; padding: 0 1em; }\n"
    "td, th { padding: 2px 14px 2px 0; text-align: left; vertical-align: top; } td.n, th.n { text-align: right; }\n"
    "svg { width: 100%; height: auto; } svg text { font: 12px sans-serif; }\n"
    ".grid { stroke: #ddd; } .limit { stroke: #c33; stroke-dasharray: 5 4; } .residual { fill: none; stroke: #247; stroke-width: 1.8; }\n";

}  // namespace

std::string to_table(const solve_facts& f) {
  std::string s;
  std::size_t width = 0;
  for (const line& l : lines_of(f)) width = std::max(width, l.value.size());
  for (const line& l : lines_of(f)) s += l.time.empty() ? fmt::format("{:<9} {}\n", l.what, l.value) : fmt::format("{:<9} {:<{}}  {:>10}\n", l.what, l.value, width, l.time);
  s += fmt::format("\n{:<20} {:>11} {:>11}\n", "", "sequential", workers_of(f));
  for (const comparison& c : comparisons_of(f))
    s += fmt::format("{:<20} {:>11} {:>11} {:>7}\n", c.what, sequential_duration(c), duration(c.parallel), speedup(c));
  if (f.read_bytes_seconds == 0) return s;
  return s + fmt::format("{:<20} {:>11} {:>11}\n", "which is", bandwidth(f.solve_bytes, f.sequential_read_bytes_seconds), bandwidth(f.solve_bytes, f.read_bytes_seconds));
}

std::string to_json(const solve_facts& f) {
  nlohmann::ordered_json j = {
      {"matrix", f.matrix}, {"rows", f.rows}, {"nonzeros", f.nonzeros}, {"block", f.block}, {"order", f.order}, {"order_seconds", f.order_seconds},
      {"ilu", f.level}, {"factor_nonzeros", f.factor_nonzeros}, {"symbolic_seconds", f.symbolic_seconds}, {"shifted_pivots", f.shifted_pivots},
      {"policy", f.policy}, {"workers", f.workers}, {"coarsen", f.coarsen}, {"tasks", f.tasks}, {"edges", f.edges}, {"aggregated_tasks", f.aggregated_tasks}, {"aggregate_seconds", f.aggregate_seconds},
      {"nodes", f.nodes}, {"memory", f.memory}, {"pages", {{"moved", f.pages.moved}, {"there", f.pages.there}, {"promised", f.pages.promised}, {"refused", f.pages.refused}}},
      {"factor_seconds", f.factor_seconds},
      {"sequential_factor_seconds", if_measured(f.sequential_factor_seconds)},
      {"solve_seconds", f.solve_seconds},
      {"sequential_solve_seconds", if_measured(f.sequential_solve_seconds)},
      {"solve_bytes", f.solve_bytes},
      {"read_bytes_seconds", if_measured(f.read_bytes_seconds)},
      {"sequential_read_bytes_seconds", if_measured(f.sequential_read_bytes_seconds)},
      {"method", f.method}, {"converged", f.converged}, {"iterations", f.iterations}, {"residual", f.residual}, {"iterate_seconds", f.iterate_seconds}, {"history", f.history}};
  for (const auto& [name, value] : f.factor_counts.fields()) j["factor_" + name] = value;
  for (const auto& [name, value] : f.solve_counts.fields()) j["solve_" + name] = value;
  if (!f.counters_missing.empty()) j["counters_missing"] = f.counters_missing;
  if (f.distribute_seconds > 0) j["distribute_seconds"] = f.distribute_seconds;
  return j.dump();
}

std::string to_html(const solve_facts& f) {
  std::string s = fmt::format("<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n<title>{0}</title>\n<style>\n{1}</style>\n<h1>{0}</h1>\n", escaped(f.matrix), style);
  s += plot(f).svg();
  s += fmt::format("<p>Residual |b - A x| / |b| by iteration; dashed: the tolerance, {:g}.</p>\n<table>\n", f.tolerance);
  for (const line& l : lines_of(f)) s += fmt::format("<tr><td>{}<td>{}<td class='n'>{}\n", l.what, escaped(l.value), l.time);
  s += fmt::format("</table>\n<table>\n<tr><th><th class='n'>sequential<th class='n'>{}<th>\n", workers_of(f));
  for (const comparison& c : comparisons_of(f))
    s += fmt::format("<tr><td>{}<td class='n'>{}<td class='n'>{}<td class='n'>{}\n", c.what, sequential_duration(c),
                     duration(c.parallel), speedup(c));
  if (f.read_bytes_seconds > 0)
    s += fmt::format("<tr><td>which is<td class='n'>{}<td class='n'>{}<td>\n",
                     bandwidth(f.solve_bytes, f.sequential_read_bytes_seconds),
                     bandwidth(f.solve_bytes, f.read_bytes_seconds));
  return s + "</table>\n</html>\n";
}

}  // namespace weir::tools
