// weir solve: from options to a solution. Everything that can be checked is checked before anything is computed.
#include "solve.hpp"

#include "solve_report.hpp"

#include <bench/common/counters.hpp>
#include <bench/common/interleaved_memory.hpp>
#include <bench/common/io/file.hpp>
#include <bench/common/median.hpp>
#include <bench/common/output.hpp>
#include <bench/common/parser.hpp>
#include <tools/common/stopwatch.hpp>

#include <weir/parallel.hpp>
#include <weir/region.h>
#include <weir/solver.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace weir::tools {
namespace {

using namespace weir::solver;

struct solve_options {
  std::string file, generator, rhs, output, report;
  std::string order = "natural", method = "gmres", policy, memory, coarsen = "auto";
  int level = 0, workers = 0, restart = 30, iterations = 1000, repeat = 3;
  double tolerance = 1e-8, shift = 0;
  bool json = false, alone = false, counters = false;
};

// The line that is overwritten while iterations go on; nothing where standard error is no terminal.
class progress_line {
 public:
  explicit progress_line(const std::string& method) : method_(method), terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~progress_line() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void operator()(int iteration, double residual) {
    constexpr auto pause = std::chrono::milliseconds(100);
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now - last_ < pause) return;
    last_ = now;
    shown_ = true;
    fmt::print(stderr, "\r\033[K{}: iteration {}, residual {:.2e}", method_, iteration, residual);
    std::fflush(stderr);
  }

 private:
  const std::string& method_;
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

// Rows of a natural order follow each other. In nested dissection its parts do, of which each worker gets several; what
// separates them is shared out level by level.
std::string usual_coarsen(ordering how, std::size_t rows, int workers) {
  if (how != ordering::nested_dissection) return "CD(4)";
  constexpr std::size_t parts_of_each = 8;
  const auto w = static_cast<std::size_t>(workers);
  return fmt::format("T({})F({})", std::max<std::size_t>(2, rows / (parts_of_each * w)), 2 * w);
}

// Small, so that a coarse string that makes no sense is found before a matrix has been read.
void check_coarsen(const std::string& coarsen) {
  if (coarsen == "none" || coarsen == "auto") return;
  const std::size_t no_predecessors[] = {0, 0};
  aggregate(graph(no_predecessors, {}), coarsen);
}

// Where rows and vectors lie on a machine of several nodes.
constexpr const char* first_touch = "first-touch";  // where they are written first
constexpr const char* interleave = "interleave";    // pages in turn over nodes with CPUs that we may use
constexpr const char* distribute = "distribute";    // on the nodes among which the tasks are shared out

void check_memory(const solve_options& o) {
  if (o.memory != "" && o.memory != first_touch && o.memory != interleave && o.memory != distribute) throw matrix_error(fmt::format("--memory {}: expected first-touch, interleave or distribute", o.memory));
  if (o.memory == distribute && o.coarsen == "none") throw matrix_error("--memory distribute shares aggregates out among nodes: expected a coarse string, not --coarsen none");
}

// Regions of weir emulate --roi: the last run of each kind, when memory and caches are as they will be.
enum region : std::uint8_t { factor_region, sequential_factor_region, solve_region, sequential_solve_region, read_region, sequential_read_region };

void check(const solve_options& o) {
  if (o.file.empty() == o.generator.empty()) throw matrix_error("solve needs one matrix: a Matrix Market file, or --matrix with a generator (cube:N, spe10-like:NXxNYxNZ, spe10:FILE)");
  parse_ordering(o.order);
  if (o.method != "none") parse_method(o.method);
  if (o.method == "none" && !(o.output.empty() && o.report.empty())) throw matrix_error("--method none has no solution to write: expected gmres, cg or bicgstab with -o or --report");
  check_coarsen(o.coarsen);
  check_memory(o);
}

class solving {
 public:
  explicit solving(const solve_options& o) : options_(o) {}

  // 0, or 1 if the method did not converge.
  int run() {
    start();
    read();
    reorder();
    factor();
    measure_substitution();
    if (options_.method == "none") return print(), 0;
    iterate();
    return finish();
  }

