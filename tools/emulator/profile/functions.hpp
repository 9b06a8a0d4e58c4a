// From what was counted by address to what each function did.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "../model/code_profile.hpp"
#include "memory_map.hpp"

namespace weir::emulator {

struct function_name {
  std::string function, file;   // file: path in the guest; empty: code of no file

  bool operator==(const function_name&) const = default;
};

// Finds out once what many regions need. Names are complete: demangled, with parameters and template arguments.
class function_names {
 public:
  // The file on this machine that a guest's file was copied from; empty if there is none.
  using host_file = std::function<std::string(const std::string& guest)>;

  function_names() = default;
  // Names all addresses, as symbols.hpp says.
  function_names(const std::unordered_set<std::uint64_t>& addresses, const memory_map& map, const host_file& host,
                 const std::string& addr2line);

  const function_name& of(std::uint64_t address) const;
  // What could not be found out, one sentence each.
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  // By the address that the file has it at: the address in the process.
  using addresses_of_file = std::multimap<std::uint64_t, std::uint64_t>;
  void name_all(const std::string& file, const addresses_of_file& wanted, const std::string& from,
                const std::string& addr2line);

  std::unordered_map<std::uint64_t, function_name> names_;
  std::vector<std::string> complaints_;
};

struct function_counts {
  function_name name;
  code_counts counted;
};

// Most time waited first, then most instructions.
std::vector<function_counts> by_function(const code_profile& profile, const function_names& names);

}  // namespace weir::emulator
