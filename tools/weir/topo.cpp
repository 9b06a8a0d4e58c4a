// weir topo: options and order of work.
#include "topo.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <bench/common/parser.hpp>
#include <bench/common/plural.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

#include "machine/machine.hpp"
#include "topo_measure.hpp"
#include "topo_print.hpp"
#include "topo_probe.hpp"
#include "weir/error.hpp"

namespace weir::tools {
namespace {

struct topo_options {
  std::string machine = "host";
  bool json = false;
  bool explain = false;
  bool measure = false;
  std::string write;
  std::string order = "ascending";
  measure_options measuring;
};

void run_topo(topo_options o) {
  if (!o.write.empty() && !o.write.ends_with(".toml")) throw machine_error("--write " + o.write + ": expected a name ending in .toml");
  machine::description m = machine::load(o.machine);
  if (o.measure) {
    o.measuring.shuffled = o.order == "shuffled";
    o.measuring.progress = isatty(STDERR_FILENO) != 0;
    measure(m, o.measuring);
    m.source = "measured by weir topo --measure: " + m.notes.back();
  }
  std::vector<probe> probes;
  if (o.explain && m.is_host) probes = probe_system_calls();
  if (!o.write.empty()) machine::save(m, o.write);
  if (o.json) {
    nlohmann::ordered_json json = topo_json(m);
    if (o.explain) json["probes"] = probes_json(probes);
    if (o.explain && m.is_host)
      json["workers"] = machine::bindings(m, machine::spread_workers(m, machine::default_worker_count(m)));
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}", topo_text(m));
  if (o.explain) fmt::print("{}", explain_text(m, probes));
  else if (m.is_host && !m.notes.empty())
    fmt::print("\n{} on what is restricted or unknown: weir topo --explain\n", bench::plural(m.notes.size(), "note"));
}

}  // namespace

void add_topo_command(CLI::App& app) {
  auto options = std::make_shared<topo_options>();
  CLI::App* topo = app.add_subcommand("topo", "Show the machine: nodes, CPUs, distances, caches, latencies");
  topo->add_option("--machine", options->machine, "host, host+FILE.toml (with the latencies of that file), a file ending in .toml or .xml (hwloc), \"nodes:N cpus:K [distance:D]\", or an hwloc synthetic string")->capture_default_str();
  topo->add_flag("--json", options->json, "Print JSON, for programs");
  topo->add_flag("--explain", options->explain, "Say what is restricted, refused or unknown, and what that costs");
  CLI::Option* measure = topo->add_flag("--measure", options->measure, "Measure latency and bandwidth between every pair of nodes");
  topo->add_option("--measure-mib", options->measuring.buffer_mib, "Buffer in MiB, a power of two (default: four times the last-level cache, at most 1024 and a quarter of the free memory)")
      ->transform(bench::whole_number(1, std::uint64_t{1} << 20))
      ->needs(measure);
  topo->add_option("--measure-runs", options->measuring.runs, "Runs per pair; the median counts")
      ->transform(bench::whole_number(1, 1000))
      ->capture_default_str()
      ->needs(measure);
  topo->add_option("--measure-order", options->order, "Order of the lines: ascending (as in the PACT 2016 paper) or shuffled (no prefetching)")
      ->check(bench::one_of({"ascending", "shuffled"}))
      ->capture_default_str()
      ->needs(measure);
  topo->add_option("--write", options->write, "Also write the machine, with what was measured, to this .toml file");
  topo->callback([options] { run_topo(*options); });
}

}  // namespace weir::tools