 private:
  void start() {
    // Files that cannot be written are found before the work. The solution's is tried and given up again.
    if (!options_.output.empty()) bench::replacement_file tried(options_.output);
    if (!options_.report.empty()) report_.emplace(options_.report);
    if (options_.memory == interleave && !bench::interleave_memory())
      throw matrix_error("--memory interleave: the system refuses to interleave memory");
    if (options_.counters) count();   // before the workers, which inherit the counters
    runtime_options o;
    o.workers = options_.workers;
    o.policy = options_.policy;
    rt_.emplace(o);
    facts_.nodes = rt_->nodes();
    facts_.memory = memory();
    facts_.order = options_.order, facts_.method = options_.method, facts_.policy = rt_->policy();
    facts_.level = options_.level, facts_.workers = rt_->workers(), facts_.tolerance = options_.tolerance;
  }

  void count() {
    counters_.emplace();
    facts_.counters_missing = counters_->missing();
    if (!facts_.counters_missing.empty())
      fmt::print(stderr, "weir: note: --counters does not count {}\n", facts_.counters_missing);
  }

  // Tasks that are queued by nodes want their rows there.
  std::string memory() const {
    if (!options_.memory.empty()) return options_.memory;
    const bool by_nodes = rt_->nodes() > 1 && rt_->policy().starts_with("node-queues") && options_.coarsen != "none";
    return by_nodes ? distribute : first_touch;
  }

  void read() {
    facts_.matrix = options_.file.empty() ? options_.generator : options_.file;
    facts_.read_seconds = seconds_of([&] { a_ = options_.file.empty() ? generate(options_.generator) : read_matrix_market(options_.file); });
    check_structural_rank(a_);
    facts_.rows = a_.order(), facts_.nonzeros = a_.numbers(), facts_.block = a_.block;
    b_ = array<double>(a_.order());
    if (!options_.rhs.empty()) {
      b_ = read_vector(options_.rhs);
      if (b_.size() != a_.order()) throw matrix_error(fmt::format("{}: {} values: expected {}, as the matrix has rows", options_.rhs, b_.size(), a_.order()));
    } else {
      array<double> x(a_.order());
      for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<double>(1 + i % 10);
      multiply(a_, x, b_);
    }
  }

  void reorder() {
    const ordering how = parse_ordering(options_.order);
    facts_.order_seconds = seconds_of([&] { order_ = order_rows(a_, how); });
    if (how == ordering::natural) return;
    a_ = permute(a_, order_);
    array<double> b(b_.size());
    permute(b_, b, order_, a_.block);
    b_.swap(b);
  }

  void factor() {
    facts_.symbolic_seconds = seconds_of([&] { factors_.emplace(a_, ilu_options{.level = options_.level, .shift = options_.shift}); });
    try {
      aggregate_rows();
      compare<factor_region>(facts_.factor_seconds, [&] { tasks_->factor(*rt_, *factors_, a_); }, facts_.sequential_factor_seconds, [&] { factors_->factor(a_); });
    } catch (const zero_pivot_error& e) {
      fail_pivot(e.row());
    }
    facts_.factor_nonzeros = factors_->entries() * static_cast<std::size_t>(a_.block * a_.block);
    facts_.shifted_pivots = factors_->shifted();
  }
  void aggregate_rows() {
    const std::string& coarsen = options_.coarsen;
    if (coarsen == "auto") write_factors();
    facts_.aggregate_seconds = seconds_of([&] { tasks_.emplace(*factors_, a_, coarsen, *rt_); });
    if (facts_.memory == distribute) facts_.distribute_seconds = seconds_of([&] { facts_.pages = tasks_->distribute(*rt_, *factors_, a_); facts_.pages += tasks_->place(b_); });
    facts_.tasks = tasks_->tasks(), facts_.edges = tasks_->edges(), facts_.aggregated_tasks = tasks_->aggregated_tasks();
    facts_.coarsen = coarsen == "auto" ? "auto: " + tasks_->coarsening() : coarsen;
  }
  // What auto tries needs factors. Where there are several nodes, who writes them first decides where they lie: the workers.
  void write_factors() {
    if (facts_.nodes == 1) return factors_->factor(a_);
    row_tasks(*factors_, usual_coarsen(parse_ordering(options_.order), static_cast<std::size_t>(a_.rows), rt_->workers())).factor(*rt_, *factors_, a_);
  }
  // Names the row as the user's matrix has it.
  [[noreturn]] void fail_pivot(std::int64_t row) const {
    const std::int64_t given = std::int64_t{order_[static_cast<std::size_t>(row / a_.block)]} * a_.block + row % a_.block;
    throw matrix_error(fmt::format("{}: the pivot of row {} is zero to rounding: expected a matrix that can be factored in this order without exchanging rows; try another --order, a larger --ilu, or --shift 0.01", facts_.matrix, given + 1));
  }

