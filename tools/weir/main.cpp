// The weir command: subcommands, and how errors reach the user. One line on standard error, and below it, where a message
// points at a place in a text, the text and a caret; exit status 2 for bad input, 1 for what went wrong while running.
#include "bench.hpp"
#include "emulate.hpp"
#include "solve.hpp"
#include "topo.hpp"
#include "trace.hpp"

#include <bench/common/output.hpp>
#include <bench/common/parser.hpp>
#include <tools/eval/eval.hpp>
#include <tools/report/report.hpp>
#include <weir/error.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

constexpr int bad_input = 2, failed = 1;

int complain(std::string message, int status) {
  for (std::size_t i = message.find('\n'); i != std::string::npos; i = message.find('\n', i + 1))
    if (message.compare(i + 1, 2, "  ") != 0) message[i] = ' ';
  std::fprintf(stderr, "weir: %s\n", message.c_str());
  return status;
}

// What follows "--" on the command line, which ends there. Left to the parser, a second "--" would be lost.
std::vector<std::string> take_command(int& argc, char** argv) {
  int at = 1;
  while (at < argc && std::string_view(argv[at]) != "--") at++;
  const std::vector<std::string> command(argv + std::min(at + 1, argc), argv + argc);
  argc = at;
  return command;
}

int run(int argc, char** argv) {
  const bool emulates = argc > 1 && std::string_view(argv[1]) == "emulate";
  std::vector<std::string> command = emulates ? take_command(argc, argv) : std::vector<std::string>{};
  CLI::App app{"Task-parallel programs on NUMA machines: the machine as weir sees it, kernels to measure, and a solver for sparse linear systems."};
  app.name("weir");
  app.set_version_flag("--version", std::string("weir ") + WEIR_VERSION);
  app.require_subcommand(1);
  weir::tools::add_topo_command(app);
  weir::tools::add_trace_command(app);
  weir::tools::add_report_command(app);
  const auto bench = weir::tools::add_bench_command(app), solve = weir::tools::add_solve_command(app), eval = weir::tools::add_eval_command(app);
  const auto emulate = weir::tools::add_emulate_command(app, std::move(command));
  weir::bench::add_help_command(app);
  weir::bench::refuse_values_of_flags(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return weir::bench::show_what_was_asked_for(app, e);
    return complain(weir::bench::sentence_of(app, e), bad_input);
  }
  for (const auto& status : {bench, solve, eval})
    if (*status != 0) return *status;
  return *emulate;
}

// output_reason: why standard output could not be written, where that ended the command.
int run_and_say_what_went_wrong(int argc, char** argv, std::string& output_reason) {
  try {
    return run(argc, argv);
  } catch (const weir::task_failed& e) {
    return complain(e.what(), failed);
  } catch (const weir::error& e) {
    return complain(e.what(), bad_input);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", failed);
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) == 0) return complain(e.what(), failed);
    output_reason = e.code().message();
    return failed;
  } catch (const std::exception& e) {
    return complain(e.what(), failed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  weir::bench::occupy_standard_streams();
  std::string reason;
  const int status = run_and_say_what_went_wrong(argc, argv, reason);
  return weir::bench::close_output("weir", status, reason);
}
