// Addresses of the process become addresses in its files, and those get names.
#include "functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "../boot/elf.hpp"
#include "symbols.hpp"

namespace weir::emulator {
namespace {

constexpr const char* unnamed = "[unnamed]";
const function_name unknown{"[unknown]", {}}, kernel{"[kernel]", {}}, elsewhere{"[elsewhere]", {}};

// What is no file, such as [vdso], is as good as a function.
function_name without_symbol(const code_place& place) {
  if (place.file.starts_with('/')) return {unnamed, place.file};
  return {place.file, {}};
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
                              const std::string& addr2line) try {
  std::vector<std::uint64_t> linked;
  for (const auto& [in_file, running] : wanted) linked.push_back(in_file);
  const std::vector<std::string> found = functions_at(linked, from, addr2line);
  auto name = found.begin();
  for (const auto& [in_file, running] : wanted) {
    if (!name->empty()) names_[running].function = *name;
    ++name;
  }
} catch (const std::runtime_error& e) {
  complaints_.push_back(fmt::format("addr2line does not name the functions of {}: {}", file, e.what()));
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
