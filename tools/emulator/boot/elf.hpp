// Programs of this machine: what they are built for, and which libraries they load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::emulator {

// The path of a program: `name` itself if it has a slash, otherwise found in PATH. Throws configuration_error, one
// sentence, if it does not exist, may not be executed, or is not an x86-64 Linux program.
std::string find_program(const std::string& name);

// A part of a file that is loaded, and the address it is linked to.
struct segment {
  std::uint64_t offset, bytes, address;
};

// Nothing for files that are no x86-64 program or library.
std::vector<segment> segments_of(const std::string& path);
// The address that the byte at `offset` of the file is linked to, if it is in one of the parts.
std::optional<std::uint64_t> linked_address(const std::vector<segment>& parts, std::uint64_t offset);

// Functions that the file's symbol tables name, with the addresses they are linked to; ascending.
struct symbol {
  std::uint64_t address, bytes;   // bytes: 0 if it is not said how long it is
};
std::vector<symbol> symbols_of(const std::string& path);
// The file's bytes with its symbol tables said to be something else.
std::string without_symbols(const std::string& path);
// Whether the last function that begins at the address or before reaches as far as that.
bool in_function(const std::vector<symbol>& symbols, std::uint64_t address);

// Paths of the shared libraries that the file loads when it starts, its dynamic linker included, as that linker finds
// them with `library_path` (LD_LIBRARY_PATH of the guest). Nothing for static programs and for files that are none.
// Throws configuration_error if one is missing. Runs the dynamic linker, not the program.
std::vector<std::string> libraries_of(const std::string& path, const std::string& library_path);

}  // namespace weir::emulator
