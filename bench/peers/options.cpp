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

stencil::extent extent_of(std::string_view option, std::string_view text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 24;  // a side; 2^48 elements are more than any memory
  const std::size_t x = text.find('x');
  const std::uint64_t rows = whole_number(option, text.substr(0, x), 1, most);
  return {1, rows, x == text.npos ? rows : whole_number(option, text.substr(x + 1), 1, most)};
}

constexpr std::string_view with_value[] = {"--size", "--block", "--iterations", "--seed", "--mode", "--init"};

[[noreturn]] void refuse_option(std::string_view option) {
  std::vector<std::string_view> known(std::begin(with_value), std::end(with_value));
  known.insert(known.end(), {"--verify", "--help"});
  refuse("there is no option " + std::string(option) + ": expected one that --help lists" +
         weir::detail::proposal(option, known));
}

[[noreturn]] void help(const char* program_name, std::span<const std::string_view> modes) {
  std::printf("usage: %s [--size N|ROWSxCOLUMNS] [--block N|ROWSxCOLUMNS] [--iterations T] [--seed S] [--mode %s] [--init first-touch|interleave] [--verify]\n", program_name, joined(modes).c_str());
  std::exit(0);
}

}  // namespace

options parse_options(int argc, char** argv, std::span<const std::string_view> modes) {
  const char* const program_name = name_program(argc, argv, "peer");
  options o;
  o.mode = modes[0];
  for (int i = 1; i < argc; i++) {
    const std::string_view option = argv[i];
    if (option == "--help") help(program_name, modes);
    if (option == "--verify") {
      o.verify = true;
      continue;
    }
    if (std::ranges::find(with_value, option) == std::end(with_value)) refuse_option(option);
    if (i + 1 == argc) refuse(std::string(option) + " needs a value; --help says which");
    const std::string_view value = argv[++i];
    if (option == "--size") o.size = extent_of(option, value);
    if (option == "--block") o.block = extent_of(option, value);
    if (option == "--iterations") o.iterations = static_cast<int>(whole_number(option, value, 1, 1000000));
    if (option == "--seed") o.seed = whole_number(option, value, 0, UINT64_MAX);
    if (option == "--mode") o.mode = value;
    if (option == "--init" && value != "first-touch" && value != "interleave") refuse("--init " + std::string(value) + ": expected first-touch or interleave");
    if (option == "--init") o.interleave = value == "interleave";
  }
  bool known = false;
  for (const std::string_view m : modes) known |= m == o.mode;
  if (!known) refuse("--mode " + o.mode + ": expected " + joined(modes));
  if (o.block.rows > o.size.rows || o.block.columns > o.size.columns) refuse("--block is larger than --size");
  return o;
}

void print(const options& o, const measurement& m) {
  std::printf("{\"runtime\":\"%s\",\"kernel\":\"%s\",\"mode\":\"%s\",\"init\":\"%s\",\"size\":\"%zux%zu\",\"block\":\"%zux%zu\",\"iterations\":%d,\"threads\":%d,\"seconds\":%.9f,\"verified\":%s}\n",
              std::string(m.runtime).c_str(), std::string(m.kernel).c_str(), o.mode.c_str(), o.interleave ? "interleave" : "first-touch", o.size.rows, o.size.columns, o.block.rows, o.block.columns,
              o.iterations, m.threads, m.seconds, !m.verified ? "null" : *m.verified ? "true" : "false");
}

}  // namespace weir::bench::peers
