// What each number of sched::tuning is worth: the shapes of programs.hpp, simulated with it at other values, on
// machines with 8, 24 and 192 workers.
//
//   sweep [--policy NAME] [--constant NAME] [--task-us N]...
//   sweep --compare NAME,NAME,... [--task-us N]... [--rounds N]
//
// With --compare, each shape's time under several policies, in microseconds, and of the first over the best other one.
// Else a row is a number and a value: the geometric mean of all times over those with the usual value, for each
// machine and length of tasks, and the shape that gains and the one that loses most. The same on every machine and in
// every run.
#include "engine/sim/simulation.hpp"
#include "scheduling/programs.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace weir::bench {
namespace {

struct simulated_machine {
  std::string name;
  machine::description machine;
  std::vector<int> node_of_worker;
};

simulated_machine load(const std::string& file, std::size_t workers_per_node) {
  simulated_machine s{file, machine::load(file), {}};
  for (int node = 0; node < s.machine.node_count(); node++)
    for (std::size_t i = 0; i < workers_per_node; i++) s.node_of_worker.push_back(node);
  s.name = std::to_string(s.node_of_worker.size());
  return s;
}

using times = std::vector<double>;  // by program

class sweep {
 public:
  sweep(std::string policy, const std::vector<int>& task_us) : policy_(std::move(policy)) {
    machines_.push_back(load("opteron-64", 1));
    machines_.push_back(load("sgi-192", 1));
    machines_.push_back(load("sgi-192", 8));
    for (const simulated_machine& m : machines_)
      for (const int us : task_us)
        cells_.push_back(
            {&m,
             us,
             simulated_programs(static_cast<int>(m.node_of_worker.size()), static_cast<std::uint64_t>(us) * 1000),
             {}});
    for (cell& c : cells_) c.usual = run(c, {});
  }

  void print_header() const {
    std::string line = fmt::format("{:<22}{:>12}", "constant", "value");
    for (const cell& c : cells_) line += fmt::format("{:>12}", fmt::format("{}x{}us", c.on->name, c.task_us));
    fmt::print("{}  {}\n", line, "gains most, loses most");
  }
  void print(const sched::tuning::field& f) const {
    const sched::tuning usual;
    const std::int64_t now = usual.*f.value;
    fmt::print("{:<22}{:>12}  (usual)\n", f.name, now);
    for (const std::int64_t value : {f.least, now / 4, now / 2, 2 * now, 4 * now, f.most}) {
      if (value < f.least || value > f.most || value == now) continue;
      sched::tuning t;
      t.*f.value = value;
      print_row(value, t);
    }
    std::fflush(stdout);
  }

 private:
  struct cell {
    const simulated_machine* on;
    int task_us;
    std::vector<named_program> programs;
    times usual;
  };
  struct extreme {
    double ratio = 1;
    std::string of = "none";
  };

  times run(const cell& c, const sched::tuning& t) const {
    times all;
    for (const named_program& p : c.programs) {
      engine::sim::simulation s(c.on->machine, c.on->node_of_worker, policy_, p.made, 2'000'000, {}, t);
      all.push_back(static_cast<double>(s.run().ns));
    }
    return all;
  }
  void print_row(std::int64_t value, const sched::tuning& t) const {
    std::string line = fmt::format("{:<22}{:>12}", "", value);
    extreme best, worst;
    for (const cell& c : cells_) {
      const times now = run(c, t);
      double logs = 0;
      for (std::size_t i = 0; i < now.size(); i++) {
        const double ratio = now[i] / c.usual[i];
        logs += std::log(ratio);
        const std::string of = fmt::format("{} {}x{}us", c.programs[i].name, c.on->name, c.task_us);
        if (ratio < best.ratio) best = {ratio, of};
        if (ratio > worst.ratio) worst = {ratio, of};
      }
      line += fmt::format("{:>12.3f}", std::exp(logs / static_cast<double>(now.size())));
    }
    fmt::print("{}  {:.2f} {}; {:.2f} {}\n", line, best.ratio, best.of, worst.ratio, worst.of);
  }

