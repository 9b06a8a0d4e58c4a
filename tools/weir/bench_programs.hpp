// The programs that measure the same under several runtimes, NAME-RUNTIME: where they are, what they can, what they
// say.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

struct bench_program {
  std::string runtime;
  std::filesystem::path path;
  std::vector<std::string> parts;  // what --list names: patterns, or rows

  bool has(std::string_view part) const;
};

// Those of a name that are in one of the places where this command looks, in the order of `runtimes`.
std::vector<bench_program> find_programs(std::string_view name, std::span<const std::string_view> runtimes);

// Those that the option --runtimes names, or all that are there. Throws bench::input_error where a named one is unknown
// or not there, or none is there.
std::vector<bench_program> choose_programs(std::string_view name, std::span<const std::string_view> runtimes,
                                           const std::optional<std::string>& named);

// The first line a program prints, or one line that says what went wrong.
struct program_answer {
  std::string line, failure;
};
program_answer ask_program(const std::vector<std::string>& arguments, double longest_seconds);

}  // namespace weir::tools
