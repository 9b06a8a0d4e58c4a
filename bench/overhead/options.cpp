// The command line of the programs.
#include <bench/overhead/program.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace weir::bench::overhead {
namespace {

[[noreturn]] void help(const char* program_name, const description& d) {
  std::printf("usage: %s --pattern P [--workers N] [--tasks T] [--width W] [--task-ns X] [--dependences D] "
              "[--creators C] [--repeat R] [--seed S]%s [--verify] [--metg]\n"
              "       %s --list\n",
              program_name, d.has_policies ? " [--policy P] [--held]" : "", program_name);
  std::exit(0);
}

[[noreturn]] void list(const description& d) {
  for (const pattern& p : patterns())
    if (d.has(p)) std::printf("%-15s %s\n", std::string(p.name).c_str(), std::string(p.description).c_str());
  std::exit(0);
}

const pattern* pattern_named(std::string_view name, const description& d) {
  std::string known;
  for (const pattern& p : patterns()) {
    if (!d.has(p)) continue;
    if (p.name == name) return &p;
    known += (known.empty() ? "" : ", ") + std::string(p.name);
  }
  refuse("--pattern " + std::string(name) + ": expected one of " + known);
}

struct given {
  bool width = false, dependences = false, creators = false, seed = false, tasks = false;
};

void check(options& o, const given& g) {
  const pattern& p = *o.what;
  const std::string name(p.name);
  if (g.width && p.shape != form::grid) refuse(name + " has no --width");
  if (g.dependences && !p.dependences) refuse(name + " has no --dependences");
  if (g.creators && !p.creators) refuse(name + " has no --creators");
  if (g.seed && !p.random) refuse(name + " has no --seed");
  if (o.metg && (p.shape != form::grid || p.replay || p.creators)) refuse(name + " has no --metg");
  if (o.metg && (o.verify || o.task_ns != 0 || g.tasks)) refuse("--metg chooses tasks and their length itself, and checks nothing");
  if (o.verify && o.task_ns != 0) refuse("--verify and --task-ns exclude each other: tasks that check do not compute");
  if (o.held && (p.shape != form::grid || p.replay || p.creators || p.has_groups())) refuse(name + " has no --held");
  if (o.held && (o.metg || o.verify)) refuse("--held excludes --metg and --verify: it measures creation alone");
  if (o.width == 0) o.width = p.width;
  if (o.width > p.most_width) refuse("--width of " + name + ": expected at most " + std::to_string(p.most_width));
  if (!g.creators) o.creators = std::min(o.creators, o.width);
  if (p.creators && o.creators > o.width) refuse("--creators is larger than --width: a creator needs a column");
  if (p.dependences && o.dependences > o.width) refuse("--dependences is larger than --width");
}

}  // namespace

options parse_options(int argc, char** argv, const description& d) {
  const char* const program_name = name_program(argc, argv, "overhead");
  options o;
  given g;
  for (int i = 1; i < argc; i++) {
    const std::string_view option = argv[i];
    if (option == "--help") help(program_name, d);
    if (option == "--list") list(d);
    if (option == "--held" && d.has_policies) {
      o.held = true;
      continue;
    }
    if (option == "--verify" || option == "--metg") {
      (option == "--verify" ? o.verify : o.metg) = true;
      continue;
    }
    const auto is = [&](std::string_view name) { return option == name; };
    const bool known = is("--pattern") || is("--workers") || is("--tasks") || is("--width") || is("--task-ns") || is("--dependences") ||
                       is("--creators") || is("--repeat") || is("--seed") || (is("--policy") && d.has_policies);
    if (!known) refuse("unknown option " + std::string(option) + "; --help lists them");
    if (i + 1 == argc) refuse(std::string(option) + " needs a value");
    const std::string_view value = argv[++i];
    if (is("--pattern")) o.what = pattern_named(value, d);
    if (is("--workers")) o.workers = static_cast<int>(whole_number(option, value, 1, 1 << 16));
    if (is("--tasks")) o.tasks = whole_number(option, value, 0, std::uint64_t{1} << 32), g.tasks = true;
    const auto count = [&](std::uint64_t most) {
      return static_cast<std::uint32_t>(whole_number(option, value, 1, most));
    };
    if (is("--width")) o.width = count(UINT32_MAX), g.width = true;
    if (is("--task-ns")) o.task_ns = whole_number(option, value, 0, 1000000000);
    if (is("--dependences")) o.dependences = static_cast<std::uint32_t>(whole_number(option, value, 0, 1 << 10)), g.dependences = true;
    if (is("--creators")) o.creators = count(1 << 16), g.creators = true;
    if (is("--repeat")) o.repeat = static_cast<int>(whole_number(option, value, 1, 1000000));
    if (is("--seed")) o.seed = whole_number(option, value, 0, UINT64_MAX), g.seed = true;
    if (is("--policy")) o.policy = value;
  }
  if (o.what == nullptr) refuse("--pattern is missing; --list shows the patterns");
  check(o, g);
  return o;
}

}  // namespace weir::bench::overhead