  const std::string policy_;
  std::vector<simulated_machine> machines_;
  std::vector<cell> cells_;
};

// As a program that does the same again and again, with the same data.
engine::sim::program repeated(const engine::sim::program& once, int rounds) {
  engine::sim::program all = once;
  const int tasks = static_cast<int>(once.tasks.size());
  for (int r = 1; r < rounds; r++) {
    for (engine::sim::task t : once.tasks) {
      for (int& created : t.creates) created += r * tasks;
      all.tasks.push_back(std::move(t));
    }
    for (const int created : once.creates) all.creates.push_back(created + r * tasks);
  }
  return all;
}

void compare(const std::vector<std::string>& policies, const std::vector<int>& task_us, int rounds) {
  for (const auto& [file, each] : {std::pair("opteron-64", 1), std::pair("sgi-192", 1), std::pair("sgi-192", 8)}) {
    const simulated_machine m = load(file, static_cast<std::size_t>(each));
    for (const int us : task_us) {
      std::string header = fmt::format("\n{:<28}", fmt::format("{} workers, {} us", m.name, us));
      for (const std::string& p : policies) header += fmt::format("{:>14}", p);
      fmt::print("{}{:>14}\n", header, "ratio");
      double logs = 0;
      const auto programs =
          simulated_programs(static_cast<int>(m.node_of_worker.size()), static_cast<std::uint64_t>(us) * 1000);
      for (const named_program& p : programs) {
        std::string line = fmt::format("{:<28}", p.name);
        times all;
        const engine::sim::program made = repeated(p.made, rounds);
        for (const std::string& policy : policies) {
          engine::sim::simulation s(m.machine, m.node_of_worker, policy, made, 2'000'000);
          all.push_back(static_cast<double>(s.run().ns) / 1000);
          line += fmt::format("{:>14.0f}", all.back());
        }
        const double ratio = all.size() < 2 ? 1 : all[0] / *std::min_element(all.begin() + 1, all.end());
        logs += std::log(ratio);
        fmt::print("{}{:>14.2f}\n", line, ratio);
      }
      fmt::print("{:<28}{:>{}.3f}\n", "geometric mean", std::exp(logs / static_cast<double>(programs.size())),
                 14 * (policies.size() + 1));
      std::fflush(stdout);
    }
  }
}

int main(int argc, char** argv) {
  CLI::App app{"What each constant of the scheduler is worth, on simulated machines."};
  std::string policy = "local";
  std::vector<std::string> names, compared;
  std::vector<int> task_us;
  int rounds = 1;
  CLI::Option* const comparing =
      app.add_option("--compare", compared, "each shape's time under these policies")->delimiter(',');
  app.add_option("--rounds", rounds, "do each program so often, one after the other")
      ->check(CLI::Range(1, 1000))
      ->needs(comparing);
  app.add_option("--policy", policy, "under this policy")->capture_default_str();
  app.add_option("--constant", names, "these only");
  app.add_option("--task-us", task_us, "length of tasks, microseconds (default: 2 and 20)")
      ->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  if (task_us.empty()) task_us = {2, 20};
  if (!compared.empty()) {
    compare(compared, task_us, rounds);
    return 0;
  }
  for (const std::string& n : names) {
    const auto fields = sched::tuning::fields();
    if (std::none_of(fields.begin(), fields.end(), [&](const auto& f) { return f.name == n; })) {
      fmt::print(stderr, "sweep: there is no constant {}; see src/sched/tuning.hpp\n", n);
      return 2;
    }
  }
  const sweep all(policy, task_us);
  all.print_header();
  for (const auto& f : sched::tuning::fields())
    if (names.empty() || std::find(names.begin(), names.end(), f.name) != names.end()) all.print(f);
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  try {
    return weir::bench::main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sweep: %s\n", e.what());
    return 1;
  }
}
