// The command line of the programs, how often they repeat what they measure, and what they print.
#include <bench/main/program.hpp>

#include <bench/common/command_line.hpp>
#include <bench/main/element.hpp>
#include <bench/main/recursion.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace weir::bench::from_main {
namespace {

struct options {
  const entry* what = nullptr;
  problem how;
  double least_seconds = 0.1;
};

constexpr std::string_view known_options[] = {"--row", "--workers", "--size", "--iterations", "--least-ms"};

std::string full_name(const entry& e) { return std::string(e.row) + ":" + std::string(name_of(e.from)); }

[[noreturn]] void help(const char* program) {
  std::printf("usage: %s --row ROW:main|task [--workers N] [--size S] [--iterations I] [--least-ms T]\n"
              "       %s --list\n", program, program);
  std::exit(0);
}

[[noreturn]] void list(std::span<const entry> entries) {
  for (const entry& e : entries) std::printf("%s\n", full_name(e).c_str());
  std::exit(0);
}

const entry* entry_named(std::string_view name, std::span<const entry> entries) {
  std::string known;
  for (const entry& e : entries) {
    if (full_name(e) == name) return &e;
    known += (known.empty() ? "" : ", ") + full_name(e);
  }
  refuse("--row " + std::string(name) + ": expected one of " + known);
}

const row* row_of(const entry& e) { return &*std::ranges::find(rows(), e.row, &row::name); }

// Trees of up to 2^30 leaves; other sizes are bounded by memory and patience.
void check_size(const problem& p) {
  constexpr std::uint64_t most_leaves = std::uint64_t{1} << 30, most_fib = 45;
  if (p.what->computes == recursion::queens && p.size > queens_board::most)
    refuse("--size " + std::to_string(p.size) + ": expected at most " + std::to_string(queens_board::most));
  if (p.what->computes == recursion::fib && p.size > most_fib)
    refuse("--size " + std::to_string(p.size) + ": expected at most " + std::to_string(most_fib));
  if (p.what->computes != recursion::tree) return;
  std::uint64_t levels = 1;
  while (leaves_of(p.what->children, levels + 1) <= most_leaves) levels++;
  if (p.size > levels) refuse("--size " + std::to_string(p.size) + ": expected at most " + std::to_string(levels));
}

void set(options& o, std::string_view option, std::string_view value, std::span<const entry> entries) {
  if (option == "--row") o.what = entry_named(value, entries);
  if (option == "--workers") o.how.workers = static_cast<int>(whole_number(option, value, 1, 1 << 16));
  if (option == "--size") o.how.size = whole_number(option, value, 1, std::uint64_t{1} << 32);
  if (option == "--iterations") o.how.iterations = whole_number(option, value, 1, 1000000);
  if (option == "--least-ms") o.least_seconds = 1e-3 * static_cast<double>(whole_number(option, value, 1, 10000));
}

options parse_options(int argc, char** argv, std::span<const entry> entries) {
  const char* const program = name_program(argc, argv, "main");
  options o;
  o.how.iterations = 0;
  for (int i = 1; i < argc; i++) {
    const std::string_view option = argv[i];
    if (option == "--help") help(program);
    if (option == "--list") list(entries);
    if (std::ranges::find(known_options, option) == std::end(known_options))
      refuse("unknown option " + std::string(option) + "; --help lists them");
    if (i + 1 == argc) refuse(std::string(option) + " needs a value");
    set(o, option, argv[++i], entries);
  }
  if (o.what == nullptr) refuse("--row is missing; --list shows the rows");
  o.how.what = row_of(*o.what);
  if (o.how.size != 0 && o.how.what->size == 0) refuse(std::string(o.what->row) + " has no --size");
  if (o.how.size == 0) o.how.size = o.how.what->size;
  if (o.how.iterations == 0) o.how.iterations = iterations_of_element();
  check_size(o.how);
  return o;
}

// Of a repetition: more and more of them, until they take long enough for what disturbs to be small. The first one, and
// every batch but the last, warms up.
double ns_of_repetition(const batch& run, double least_seconds) {
  constexpr std::uint64_t growth = 8;  // the first ones are slow, so no more may be concluded from them
  run(1);
  for (std::uint64_t repetitions = 1;;) {
    const double seconds = run(repetitions);
    if (seconds >= least_seconds) return seconds * 1e9 / static_cast<double>(repetitions);
    const double fitting = 1.1 * static_cast<double>(repetitions) * least_seconds / std::max(seconds, 1e-9);
    const double most = static_cast<double>(growth * repetitions);
    repetitions = std::max(repetitions + 1, static_cast<std::uint64_t>(std::min(fitting, most)));
  }
}

void measure(const options& o, std::string_view runtime) {
  constexpr double serial_share = 0.25;  // of the time: nothing disturbs it but other programs
  const problem& p = o.how;
  double ns = ns_of_repetition(o.what->prepare(p), o.least_seconds);
  if (p.what->what == kind::element) ns /= static_cast<double>(p.size);
  const batch serial = serial_batch(p);
  const std::string serial_ns =
      serial ? std::to_string(ns_of_repetition(serial, serial_share * o.least_seconds)) : "null";
  const std::string calls = p.what->what == kind::recursion ? std::to_string(calls_of(*p.what, p.size)) : "null";
  std::printf("{\"row\":\"%s\",\"from\":\"%s\",\"runtime\":\"%s\",\"workers\":%d,\"size\":%llu,\"ns\":%.3f,"
              "\"serial_ns\":%s,\"calls\":%s}\n",
              std::string(o.what->row).c_str(), std::string(name_of(o.what->from)).c_str(),
              std::string(runtime).c_str(), p.workers, static_cast<unsigned long long>(p.size), ns, serial_ns.c_str(),
              calls.c_str());
}

}  // namespace

int program_main(int argc, char** argv, std::string_view runtime, std::span<const entry> entries) {
  const options o = parse_options(argc, argv, entries);
  try {
    measure(o, runtime);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}

}  // namespace weir::bench::from_main
