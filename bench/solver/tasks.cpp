// solver-tasks: rows of ILU(k) and of its triangular solves as tasks, under weir, oneTBB and OpenMP, and one after the other;
// in one process, on the same factors, in rounds of random order.
//
//   build/bin/peers/solver-tasks --matrix cube:100 --order natural --ilu 0,1,2 --coarsen none,CD\(4\)
#include "row_runner.hpp"
#ifdef WEIR_WITH_PETSC
#include "petsc.hpp"
#endif

#include <bench/common/interleaved_memory.hpp>
#include <bench/common/median.hpp>
#include <bench/common/output.hpp>
#include <bench/common/parser.hpp>
#include <bench/common/stopwatch.hpp>

#include <weir/region.h>
#include <weir/solver.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace weir::solver;
using weir::bench::row_graph;
using weir::bench::row_runner;

struct options {
  std::string matrix, order = "natural", policy, memory = "first-touch";
  std::vector<std::string> coarsen{"none", "CD(4)"}, runtimes{"petsc", "weir", "onetbb", "openmp", "levels"};
  std::vector<int> levels{0};
  int workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), repeat = 5;
  bool json = false, alone = false;
};

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

double seconds_of(const auto& what) {
  const weir::bench::stopwatch watch;
  what();
  return watch.seconds();
}

// One way to do both phases.
struct contender {
  virtual ~contender() = default;
  virtual void factor() = 0;
  virtual void solve(std::span<const double> b, std::span<double> x) = 0;

  std::string runtime, coarsen, chosen;  // auto chooses a coarse string; the others are what was asked for
  std::size_t tasks = 0;
  double make_seconds = 0;  // aggregating, and what the runtime keeps of the graph
  std::vector<double> factor_times, solve_times;  // s
  double factor_seconds() const { return weir::bench::median(factor_times); }
  double solve_seconds() const { return weir::bench::median(solve_times); }
  bool verified = true;
};

struct one_after_the_other : contender {
  one_after_the_other(ilu& f, const matrix& a) : f_(f), a_(a) { runtime = "sequential", coarsen = chosen = "none"; }
  void factor() override { f_.factor(a_); }
  void solve(std::span<const double> b, std::span<double> x) override { f_.solve(b, x); }

 private:
  ilu& f_;
  const matrix& a_;
};

#ifdef WEIR_WITH_PETSC
struct under_petsc : contender {
  under_petsc(const matrix& a, int level) : theirs_(a) {
    runtime = "petsc", coarsen = chosen = "none";
    make_seconds = seconds_of([&] { theirs_.symbolic(level); });
  }
  void factor() override { theirs_.numeric(); }
  void solve(std::span<const double> b, std::span<double> x) override { theirs_.solve(b, x); }

 private:
  weir::bench::petsc::ilu theirs_;
};
#endif

struct under_weir : contender {
  under_weir(ilu& f, const matrix& a, const options& o, const std::string& how) : f_(f), a_(a), rt_(weir::runtime_options{.workers = o.workers, .policy = o.policy}) {
    runtime = "weir", coarsen = how;
    make_seconds = seconds_of([&] { tasks_.emplace(f, a, how, rt_); });
    tasks = tasks_->aggregated_tasks();
    chosen = tasks_->coarsening();
  }
  void factor() override { tasks_->factor(rt_, f_, a_); }
  void solve(std::span<const double> b, std::span<double> x) override { tasks_->solve(rt_, f_, b, x); }

 private:
  ilu& f_;
  const matrix& a_;
  weir::runtime rt_;
  std::optional<row_tasks> tasks_;
};

struct under_a_peer : contender {
  using maker = std::unique_ptr<row_runner> (*)(const row_graph&, int);

  under_a_peer(ilu& f, const matrix& a, const options& o, const std::string& name, const std::string& how, maker make) : f_(f), a_(a) {
    runtime = name, coarsen = chosen = how;
    make_seconds = seconds_of([&] {
      graph_.emplace(f, how);
      runner_ = make(*graph_, o.workers);
    });
    tasks = graph_->forward.tasks();
    for (int w = 0; w < o.workers; w++) works_.emplace_back(f);
  }
  void factor() override {
    f_.begin_factor(works_);
    runner_->run([&](std::span<const weir::solver::index> rows, int thread) { f_.factor_rows(a_, rows, works_[static_cast<std::size_t>(thread)]); }, false);
    f_.end_factor(works_);
  }
  void solve(std::span<const double> b, std::span<double> x) override {
    runner_->run([&](std::span<const weir::solver::index> rows, int) { f_.forward_rows(b, x, rows); }, false);
    runner_->run([&](std::span<const weir::solver::index> rows, int) { f_.backward_rows(x, rows); }, true);
  }

