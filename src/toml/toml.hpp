// toml++ with its assertions on in all builds, and reading a whole file with it. The one place that includes toml++:
// what it defines depends on TOML_ASSERT, and the linker keeps one definition for the whole program.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// Some malformed files fail an assertion of toml++ 3.3 instead of being refused (and are undefined behaviour where
// assertions are off). Here a failed assertion refuses the file.
namespace weir::toml_file {
struct malformed {};
[[noreturn]] inline void refuse_malformed() { throw malformed{}; }
}  // namespace weir::toml_file
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::weir::toml_file::refuse_malformed())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace weir::toml_file {

// The table in a file. Throws Error, one sentence that begins with the path; `what` is what the file should be, as in
// "a machine file".
template <class Error>
toml::table read(const std::string& path, const std::string& what) {
  if (std::filesystem::is_directory(path)) throw Error(path + ": expected " + what + ", got a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path + ": expected " + what + ", and it cannot be read: " + std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& e) {
    const std::string line = std::to_string(e.source().begin.line);
    throw Error(path + ":" + line + ": not valid TOML: " + std::string(e.description()));
  } catch (const malformed&) {
    throw Error(path + ":1: not valid TOML: expected keys and values, got something the parser cannot place");
  }
}

}  // namespace weir::toml_file
