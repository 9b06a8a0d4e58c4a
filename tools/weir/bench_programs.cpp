// Finding the programs, and running them.
#include "bench_programs.hpp"

#include <bench/common/kernel.hpp>
#include <bench/common/options.hpp>
#include <tools/common/subprocess.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <system_error>

namespace weir::tools {
namespace {

std::filesystem::path own_folder() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::vector<std::filesystem::path> program_folders() {
  return {own_folder() / "peers", (own_folder() / "../libexec/weir").lexically_normal()};
}

std::string places_of_programs(std::string_view name) {
  std::string text;
  for (const auto& folder : program_folders())
    text += (text.empty() ? "" : " and ") + (folder / fmt::format("{}-*", name)).string();
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> parts_of(const std::filesystem::path& program) {
  std::istringstream lines(run_process({program.string(), "--list"}, std::chrono::seconds(20)).output);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(line.substr(0, line.find(' ')));
  return names;
}

}  // namespace

bool bench_program::has(std::string_view part) const { return std::ranges::find(parts, part) != parts.end(); }

std::vector<bench_program> find_programs(std::string_view name, std::span<const std::string_view> runtimes) {
  std::vector<bench_program> found;
  for (const std::string_view runtime : runtimes)
    for (const auto& folder : program_folders()) {
      const std::filesystem::path path = folder / fmt::format("{}-{}", name, runtime);
      if (::access(path.c_str(), X_OK) != 0) continue;
      found.push_back({std::string(runtime), path, parts_of(path)});
      break;
    }
  return found;
}

std::vector<bench_program> choose_programs(std::string_view name, std::span<const std::string_view> runtimes,
                                           const std::optional<std::string>& named) {
  using bench::input_error;
  std::vector<bench_program> found = find_programs(name, runtimes);
  if (!named) {
    if (found.empty()) throw input_error("no program to measure with; looked for " + places_of_programs(name));
    return found;
  }
  std::vector<bench_program> programs;
  for (const std::string& runtime : bench::parse_names("--runtimes", *named)) {
    if (std::ranges::find(runtimes, runtime) == runtimes.end())
      throw input_error(
          fmt::format("--runtimes: no runtime \"{}\"; there are {}", runtime, fmt::join(runtimes, ", ")));
    const auto program = std::ranges::find(found, runtime, &bench_program::runtime);
    if (program == found.end())
      throw input_error(fmt::format("--runtimes: {} was not installed when weir was built; looked for {}", runtime,
                                    places_of_programs(name)));
    programs.push_back(*program);
  }
  return programs;
}

program_answer ask_program(const std::vector<std::string>& arguments, double longest_seconds) {
  const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(longest_seconds * 1000));
  const finished_process done = run_process(arguments, limit);
  if (done.timed_out) return {"", fmt::format("killed after {} s", longest_seconds)};
  if (done.status > 128) return {"", fmt::format("ended by signal {}", done.status - 128)};
  if (done.status != 0)
    return {"", done.errors.empty() ? fmt::format("exit status {}", done.status) : first_line(done.errors)};
  if (done.output.empty()) return {"", "printed nothing"};
  return {first_line(done.output), ""};
}

}  // namespace weir::tools
