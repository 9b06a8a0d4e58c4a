// From argv to options.
#include <bench/shapes/options.hpp>

#include <bench/common/command_line.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace weir::bench::shapes {
namespace {

constexpr std::string_view known_options[] = {"--shape", "--workers", "--task-us", "--data",   "--runs",
                                              "--size",  "--bytes",   "--seed",    "--policy"};

[[noreturn]] void help(const char* program, bool has_policies) {
  std::printf("usage: %s --shape all|NAME[,NAME...] [--workers N] [--task-us T] [--data node0|near] [--runs R]\n"
              "       [--size S] [--bytes B] [--seed X]%s\n"
              "       %s --list\n",
              program, has_policies ? " [--policy P]" : "", program);
  std::exit(0);
}

[[noreturn]] void list(std::span<const shape_info> known) {
  for (const shape_info& s : known)
    std::printf("%-16s %s; --size %llu %s\n", std::string(s.name).c_str(), std::string(s.description).c_str(),
                static_cast<unsigned long long>(s.size), std::string(s.unit).c_str());
  std::exit(0);
}

std::vector<std::string> all_of(std::span<const shape_info> known) {
  std::vector<std::string> names;
  for (const shape_info& s : known) names.emplace_back(s.name);
  return names;
}

std::vector<std::string> shapes_in(std::string_view text, std::span<const shape_info> known) {
  if (text == "all") return all_of(known);
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.emplace_back(text.substr(at, end - at));
    if (std::ranges::find(known, names.back(), &shape_info::name) == known.end())
      refuse("--shape " + names.back() + ": no such shape; --list shows them");
    at = end + 1;
  }
  return names;
}

first_data data_in(std::string_view text) {
  for (const first_data d : {first_data::node0, first_data::near})
    if (text == name_of(d)) return d;
  refuse("--data " + std::string(text) + ": expected node0 or near");
}

std::size_t words_in(std::string_view text) {
  constexpr std::uint64_t line = words_of_line * sizeof(word), most = 1 << 30;
  const std::uint64_t bytes = whole_number("--bytes", text, line, most);
  if (bytes % line != 0) refuse("--bytes " + std::string(text) + ": expected a multiple of " + std::to_string(line));
  return bytes / sizeof(word);
}

void set(options& o, std::string_view option, std::string_view value, std::span<const shape_info> known) {
  if (option == "--shape") o.shapes = shapes_in(value, known);
  if (option == "--workers") o.workers = static_cast<int>(whole_number(option, value, 1, 1 << 14));
  if (option == "--task-us") o.task_us = whole_number(option, value, 0, 1000000);
  if (option == "--data") o.data = data_in(value);
  if (option == "--runs") o.runs = whole_number(option, value, 1, 1000000);
  if (option == "--size") o.size = whole_number(option, value, 1, 1 << 20);
  if (option == "--bytes") o.words = words_in(value);
  if (option == "--seed") o.seed = whole_number(option, value, 0, ~std::uint64_t{0});
  if (option == "--policy") o.policy = value;
}

}  // namespace

std::string_view name_of(first_data d) { return d == first_data::node0 ? "node0" : "near"; }

options parse_options(int argc, char** argv, std::span<const shape_info> known, bool has_policies) {
  const char* const program = name_program(argc, argv, "shapes");
  options o;
  for (int i = 1; i < argc; i++) {
    const std::string_view option = argv[i];
    if (option == "--help") help(program, has_policies);
    if (option == "--list") list(known);
    if (std::ranges::find(known_options, option) == std::end(known_options) ||
        (option == "--policy" && !has_policies))
      refuse("unknown option " + std::string(option) + "; --help lists them");
    if (i + 1 == argc) refuse(std::string(option) + " needs a value");
    set(o, option, argv[++i], known);
  }
  if (o.shapes.empty()) refuse("--shape is missing; --list shows the shapes");
  if (o.size != 0 && o.shapes.size() > 1) refuse("--size is for a single shape");
  return o;
}

}  // namespace weir::bench::shapes
