// What partitioners cost and bring: the graphs of graphs.hpp, divided by each of them with different numbers of bands
// of depth, and how the parts would run.
//
//   partition [--graph TEXT] [--with NAME,...] [--bands N,...] [--parts N] [--workers N] [--transfer X] [--seed N]
//             [--machine NAME] [--sequence]
//   partition --large [--with NAME,...]
//
// A row is a division: what share of all bytes is cut, and the same times distance; how uneven the worst band is; of
// each time step, the share of the part that has most of it; and how fast list scheduling runs it, of what would be
// possible if no part ever waited, without and with the time that transfers take. `auto` is divide_in_time; `sequence`
// divides the bands one after the other, each with those before it fixed. The same in every run but for the times,
// which are of this thread on the CPU.
#include "machine/machine.hpp"
#include "partition/graphs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <numeric>

namespace weir::bench {
namespace {

using namespace partition;

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

struct settings {
  std::string graph, machine;
  std::vector<std::string> with = partitioner_names();
  std::vector<std::uint32_t> bands{1, 4, 16, 64};
  int parts = 8, workers = 1;
  double transfer = 1;
  std::uint64_t seed = 1;
  bool large = false, sequence = false;
};

options options_of(const settings& s) {
  options o;
  o.seed = s.seed;
  if (s.machine.empty()) {
    o.onto = equal_parts(s.parts);
    for (double& c : o.onto.capacity) c = s.workers;
  } else {
    const machine::description m = machine::load(s.machine);
    o.onto = target_of(m, std::vector<int>(m.nodes.size(), s.workers));
  }
  return o;
}

class comparison {
 public:
  comparison(const task_graph& g, const settings& s)
      : g_(g), settings_(s), options_(options_of(s)), after_(successors_of(g.cost.size(), g.edges)),
        order_(order_of(after_)), depth_(depth_of(after_, order_)) {
    for (const edge& e : g.edges) bytes_ += static_cast<double>(e.bytes);
    work_ = std::accumulate(g.cost.begin(), g.cost.end(), 0.0);
  }

  void run() const {
    fmt::print("{}: {} tasks, {} edges, {} parts\n", g_.name, g_.cost.size(), g_.edges.size(), options_.onto.parts());
    fmt::print("  {:<10}{:>6}{:>9}{:>10}{:>11}{:>8}{:>8}{:>16}{:>9}\n", "", "bands", "cut %", "distant %", "imbalance",
               "share", "speed", "with transfers", "ms");
    for (const std::string& name : settings_.with) {
      const auto p = make_partitioner(name);
      for (const std::uint32_t bands : settings_.bands) print_with(*p, bands);
      if (settings_.sequence)
        for (const std::uint32_t bands : settings_.bands)
          if (bands > 1) print_sequence(*p, bands);
      print_auto(*p);
    }
  }

 private:
  // So that reading all from elsewhere at distance 1 would take `transfer` times as long as all tasks.
  double cost_of_byte() const { return bytes_ > 0 ? settings_.transfer * work_ / bytes_ : 0; }

  void print_with(const partitioner& p, std::uint32_t bands) const {
    const double begin = cpu_ms();
    graph g = make_graph(g_.cost, g_.edges);
    g.bands = cut_into_bands(depth_, g_.cost, bands, g.band);
    const division d = p.partition(g, options_);
    print_row(std::string(p.name()), g.bands, d, cpu_ms() - begin);
  }
  void print_sequence(const partitioner& p, std::uint32_t most) const {
    const double begin = cpu_ms();
    std::vector<std::uint32_t> band;
    const std::uint32_t bands = cut_into_bands(depth_, g_.cost, most, band);
    division d;
    d.part.assign(g_.cost.size(), anywhere);
    for (std::uint32_t b = 0; b < bands; b++) add_band(p, band, b, d.part);
    d.measured = measure(make_graph(g_.cost, g_.edges), options_.onto, d.part);
    print_row("  sequence", bands, d, cpu_ms() - begin);
  }
  // The tasks of one band, and of earlier ones those with which they share an edge.
  void add_band(const partitioner& p, const std::vector<std::uint32_t>& band, std::uint32_t now,
                std::vector<int>& part) const {
    std::vector<vertex> tasks, number(g_.cost.size(), ~vertex{0});
    options o = options_;
    std::vector<std::uint64_t> weight;
    const auto add = [&](vertex v, std::uint64_t w) {
      if (number[v] != ~vertex{0}) return number[v];
      number[v] = static_cast<vertex>(tasks.size());
      tasks.push_back(v);
      weight.push_back(w);
      o.fixed.push_back(part[v]);
      return number[v];
    };
    for (vertex v = 0; v < band.size(); v++)
      if (band[v] == now) add(v, g_.cost[v]);
    std::vector<edge> edges;
    for (const edge& e : g_.edges)
      if (std::max(band[e.to], band[e.from]) == now) edges.push_back({add(e.from, 0), add(e.to, 0), e.bytes});
    const division d = p.partition(make_graph(std::move(weight), edges), o);
    for (std::size_t i = 0; i < tasks.size(); i++) part[tasks[i]] = d.part[i];
  }
  void print_auto(const partitioner& p) const {
    const double begin = cpu_ms();
    const timely_division d = divide_in_time(p, g_.cost, g_.edges, options_, cost_of_byte());
    print_row("  auto", d.bands, d, cpu_ms() - begin);
  }
  void print_row(const std::string& name, std::uint32_t bands, const division& d, double ms) const {
    const auto runs = [&](double byte) { return schedule(after_, order_, g_.cost, options_.onto, d.part, byte); };
    const double all = std::max(bytes_, 1.0);
    fmt::print("  {:<10}{:>6}{:>9.2f}{:>10.2f}{:>11.3f}{:>8.3f}{:>8.3f}{:>16.3f}{:>9.0f}{}\n", name, bands,
               100 * d.measured.cut_bytes / all, 100 * d.measured.distant_bytes / all, d.measured.worst_imbalance(),
               average_share(depth_, g_.cost, options_.onto.parts(), d.part), runs(0).efficiency(),
               runs(cost_of_byte()).efficiency(), ms, d.note.empty() ? "" : "  " + d.note);
    std::fflush(stdout);
  }

  const task_graph& g_;
  const settings& settings_;
  const options options_;
  const successors after_;
  const std::vector<vertex> order_;
  const std::vector<std::uint32_t> depth_;
  double bytes_ = 0, work_ = 0;
};

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"What partitioners cost and bring."};
  app.add_option("--graph", s.graph, "only graphs whose name has this in it");
  app.add_option("--with", s.with, "these partitioners")->delimiter(',');
  app.add_option("--bands", s.bands, "numbers of bands of depth")->delimiter(',')->check(CLI::Range(1, 100'000));
  app.add_option("--parts", s.parts, "how many")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--workers", s.workers, "in each part")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--machine", s.machine, "a part for each of its nodes, with its distances");
  app.add_option("--transfer", s.transfer, "what reading all from elsewhere takes, over what all tasks take")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app.add_option("--seed", s.seed, "of the partitioners")->capture_default_str();
  app.add_flag("--sequence", s.sequence, "also the bands one after the other");
  app.add_flag("--large", s.large, "windows of 100,000 and of a million tasks instead");
  CLI11_PARSE(app, argc, argv);
  for (const task_graph& g : s.large ? large_graphs() : graphs_to_divide())
    if (g.name.find(s.graph) != std::string::npos) comparison(g, s).run();
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  try {
    return weir::bench::main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "partition: %s\n", e.what());
    return 1;
  }
}