  // By turns, so that a disturbance hits both; the median of each. The parallel one first: who writes the factors for the
  // first time decides where they lie. Then in turns who is first, because what follows the other finds caches filled
  // otherwise; but in the last round, whose regions weir emulate sees in this order. With --alone
  // there is only the parallel one.
  template <region Parallel>
  void compare(double& parallel, const std::function<void()>& in_parallel, double& sequential,
               const std::function<void()>& in_sequence) {
    std::vector<double> times[2];
    for (int r = 0; r < options_.repeat; r++) {
      const bool last = r + 1 == options_.repeat;
      const bool parallel_first = r % 2 == 0 || last;
      if (parallel_first) times[0].push_back(seconds_of_region<Parallel>(last, in_parallel));
      if (!options_.alone) times[1].push_back(seconds_of_region<region{Parallel + 1}>(last, in_sequence));
      if (!parallel_first) times[0].push_back(seconds_of_region<Parallel>(last, in_parallel));
    }
    parallel = bench::median(times[0]);
    if (!options_.alone) sequential = bench::median(times[1]);
  }

  template <region Number, class F>
  double seconds_of_region(bool last, const F& what) {
    if (!last) return seconds_of(what);
    if (counters_) counters_->begin();
    WEIR_REGION_BEGIN(Number);
    const double seconds = seconds_of(what);
    WEIR_REGION_END(Number);
    if (counters_ && Number == factor_region) facts_.factor_counts = counters_->end();
    if (counters_ && Number == solve_region) facts_.solve_counts = counters_->end();
    return seconds;
  }

  void measure_substitution() {
    array<double> x(b_.size());
    facts_.pages += tasks_->place(x);
    compare<solve_region>(facts_.solve_seconds, [&] { tasks_->solve(*rt_, *factors_, b_, x); }, facts_.sequential_solve_seconds, [&] { factors_->solve(b_, x); });
    // b is read, x written by the forward solve, and read and written by the backward one.
    facts_.solve_bytes = factors_->bytes() + 4 * b_.size() * sizeof(double);
    if (options_.alone) return;
    array<double> bytes(facts_.solve_bytes / sizeof(double));
    parallel_for(*rt_, bytes, [](double& v) { v = 1; });
    volatile double sum = 0;
    compare<read_region>(facts_.read_bytes_seconds, [&] { sum = parallel_reduce(*rt_, std::size_t{0}, bytes.size(), 0.0, [&](std::size_t begin, std::size_t end) { return sum_of(bytes, begin, end); }, std::plus()); },
            facts_.sequential_read_bytes_seconds, [&] { sum = sum_of(bytes, 0, bytes.size()); });
  }
  // Eight sums side by side: as fast as memory, not as additions that wait for each other. The processor's own prefetching
  // ends with each page; this does not.
  static double sum_of(const array<double>& v, std::size_t begin, std::size_t end) {
    constexpr std::size_t ahead = 512;  // numbers: a page
    double sum[8] = {};
    for (; begin + 8 <= end; begin += 8) {
      __builtin_prefetch(v.data() + begin + ahead);
      for (std::size_t k = 0; k < 8; k++) sum[k] += v[begin + k];
    }
    double rest = 0;
    for (; begin < end; begin++) rest += v[begin];
    for (const double s : sum) rest += s;
    return rest;
  }

  void iterate() {
    x_ = array<double>(b_.size());
    const auto place = [&](std::span<double> vector) { facts_.pages += tasks_->place(vector); };
    place(x_);
    parallel_for(*rt_, x_, [](double& v) { v = 0; });
    progress_line progress(options_.method);
    const krylov_options o{.method = parse_method(options_.method), .tolerance = options_.tolerance, .most_iterations = options_.iterations, .restart = options_.restart, .progress = std::ref(progress), .place = place};
    const auto precondition = [&](std::span<const double> in, std::span<double> out) { tasks_->solve(*rt_, *factors_, in, out); };
    krylov_result r;
    facts_.iterate_seconds = seconds_of([&] { r = solve(*rt_, a_, precondition, b_, x_, o); });
    facts_.converged = r.converged, facts_.iterations = r.iterations, facts_.residual = r.residual, facts_.why = r.why, facts_.history = std::move(r.history);
  }

