// What the command lines of single programs (peers, overhead) have in common. No library of ours is needed for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::bench {

// From argv, for what refuse() says. Returns it.
const char* name_program(int argc, char** argv, const char* otherwise);

// Ends the process with status 2 after one line on standard error: the program's name and what was wrong.
[[noreturn]] void refuse(const std::string& what);

// The value of an option; refuses anything but a whole number from least to most.
std::uint64_t whole_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);

}  // namespace weir::bench
