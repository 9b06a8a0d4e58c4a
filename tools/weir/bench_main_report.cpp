// Table and JSON of `weir bench main`.
#include "bench_main_report.hpp"

#include <bench/common/output.hpp>
#include <bench/common/plural.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

namespace weir::tools {
namespace {

using bench::from_main::kind;
using bench::from_main::place;
using main_results = std::vector<main_result>;

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string title_of(const main_result& r) {
  std::string title(r.row->title);
  const std::size_t at = title.find("{}");
  if (at == std::string::npos) return title;
  const bool tree = r.row->computes == bench::from_main::recursion::tree;
  return title.replace(at, 2, with_commas(tree ? bench::from_main::leaves_of(r.row->children, r.size) : r.size));
}

std::vector<std::string_view> columns_of(const main_results& results) {
  std::vector<std::string_view> names;
  for (const std::string_view name : main_runtime_names())
    if (std::ranges::find(results, name, &main_result::runtime) != results.end()) names.push_back(name);
  return names;
}

// Three digits, unless there are more before the point.
std::string short_number(double x) {
  const double size = x < 0 ? -x : x;
  return fmt::format("{:.{}f}", x, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

// A line of the table: what it shows of each runtime's result, of those at a place and with a number of workers.
struct table_line {
  std::string label;
  std::string_view unit;
  place from;
  int workers;
  bool with_serial;
  std::function<std::optional<double>(const main_result&)> value;
};

class main_table {
 public:
  main_table(const main_results& results, int workers)
      : results_(results), workers_(workers), columns_(columns_of(results)) {}

  void print() const {
    std::string heading = fmt::format("{:<46}{:>10}", "", "serial");
    for (const std::string_view c : columns_) heading += fmt::format("{:>10}", c);
    fmt::print("\n{}\n", heading);
    const bench::from_main::row* before = nullptr;
    for (const main_result& r : results_) {
      if (r.row != before) print_row(r);
      before = r.row;
    }
  }

 private:
  void print_row(const main_result& first) const {
    fmt::print("{}\n", title_of(first));
    if (first.row->what == kind::recursion) print_recursion(first);
    else
      for (const place from : {place::main, place::task}) print_place(first, from);
  }

  void print_place(const main_result& first, place from) const {
    const double unit = first.row->ns_per_unit;
    const std::string label = from == place::main ? "from main()" : "in a task";
    print_line(first, {label, first.row->unit, from, workers_, true, [=](const auto& r) { return r.ns / unit; }});
    if (first.row->what != kind::overhead) return;
    print_line(first, {"  more than serial", first.row->unit, from, workers_, false, [=](const main_result& r) {
                         return r.overhead ? std::optional(*r.overhead / unit) : std::nullopt;
                       }});
  }

  void print_recursion(const main_result& first) const {
    const double unit = first.row->ns_per_unit;
    for (const int n : {1, 2})
      print_line(first, {n == 1 ? "one worker" : "two workers", first.row->unit, place::main, n, n == 1,
                         [=](const auto& r) { return r.ns / unit; }});
    print_line(first, {"one by two", "x", place::main, 2, false, [](const main_result& r) { return r.ratio; }});
    for (const int n : {1, 2})
      print_line(first, {n == 1 ? "a call, one worker" : "a call, two workers' time together", "ns", place::main, n,
                         false, [](const main_result& r) { return r.call; }});
  }

  // Nothing where no runtime has such a result.
  void print_line(const main_result& first, const table_line& line) const {
    std::string cells, serial = "-";
    bool any = false;
    for (const std::string_view c : columns_) {
      const main_result* const r = find_result(first, line, c);
      const std::optional<double> value = r == nullptr ? std::nullopt : line.value(*r);
      cells += fmt::format("{:>10}", value ? short_number(*value) : "-");
      any |= value.has_value();
      if (r != nullptr && r->serial && serial == "-") serial = short_number(*r->serial / r->row->ns_per_unit);
    }
    if (any) fmt::print("  {:<40}{:<4}{:>10}{}\n", line.label, line.unit, line.with_serial ? serial : "", cells);
  }

  const main_result* find_result(const main_result& first, const table_line& line, std::string_view runtime) const {
    const auto found = std::ranges::find_if(results_, [&](const main_result& r) {
      return r.row == first.row && r.from == line.from && r.workers == line.workers && r.runtime == runtime;
    });
    return found == results_.end() ? nullptr : &*found;
  }

  const main_results& results_;
  int workers_;
  std::vector<std::string_view> columns_;
};

}  // namespace

void compare_workers(main_results& results) {
  for (main_result& two : results) {
    if (two.row->what != kind::recursion || two.workers != 2) continue;
    const auto one = std::ranges::find_if(results, [&](const main_result& r) {
      return r.row == two.row && r.runtime == two.runtime && r.workers == 1;
    });
    if (one != results.end()) two.ratio = one->ns / two.ns;
  }
}

void print_main_json(const main_results& results) {
  const auto number = [](const std::optional<double>& x) { return x ? nlohmann::ordered_json(*x) : nullptr; };
  for (const main_result& r : results) {
    nlohmann::ordered_json line = {{"row", r.row->name}, {"from", bench::from_main::name_of(r.from)}};
    line["runtime"] = r.runtime;
    line["workers"] = r.workers;
    line["size"] = r.size != 0 ? nlohmann::ordered_json(r.size) : nullptr;
    line["ns"] = r.ns;
    line["lowest_ns"] = r.lowest;
    line["highest_ns"] = r.highest;
    line["serial_ns"] = number(r.serial);
    line["overhead_ns"] = number(r.overhead);
    line["one_by_two"] = number(r.ratio);
    line["cpu_ns_a_call"] = number(r.call);
    line["runs"] = r.runs;
    fmt::print("{}\n", line.dump());
  }
  bench::flush_output();
}

void print_main_table(const main_results& results, int workers, int rounds) {
  fmt::print("What things cost that a program does from main(): {}, medians of {} in turn\n",
             bench::plural(workers, "worker"), bench::plural(rounds, "run"));
  main_table(results, workers).print();
  bench::flush_output();
}

}  // namespace weir::tools
