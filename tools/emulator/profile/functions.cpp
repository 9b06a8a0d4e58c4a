// Addresses of the process become addresses in its files, and addr2line names those.
#include "functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include <tools/common/subprocess.hpp>

#include "../boot/elf.hpp"

namespace weir::emulator {
namespace {

// It reads all debug information that the addresses are in: seconds, of very large programs minutes.
constexpr std::chrono::minutes addr2line_limit{10};

constexpr const char* unnamed = "[unnamed]";
const function_name unknown{"[unknown]", {}}, kernel{"[kernel]", {}}, elsewhere{"[elsewhere]", {}};

// What is no file, such as [vdso], is as good as a function.
function_name without_symbol(const code_place& place) {
  if (place.file.starts_with('/')) return {unnamed, place.file};
  return {place.file, {}};
}

std::string hexadecimal(const std::multimap<std::uint64_t, std::uint64_t>& addresses) {
  std::string text;
  for (const auto& [linked, running] : addresses) text += fmt::format("{:#x}\n", linked);
  return text;
}

struct named {
  std::string function;
  bool debugged = false;   // by debug information, which knows where functions end
};

// With -a each address begins with a line 0x...; behind it come two lines, function and place in the source, for each
// function that is inlined there, innermost first. Unknown are "??" and "??:0".
std::vector<named> innermost(const std::string& output) {
  std::vector<named> names;
  std::istringstream lines(output);
  for (std::string line, place; std::getline(lines, line);)
    if (line.starts_with("0x") && std::getline(lines, line) && std::getline(lines, place))
      names.push_back({line, !place.starts_with("??")});
  return names;
}

}  // namespace

function_names::function_names(const std::unordered_set<std::uint64_t>& addresses, const memory_map& map,
                               const host_file& host, const std::string& addr2line) {
  if (map.empty() && !addresses.empty())
    complaints_.push_back("The program had not ended, so which functions its code belongs to is unknown.");
  std::map<std::string, addresses_of_file> files;
  std::map<std::string, std::vector<segment>> segments;
  for (const std::uint64_t address : addresses) {
    const auto place = map.find(address);
    if (!place) continue;
    names_[address] = without_symbol(*place);
    const std::string from = host(place->file);
    if (from.empty()) continue;
    if (!segments.contains(place->file)) segments[place->file] = segments_of(from);
    const auto linked = linked_address(segments[place->file], place->offset);
    if (linked) files[place->file].emplace(*linked, address);
  }
  for (const auto& [file, wanted] : files) name_all(file, wanted, host(file), addr2line);
}

void function_names::name_all(const std::string& file, const addresses_of_file& wanted, const std::string& from,
                              const std::string& addr2line) {
  const std::vector<std::string> command = {addr2line, "-a", "-f", "-C", "-i", "-e", from};
  const auto done = tools::run_process(command, addr2line_limit, hexadecimal(wanted));
  const std::vector<named> found = innermost(done.output);
  if (done.status != 0 || found.size() != wanted.size()) {
    const std::string reason = done.timed_out ? "it takes too long" : done.errors.substr(0, done.errors.find('\n'));
    complaints_.push_back(fmt::format("addr2line does not name the functions of {}: {}", file, reason));
    return;
  }
  // Without debug information addr2line takes the last symbol before the address, however far away: in a library that
  // names only what it exports that is mostly another function.
  const std::vector<symbol> symbols = symbols_of(from);
  auto name = found.begin();
  for (const auto& [linked, running] : wanted) {
    const bool known = name->function != "??" && (name->debugged || in_function(symbols, linked));
    if (known) names_[running].function = name->function;
    ++name;
  }
}

const function_name& function_names::of(std::uint64_t address) const {
  if (address == kernel_code) return kernel;
  if (address == elsewhere_code) return elsewhere;
  const auto at = names_.find(address);
  return at == names_.end() ? unknown : at->second;
}

std::vector<function_counts> by_function(const code_profile& profile, const function_names& names) {
  std::map<std::pair<std::string, std::string>, code_counts> sums;
  for (const auto& [address, counts] : profile) {
    const function_name& name = names.of(address);
    sums[{name.function, name.file}] += counts;
  }
  std::vector<function_counts> functions;
  for (const auto& [name, counts] : sums) functions.push_back({{name.first, name.second}, counts});
  std::stable_sort(functions.begin(), functions.end(), [](const function_counts& a, const function_counts& b) {
    return std::tie(a.counted.wait_ps, a.counted.instructions) > std::tie(b.counted.wait_ps, b.counted.instructions);
  });
  return functions;
}

}  // namespace weir::emulator