  int finish() {
    if (!options_.output.empty()) {
      array<double> x(x_.size());
      permute_back(x_, x, order_, a_.block);
      write_vector(options_.output, x);
    }
    if (report_) {
      fmt::print(report_->stream(), "{}", to_html(facts_));
      report_->commit();
    }
    print();
    if (facts_.converged) return 0;
    fmt::print(stderr, "weir: {}: {} did not converge to {:g}: {}\n", facts_.matrix, options_.method, options_.tolerance, facts_.why);
    return 1;
  }

  void print() const {
    fmt::print("{}", options_.json ? to_json(facts_) + "\n" : to_table(facts_));
    bench::flush_output();
  }

  const solve_options& options_;
  solve_facts facts_;
  std::optional<bench::region_counters> counters_;
  std::optional<runtime> rt_;
  matrix a_;
  array<double> b_, x_;
  array<index> order_;
  std::optional<ilu> factors_;
  std::optional<row_tasks> tasks_;
  std::optional<bench::replacement_file> report_;
};

}  // namespace

std::shared_ptr<const int> add_solve_command(CLI::App& app) {
  auto o = std::make_shared<solve_options>();
  auto status = std::make_shared<int>(0);
  CLI::App* solve = app.add_subcommand("solve", "Solve a sparse linear system: Krylov methods with ILU(k), its rows as tasks");
  constexpr int most = 1 << 30;
  solve->add_option("file", o->file, "Matrix Market file")->type_name("A.mtx");
  solve->add_option("--matrix", o->generator, "Generator instead of a file: cube:N, spe10-like:NXxNYxNZ[,seed=S], spe10:FILE")->type_name("GEN");
  solve->add_option("--rhs", o->rhs, "Right side, a Matrix Market array; default: that of the solution 1, 2, ..., 10, 1, 2, ...")->type_name("b.mtx");
  solve->add_option("--ilu", o->level, "Level of fill")
      ->transform(bench::whole_number(0, largest_level))
      ->type_name("K");
  solve->add_option("--order", o->order, "Order of rows: natural, reverse Cuthill-McKee or nested dissection")->type_name("natural|rcm|nd");
  solve->add_option("--method", o->method, "Krylov method; none: factorisation and triangular solves are timed, and nothing is solved")->type_name("gmres|cg|bicgstab|none");
  solve->add_option("--restart", o->restart, "Vectors after which GMRES begins anew")
      ->transform(bench::whole_number(1, most))
      ->type_name("M");
  solve->add_option("--tol", o->tolerance, "Residual relative to the right side")
      ->check(bench::number_that([](double t) { return t > 0 && t < 1; }, "a number between 0 and 1"))
      ->type_name("T");
  solve->add_option("--iterations", o->iterations, "Most iterations")
      ->transform(bench::whole_number(0, most))
      ->type_name("N");
  solve->add_option("--shift", o->shift,
                    "What a pivot that is zero becomes, times the largest value of its row; 0: it is an error")
      ->check(bench::number_that([](double s) { return s >= 0; }, "a number that is not negative"))
      ->type_name("S");
  solve->add_option("--coarsen", o->coarsen, "Coarse string that puts rows together to tasks, as CD(4), or T(62500)F(4) for nd; auto, the default: what is fastest of some; none: a task a row")->type_name("STRING|auto|none");
  solve->add_option("--policy", o->policy, "Policy, with parameters as in push-weighted:in=1,out=2")->type_name("P");
  solve->add_option("--memory", o->memory, "Rows and vectors on several nodes: where they are written first, pages in turn, or where their tasks are sent, the default under the policy node-queues")->type_name("first-touch|interleave|distribute");
  solve->add_option("--workers", o->workers, "Workers; 0: one per CPU the process may use")
      ->transform(bench::whole_number(0, runtime_options::most_workers))
      ->type_name("N");
  solve->add_option("--repeat", o->repeat, "Factorisations and triangular solves timed, of each kind")
      ->transform(bench::whole_number(1, 1000000))
      ->type_name("R");
  solve->add_flag("--alone", o->alone,
                  "Time the tasks alone: neither one row after the other, nor merely reading as many bytes");
  solve->add_option("-o,--output", o->output, "File for the solution")->type_name("x.mtx");
  solve->add_option("--report", o->report, "File for a page with a plot of the residuals")->type_name("FILE");
  solve->add_flag("--counters", o->counters, "Count lines from memory and instructions with the processor's counters");
  solve->add_flag("--json", o->json, "One JSON object");
  solve->callback([o, status] {
    check(*o);
    *status = solving(*o).run();
  });
  return status;
}

}  // namespace weir::tools
