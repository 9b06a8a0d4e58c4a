// addr2line's answers, and two that are not to be believed.
#include "symbols.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <sstream>
#include <stdexcept>

#include <tools/common/subprocess.hpp>

#include "../boot/descriptors.hpp"
#include "../boot/elf.hpp"

namespace weir::emulator {
namespace {

// It reads all debug information that the addresses are in: seconds, of very large programs minutes.
constexpr std::chrono::minutes limit{10};

struct answer {
  std::string function;    // empty: unknown
  bool debugged = false;   // debug information, which knows where functions end, says so
  bool inlined = false;
};

// With -a each address begins with a line 0x...; behind it come two lines, function and place in the source, for each
// function that is inlined there, innermost first. Unknown are "??" and "??:0".
std::vector<answer> answers_in(const std::string& output) {
  std::vector<answer> answers;
  std::istringstream lines(output);
  bool first = true;
  for (std::string line, place; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      answers.emplace_back();
      first = true;
      continue;
    }
    if (answers.empty() || !std::getline(lines, place)) break;
    answer& a = answers.back();
    if (first) a = {line == "??" ? "" : line, !place.starts_with("??"), false};
    else a.inlined = true;
    first = false;
  }
  return answers;
}

std::vector<answer> ask(const std::vector<std::uint64_t>& addresses, const std::string& file,
                        const std::string& addr2line) {
  std::string input;
  for (const std::uint64_t address : addresses) input += fmt::format("{:#x}\n", address);
  const auto done = tools::run_process({addr2line, "-a", "-f", "-C", "-i", "-e", file}, limit, input);
  if (done.timed_out) throw std::runtime_error("it takes too long");
  std::vector<answer> answers = answers_in(done.output);
  if (done.status == 0 && answers.size() == addresses.size()) return answers;
  throw std::runtime_error(done.errors.empty() ? "it says nothing" : done.errors.substr(0, done.errors.find('\n')));
}

// A static function that is inlined has no linkage name, and addr2line (2.40) then takes the symbol around it: its
// caller. Where it sees no symbols it says what the debug information says.
void correct_inlined(std::vector<answer>& answers, const std::vector<std::uint64_t>& addresses, const std::string& file,
                     const std::string& addr2line) {
  std::vector<std::size_t> doubtful;
  std::vector<std::uint64_t> again;
  for (std::size_t k = 0; k < answers.size(); k++)
    if (answers[k].inlined) doubtful.push_back(k), again.push_back(addresses[k]);
  if (again.empty()) return;
  const descriptor copy = make_memory_file("copy", without_symbols(file));
  const auto better = ask(again, fmt::format("/proc/{}/fd/{}", ::getpid(), copy.number()), addr2line);
  for (std::size_t k = 0; k < doubtful.size(); k++)
    if (!better[k].function.empty()) answers[doubtful[k]].function = better[k].function;
}

// Without debug information addr2line takes the last symbol before the address, however far away: in a library that
// names only what it exports that is mostly another function.
void doubt_symbols(std::vector<answer>& answers, const std::vector<std::uint64_t>& addresses, const std::string& file) {
  const std::vector<symbol> symbols = symbols_of(file);
  for (std::size_t k = 0; k < answers.size(); k++)
    if (!answers[k].debugged && !in_function(symbols, addresses[k])) answers[k].function.clear();
}

}  // namespace

std::vector<std::string> functions_at(const std::vector<std::uint64_t>& addresses, const std::string& file,
                                      const std::string& addr2line) {
  std::vector<answer> answers = ask(addresses, file, addr2line);
  correct_inlined(answers, addresses, file, addr2line);
  doubt_symbols(answers, addresses, file);
  std::vector<std::string> names;
  for (answer& a : answers) names.push_back(std::move(a.function));
  return names;
}

}  // namespace weir::emulator
