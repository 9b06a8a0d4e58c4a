// One line, and status 2.
#include <bench/common/command_line.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace weir::bench {
namespace {

const char* program_name = "";

}  // namespace

const char* name_program(int argc, char** argv, const char* otherwise) { return program_name = argc > 0 ? argv[0] : otherwise; }

void refuse(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", program_name, what.c_str());
  std::exit(2);
}

std::uint64_t whole_number(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    refuse(std::string(option) + " " + std::string(text) + ": expected a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

}  // namespace weir::bench
