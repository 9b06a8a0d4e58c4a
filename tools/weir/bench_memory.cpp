// Options, tables and lines of the two programs in bench/memory.
#include "bench_memory.hpp"

#include <bench/common/kernel.hpp>
#include <bench/common/options.hpp>
#include <bench/common/output.hpp>
#include <bench/common/parser.hpp>
#include <bench/memory/latency.hpp>
#include <bench/memory/migration.hpp>


#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdio>
#include <string>

namespace weir::tools {
namespace {

using namespace weir::bench::memory;

struct latency_options {
  std::size_t buffer_kib = std::size_t{1} << 20;
  bool json = false;
};

struct migration_options {
  std::string pages = "default,small,huge", iterations = "1,4,16,64";
  std::size_t buffer_kib = 65536;
  int sets = 1, changes = 8, repeat = 1;
  bool json = false;
};

void run_latency(const latency_options& o) {
  if (!o.json) fmt::print("{:>9} {:>9} {:>8} {:>12}\n", "from node", "to node", "access", "ns per line");
  measure_latency(o.buffer_kib << 10, [&](const latency_pass& p) {
    const char* const access = p.write ? "write" : "read";
    const double ns = p.seconds * 1e9 / static_cast<double>(p.lines);
    if (o.json) fmt::print("{}\n", nlohmann::ordered_json{{"program", "latency"}, {"access", access}, {"from_node", p.from_node}, {"to_node", p.to_node}, {"visited_lines", p.lines}, {"seconds", p.seconds}, {"ns_per_line", ns}}.dump());
    else fmt::print("{:>9} {:>9} {:>8} {:>12.1f}\n", p.from_node, p.to_node, access, ns);
    bench::flush_output();
  });
}

int parse_count(const std::string& text) {
  int n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < 1) throw bench::input_error("--iterations " + text + ": expected whole numbers of 1 or more with commas between them");
  return n;
}

bool run_migration(const migration_options& o) {
  std::vector<migration_problem> problems;
  std::vector<std::string> names;
  for (const std::string& pages : bench::parse_names("--pages", o.pages))
    for (const std::string& iterations : bench::parse_names("--iterations", o.iterations)) {
      problems.push_back({parse_page_size(pages), o.buffer_kib << 10, o.sets, o.changes, parse_count(iterations)});
      names.push_back(pages);
    }
  if (!o.json) fmt::print("{:<9} {:>10} {:>10}\n", "pages", "iterations", "ms");
  bool right = true;
  for (int repeat = 0; repeat < o.repeat; repeat++)
    for (std::size_t i = 0; i < problems.size(); i++) {
      const migration_problem& p = problems[i];
      const migration_result r = measure_migration(p);
      right &= r.right;
      if (o.json)
        fmt::print("{}\n", nlohmann::ordered_json{{"program", "migration"}, {"pages", names[i]}, {"iterations", p.iterations}, {"changes", p.changes}, {"sets", p.sets}, {"buffer_kib", o.buffer_kib}, {"threads", r.threads}, {"repeat", repeat}, {"seconds", r.seconds}, {"verified", r.right}}.dump());
      else fmt::print("{:<9} {:>10} {:>10.2f}\n", names[i], p.iterations, r.seconds * 1e3);
      bench::flush_output();
    }
  if (!right) fmt::print(stderr, "weir: migration: a buffer does not hold what was added to it\n");
  return right;
}

}  // namespace

std::vector<CLI::App*> add_memory_commands(CLI::App& bench, std::shared_ptr<int> status) {
  constexpr std::size_t most_kib = std::size_t{1} << 30;
  auto l = std::make_shared<latency_options>();
  CLI::App* latency = bench.add_subcommand("latency", "Time of a line of memory, read and written, from each node to each");
  latency->add_option("--buffer-kib", l->buffer_kib, "Buffer that is passed over; larger than the caches")
      ->transform(bench::whole_number(1, most_kib))
      ->capture_default_str()
      ->type_name("KIB");
  latency->add_flag("--json", l->json, "One JSON object a pass, one a line");
  latency->callback([l] { run_latency(*l); });
  auto m = std::make_shared<migration_options>();
  CLI::App* migration = bench.add_subcommand("migration", "Threads that change buffers: does moving pages pay?");
  migration->add_option("--pages", m->pages, "Sizes of pages")->capture_default_str()->type_name("default|small|huge[,...]");
  migration->add_option("--iterations", m->iterations, "Traversals of a buffer before it is another thread's")->capture_default_str()->type_name("I[,I...]");
  migration->add_option("--buffer-kib", m->buffer_kib, "Buffer of each thread")
      ->transform(bench::whole_number(1, most_kib))
      ->capture_default_str()
      ->type_name("KIB");
  migration->add_option("--sets", m->sets, "Sets of buffers, used in turn")
      ->transform(bench::whole_number(1, 1 << 20))
      ->capture_default_str()
      ->type_name("S");
  migration->add_option("--changes", m->changes, "Changes of affinity")
      ->transform(bench::whole_number(1, 1 << 20))
      ->capture_default_str()
      ->type_name("A");
  migration->add_option("--repeat", m->repeat, "Runs of each")
      ->transform(bench::whole_number(1, 1000000))
      ->capture_default_str()
      ->type_name("R");
  migration->add_flag("--json", m->json, "One JSON object a run, one a line");
  migration->callback([m, status] { *status = run_migration(*m) ? 0 : 1; });
  return {latency, migration};
}

}  // namespace weir::tools
