// Command line and output of the peer programs.
#include <bench/peers/options.hpp>

#include <weir/detail/nearest.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace weir::bench::peers {
namespace {

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view n : names) {
    if (!text.empty()) text += '|';
    text += n;
  }
  return text;
}

stencil::extent extent_of(std::string_view option, std::string_view text, int dimensions) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24;  // a side; 2^48 elements are more than any memory
  constexpr std::uint64_t longest = std::uint64_t{1} << 40;
  if (dimensions == 1) return {1, whole_number(option, text, 1, longest), 1};
  const std::size_t x = text.find('x');
  const std::uint64_t rows = whole_number(option, text.substr(0, x), 1, most);
  return {1, rows, x == text.npos ? rows : whole_number(option, text.substr(x + 1), 1, most)};
}

std::vector<std::string_view> with_value(const program_form& f) {
  std::vector<std::string_view> all = {"--size", "--block", "--seed", "--mode", "--init"};
  if (f.iterations) all.push_back("--iterations");
  if (f.defaults.bins != 0) all.insert(all.end(), {"--bins", "--input"});
  if (f.library) all.push_back("--library");
  return all;
}

[[noreturn]] void refuse_option(std::string_view option, std::vector<std::string_view> known) {
  known.insert(known.end(), {"--verify", "--help"});
  refuse("there is no option " + std::string(option) + ": expected one that --help lists" +
         weir::detail::proposal(option, known));
}

std::string format_of(int dimensions) { return dimensions == 1 ? "N" : "N|ROWSxCOLUMNS"; }

[[noreturn]] void help(const char* program_name, const program_form& f) {
  std::printf("usage: %s%s [--size %s] [--block %s]%s%s [--seed S] [--mode %s] [--init %s] [--verify]\n", program_name,
              f.library ? " --library FILE" : "", format_of(f.dimensions).c_str(), format_of(f.block_dimensions).c_str(),
              f.iterations ? " [--iterations T]" : "", f.defaults.bins != 0 ? " [--bins B] [--input FILE]" : "",
              joined(f.modes).c_str(), joined(f.inits).c_str());
  std::exit(0);
}

void read_option(options& o, const program_form& f, std::string_view option, std::string_view value) {
  if (option == "--size") o.size = extent_of(option, value, f.dimensions);
  if (option == "--block") o.block = extent_of(option, value, f.block_dimensions);
  if (option == "--iterations") o.iterations = static_cast<int>(whole_number(option, value, 1, 1000000));
  if (option == "--bins") o.bins = whole_number(option, value, 1, 1 << 20);
  if (option == "--input") o.input = value;
  if (option == "--library") o.library = value;
  if (option == "--seed") o.seed = whole_number(option, value, 0, UINT64_MAX);
  if (option == "--mode") o.mode = value;
  if (option == "--init") o.init = value;
}

void check_name(std::string_view option, const std::string& value, std::span<const std::string_view> known) {
  if (std::ranges::find(known, value) == known.end())
    refuse(std::string(option) + " " + value + ": expected " + joined(known));
}

std::string format_extent(const stencil::extent& e, int dimensions) {
  const std::string rows = std::to_string(e.rows);
  return dimensions == 1 ? rows : rows + 'x' + std::to_string(e.columns);
}

}  // namespace

options parse_options(int argc, char** argv, const program_form& f) {
  const char* const program_name = name_program(argc, argv, "peer");
  const std::vector<std::string_view> known = with_value(f);
  options o = f.defaults;
  o.mode = f.modes[0];
  o.init = f.inits[0];
  bool sized = false;
  for (int i = 1; i < argc; i++) {
    const std::string_view option = argv[i];
    if (option == "--help") help(program_name, f);
    if (option == "--verify") {
      o.verify = true;
      continue;
    }
    if (std::ranges::find(known, option) == known.end()) refuse_option(option, known);
    if (i + 1 == argc) refuse(std::string(option) + " needs a value; --help says which");
    read_option(o, f, option, argv[++i]);
    sized |= option == "--size";
  }
  if (!o.input.empty() && sized) refuse("--size and --input exclude each other: the size is the input's");
  if (f.library && o.library.empty()) refuse("--library FILE is missing: the library that does the work");
  check_name("--mode", o.mode, f.modes);
  check_name("--init", o.init, f.inits);
  o.interleave = o.init == "interleave";
  if (f.block_dimensions == 1) o.block.columns = o.size.columns;
  if (o.block.rows > o.size.rows || o.block.columns > o.size.columns) refuse("--block is larger than --size");
  return o;
}

void print(const options& o, const measurement& m, const program_form& f) {
  const std::string iterations = f.iterations ? std::to_string(o.iterations) : "null";
  std::printf("{\"runtime\":\"%s\",\"kernel\":\"%s\",\"mode\":\"%s\",\"init\":\"%s\",\"size\":\"%s\","
              "\"block\":\"%s\",\"iterations\":%s,\"threads\":%d,\"seconds\":%.9f,\"verified\":%s}\n",
              std::string(m.runtime).c_str(), std::string(m.kernel).c_str(), o.mode.c_str(), o.init.c_str(),
              format_extent(o.size, f.dimensions).c_str(), format_extent(o.block, f.block_dimensions).c_str(),
              iterations.c_str(), m.threads, m.seconds, !m.verified ? "null" : *m.verified ? "true" : "false");
}

}  // namespace weir::bench::peers