 private:
  ilu& f_;
  const matrix& a_;
  std::optional<row_graph> graph_;
  std::unique_ptr<row_runner> runner_;
  std::vector<ilu::workspace> works_;
};

class comparison {
 public:
  comparison(const matrix& a, const options& o, int level) : a_(a), options_(o), level_(level), factors_(a, {.level = level}), b_(a.order()), x_(a.order()), expected_(a.order()) {
    for (std::size_t i = 0; i < b_.size(); i++) b_[i] = std::sin(static_cast<double>(i + 1));
    if (has(o.coarsen, "auto")) factors_.factor(a_);  // its trials need factors
    if (!o.alone) contenders_.push_back(std::make_unique<one_after_the_other>(factors_, a_));
    for (const std::string& name : o.runtimes) add(name);
    if (contenders_.size() > (o.alone ? 0 : 1)) write_first(*contenders_[o.alone ? 0 : 1]);
    factors_.factor(a_);
    factors_.solve(b_, expected_);
  }
  // Who comes after the sequential program finds the other CPU's cache cold: in each round they come in another order, the same
  // in every process. In the last one, whose runs are regions of weir emulate, they come as lines are printed.
  void run() {
    std::vector<contender*> in_order;
    for (const auto& c : contenders_) in_order.push_back(c.get());
    std::vector<contender*> round = in_order;
    std::mt19937 random;
    for (int r = 0; r < options_.repeat; r++) {
      const bool last = r + 1 == options_.repeat;
      if (!last) std::ranges::shuffle(round, random);
      for (contender* c : last ? in_order : round) measure(*c, last);
    }
    if (!options_.json) return print_table();
    for (const contender* c : in_order) print(*c);
  }
  bool verified() const {
    return std::ranges::all_of(contenders_, [](const auto& c) { return c->verified; });
  }

 private:
  // Who writes memory first decides on which node it lies: threads of the first runtime, as in weir solve.
  void write_first(contender& c) {
    c.factor();
    c.solve(b_, x_);
  }

  void add(const std::string& name) {
    if (name == "petsc") {
#ifdef WEIR_WITH_PETSC
      contenders_.push_back(std::make_unique<under_petsc>(a_, level_));
#endif
      return;
    }
    for (const std::string& how : options_.coarsen) {
      if (name == "weir") contenders_.push_back(std::make_unique<under_weir>(factors_, a_, options_, how));
      else if (how != "auto") contenders_.push_back(std::make_unique<under_a_peer>(factors_, a_, options_, name, how, name == "onetbb" ? weir::bench::make_onetbb : name == "openmp" ? weir::bench::make_openmp_tasks : weir::bench::make_levels));
    }
  }

  // The last run is a region of weir emulate: 0 the factorisation, 2 the solves, as weir solve has them. After a rest, in
  // which idle threads of the runtime before fall asleep.
  void measure(contender& c, bool last) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (last) WEIR_REGION_BEGIN(0);
    c.factor_times.push_back(seconds_of([&] { c.factor(); }));
    if (last) WEIR_REGION_END(0);
    if (last) WEIR_REGION_BEGIN(2);
    c.solve_times.push_back(seconds_of([&] { c.solve(b_, x_); }));
    if (last) WEIR_REGION_END(2);
    c.verified = c.verified && agrees(c);
  }
  // PETSc adds in another order; all others to the bit.
  bool agrees(const contender& c) const {
    if (c.runtime != "petsc") return x_ == expected_;
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < x_.size(); i++) {
      difference = std::max(difference, std::abs(x_[i] - expected_[i]));
      largest = std::max(largest, std::abs(expected_[i]));
    }
    return difference <= 1e-10 * largest;
  }

  // How many factorisations, each with a pair of solves, save as much as aggregating took, against a task a row under the same
  // runtime; null for that one, and where nothing is saved.
  nlohmann::ordered_json pays_after(const contender& c) const {
    for (const auto& fine : contenders_)
      if (fine->runtime == c.runtime && fine->coarsen == "none" && fine.get() != &c)
        if (const double saved = fine->factor_seconds() + fine->solve_seconds() - c.factor_seconds() - c.solve_seconds(); saved > 0) return c.make_seconds / saved;
    return nullptr;
  }

  // The sequential program, if it was measured.
  const contender* sequential() const { return options_.alone ? nullptr : contenders_.front().get(); }

  void print(const contender& c) const {
    const contender* s = sequential();
    const auto seconds = [&](double (contender::*phase)() const) {
      return s == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json((s->*phase)());
    };
    const nlohmann::ordered_json j = {
        {"matrix", options_.matrix}, {"order", options_.order}, {"ilu", level_}, {"workers", options_.workers},
        {"runtime", c.runtime}, {"coarsen", c.coarsen}, {"chosen", c.chosen}, {"memory", options_.memory},
        {"tasks", c.tasks}, {"make_ms", c.make_seconds * 1e3}, {"pays_after", pays_after(c)},
        {"factor_seconds", c.factor_seconds()},
        {"sequential_factor_seconds", seconds(&contender::factor_seconds)},
        {"solve_seconds", c.solve_seconds()},
        {"sequential_solve_seconds", seconds(&contender::solve_seconds)},
        {"verified", c.verified}};
    fmt::print("{}\n", j.dump());
    std::fflush(stdout);
  }

  void print_table() const {
    const contender* s = sequential();
    const auto speedup = [&](double (contender::*phase)() const, const contender& c) {
      return s == nullptr ? std::string() : fmt::format("{:.2f}x", (s->*phase)() / (c.*phase)());
    };
    fmt::print("{}, {}, ILU({}): {} rows, {} workers\n", options_.matrix, options_.order, level_, a_.rows,
               options_.workers);
    fmt::print("{:<11} {:<26} {:>9} {:>10}  {:>10} {:>7}  {:>10} {:>7}\n", "runtime", "coarsen", "tasks", "made in",
               "factor", "", "solves", "");
    for (const auto& c : contenders_)
      fmt::print("{:<11} {:<26} {:>9} {:>7.1f} ms  {:>7.2f} ms {:>7}  {:>7.2f} ms {:>7}{}\n", c->runtime,
                 c->coarsen == c->chosen ? c->coarsen : c->coarsen + ": " + c->chosen, c->tasks, c->make_seconds * 1e3,
                 c->factor_seconds() * 1e3, speedup(&contender::factor_seconds, *c), c->solve_seconds() * 1e3,
                 speedup(&contender::solve_seconds, *c), c->verified ? "" : "  DIFFERS");
    fmt::print("\n");
    std::fflush(stdout);
  }

  const matrix& a_;
  const options& options_;
  const int level_;
  ilu factors_;
  array<double> b_, x_, expected_;
  std::vector<std::unique_ptr<contender>> contenders_;
};

