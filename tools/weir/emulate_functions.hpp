// What weir emulate --profile says about the functions of a region.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include <tools/emulator/profile/functions.hpp>

namespace weir::tools {

// One object a function, most time waited first. README.md of tools/emulator explains the keys.
nlohmann::ordered_json functions_json(const emulator::code_profile& profile, const emulator::function_names& names);
// A table of that many functions, with shortened names; the rest in one row. `program`: its file, which goes without
// saying. Each line ends with a newline.
std::string functions_text(const emulator::code_profile& profile, const emulator::function_names& names,
                           std::size_t rows, const std::string& program);

}  // namespace weir::tools
