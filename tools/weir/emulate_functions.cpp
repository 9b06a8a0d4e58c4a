// Functions as JSON, and as rows of a table.
#include "emulate_functions.hpp"

#include "spaced.hpp"

#include <tools/emulator/profile/short_name.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace weir::tools {
namespace {

using emulator::code_counts;
using emulator::function_counts;

// Wider: the table does not fit a terminal. Narrower: names that end alike look the same.
constexpr std::size_t widest_name = 60;

std::uint64_t lines_of(const code_counts& c) { return c.read_lines + c.write_lines; }
double microseconds(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

// Of a long name the end says more.
std::string fitting(const std::string& name) {
  return name.size() <= widest_name ? name : "..." + name.substr(name.size() - widest_name + 3);
}

std::string share_of(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? "-" : fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

std::string tenths(double us) {
  const auto all = static_cast<std::uint64_t>(std::llround(us * 10));
  return fmt::format("{}.{}", spaced(all / 10), all % 10);
}

using table_row = std::array<std::string, 7>;

table_row row_of(const std::string& name, const std::string& file, const code_counts& c, const code_counts& all) {
  const std::uint64_t lines = lines_of(c);
  return {name, file, spaced(c.instructions), spaced(lines), share_of(c.own_lines, lines),
          tenths(microseconds(c.wait_ps)), share_of(c.wait_ps, all.wait_ps)};
}

// Names to the left, numbers to the right; a column in which no row has anything is left out.
std::string aligned(const std::vector<table_row>& rows) {
  std::array<std::size_t, 7> width{};
  for (const table_row& r : rows)
    for (std::size_t k = 0; k < r.size(); k++) width[k] = std::max(width[k], r[k].size());
  std::string text;
  for (const table_row& r : rows) {
    text += fmt::format("  {:<{}}", r[0], width[0]);
    if (width[1] > 0) text += fmt::format("  {:<{}}", r[1], width[1]);
    for (std::size_t k = 2; k < r.size(); k++) text += fmt::format("  {:>{}}", r[k], width[k]);
    text += '\n';
  }
  return text;
}

code_counts sum_of(std::vector<function_counts>::const_iterator from, std::vector<function_counts>::const_iterator to) {
  code_counts all;
  for (; from != to; ++from) all += from->counted;
  return all;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

nlohmann::ordered_json functions_json(const emulator::code_profile& profile, const emulator::function_names& names) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, c] : by_function(profile, names))
    list.push_back({{"function", name.function},
                    {"file", name.file},
                    {"instructions", c.instructions},
                    {"read_lines", c.read_lines},
                    {"write_lines", c.write_lines},
                    {"own_node_lines", c.own_lines},
                    {"wait_us", microseconds(c.wait_ps)}});
  return list;
}

std::string functions_text(const emulator::code_profile& profile, const emulator::function_names& names,
                           std::size_t rows, const std::string& program) {
  const std::vector<function_counts> functions = by_function(profile, names);
  const auto shown = functions.begin() + static_cast<std::ptrdiff_t>(std::min(rows, functions.size()));
  const code_counts all = sum_of(functions.begin(), functions.end());
  std::vector<table_row> table;
  for (auto f = functions.begin(); f != shown; ++f) {
    const std::string file = f->name.file == program ? "" : base_name(f->name.file);
    table.push_back(row_of(fitting(emulator::short_name(f->name.function)), file, f->counted, all));
  }
  const auto others = functions.end() - shown;
  if (others > 0) table.push_back(row_of(fmt::format("others ({})", others), "", sum_of(shown, functions.end()), all));
  table.push_back(row_of("total", "", all, all));
  const bool files = std::any_of(table.begin(), table.end(), [](const table_row& r) { return !r[1].empty(); });
  const table_row head = {"function", files ? "file" : "", "instructions", "lines", "own node", "waited us", "of all"};
  table.insert(table.begin(), head);
  return "\n" + aligned(table);
}

}  // namespace weir::tools