bool run(const options& o) {
  if (o.memory == "interleave" && !weir::bench::interleave_memory())
    throw matrix_error("--memory interleave: the system refuses to interleave memory");
#ifdef WEIR_WITH_PETSC
  std::optional<weir::bench::petsc::session> session;
  if (has(o.runtimes, "petsc")) session.emplace();  // it needs files that a guest does not have
#endif
  const matrix natural = o.matrix.ends_with(".mtx") ? read_matrix_market(o.matrix) : generate(o.matrix);
  const matrix a = permute(natural, order_rows(natural, parse_ordering(o.order)));
  bool verified = true;
  for (const int level : o.levels) {
    comparison c(a, o, level);
    c.run();
    verified = verified && c.verified();
  }
  return verified;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app{"Rows of ILU(k) and of its triangular solves as tasks, under several runtimes in turn."};
  app.add_option("--matrix", o.matrix, "A Matrix Market file (.mtx) of symmetric pattern, or a generator")->required()->type_name("M");
  app.add_option("--order", o.order, "natural, rcm or nd");
  app.add_option("--ilu", o.levels, "Levels of fill")
      ->delimiter(',')
      ->transform(weir::bench::whole_number(0, largest_level));
  app.add_option("--coarsen", o.coarsen, "Coarse strings; none: a task a row; auto, for weir alone: tried out")->delimiter(',');
  app.add_option("--runtime", o.runtimes, "Which of them, beside the sequential program")
      ->delimiter(',')
      ->check(weir::bench::one_of({"petsc", "weir", "onetbb", "openmp", "levels"}));
  app.add_option("--memory", o.memory, "Where rows and vectors lie: first-touch, or interleave")
      ->check(weir::bench::one_of({"first-touch", "interleave"}));
  app.add_option("--policy", o.policy, "Policy of weir");
  app.add_option("--workers", o.workers, "Threads of each")->transform(weir::bench::whole_number(1, 1 << 16));
  app.add_option("--repeat", o.repeat, "Rounds; medians count")->transform(weir::bench::whole_number(1, 100000));
  app.add_flag("--alone", o.alone, "No sequential program beside them; its times are null");
  app.add_flag("--json", o.json, "A JSON object a line");
  if (const auto status = weir::bench::parse(app, "solver-tasks", argc, argv)) return *status;
  try {
    if (run(o)) return weir::bench::close_output("solver-tasks", 0);
    fmt::print(stderr, "solver-tasks: a result differs from the sequential one\n");
    return weir::bench::close_output("solver-tasks", 1);
  } catch (const std::exception& e) {
    fmt::print(stderr, "solver-tasks: {}\n", e.what());
    return 2;
  }
}
