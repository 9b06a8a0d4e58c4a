// Minimum effective task granularity: METG(50 %) of Slaughter et al., "Task Bench: a parameterized benchmark for
// evaluating parallel runtime performance", SC 2020, sections 3 and 4.
//
//   efficiency   loop iterations per second of a run, by the most of any run or of as many plain threads
//   granularity  time x workers / tasks
//   METG         the granularity at which efficiency is one half, interpolated between the two nearest points
#include <bench/common/stopwatch.hpp>
#include <bench/overhead/program.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

namespace weir::bench::overhead {
namespace {

constexpr double wanted_efficiency = 0.5;
constexpr double first_task_ns = 128e3;  // above what most runtimes need, below what would make the sweep slow
constexpr double longest_task_ns = 32e6; // gives up above: no program with tasks of this length asks
constexpr double run_ns = 20e6;          // aim for one run: long beside a wake-up, short enough for many points
constexpr std::uint64_t least_steps = 10;
constexpr int refinements = 3;           // halvings of the interval that has METG in it

struct point {
  double iterations;  // per task
  double granularity_ns, efficiency;
};

// Iterations per second of `workers` plain threads.
double peak_rate(int workers, double iteration_ns) {
  const auto iterations = static_cast<std::uint64_t>(run_ns / iteration_ns);
  double best = 0;
  for (int attempt = 0; attempt < 3; attempt++) {
    const stopwatch watch;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < workers; i++) threads.emplace_back([=] { compute(iterations); });
    }
    const double taken_s = watch.seconds();
    best = std::max(best, static_cast<double>(iterations) * workers / taken_s);
  }
  return best;
}

class sweep {
 public:
  sweep(const options& o, runtime_under_test& runtime, const grid& graph, double peak)
      : options_(o), runtime_(runtime), graph_(graph), peak_(peak) {
    load_.what = o.what;
    load_.graph = &graph;
    runtime_.prepare(load_);
  }

  point measure(double iterations, double expected_granularity_ns) {
    load_.iterations = std::max<std::uint64_t>(1, std::llround(iterations));
    const double fitting = run_ns * options_.workers / expected_granularity_ns;
    load_.tasks = std::max(graph_.tasks_in(least_steps), static_cast<std::uint64_t>(fitting));
    double seconds = std::numeric_limits<double>::infinity();  // the least: other programs only make a run longer
    for (int i = 0; i < options_.repeat; i++) seconds = std::min(seconds, seconds_of(runtime_, load_));
    const auto tasks = static_cast<double>(load_.tasks);
    const double rate = tasks * static_cast<double>(load_.iterations) / seconds;
    peak_ = std::max(peak_, rate);
    points_++;
    return {static_cast<double>(load_.iterations), seconds * 1e9 * options_.workers / tasks, rate / peak_};
  }
  double peak() const { return peak_; }
  int points() const { return points_; }

 private:
  const options& options_;
  runtime_under_test& runtime_;
  const grid& graph_;
  double peak_;
  workload load_;
  int points_ = 0;
};

bool effective(const point& p) { return p.efficiency >= wanted_efficiency; }

// Where the line between two points crosses the wanted efficiency, in the logarithm of the granularity.
double crossing(const point& above, const point& below) {
  const double share = (wanted_efficiency - below.efficiency) / (above.efficiency - below.efficiency);
  return std::exp(std::log(below.granularity_ns) + share * (std::log(above.granularity_ns) - std::log(below.granularity_ns)));
}

// Empty if even the longest tasks are not effective; `longest` is then their point.
std::optional<double> find_metg(sweep& s, double iteration_ns, point& longest) {
  s.measure(first_task_ns / iteration_ns, first_task_ns);  // warms up
  longest = s.measure(first_task_ns / iteration_ns, first_task_ns);
  while (!effective(longest) && longest.iterations * iteration_ns < longest_task_ns) longest = s.measure(4 * longest.iterations, 4 * longest.iterations * iteration_ns);
  if (!effective(longest)) return {};

  // Shorter and shorter tasks, until two points in a row are below: another program may have disturbed a single one.
  std::vector<point> points = {longest};
  for (int misses = 0; misses < 2 && points.back().iterations > 1;) {
    points.push_back(s.measure(points.back().iterations / 2, points.back().granularity_ns / 2));
    misses = effective(points.back()) ? 0 : misses + 1;
  }
  std::size_t last = points.size() - 1;
  while (!effective(points[last])) last--;
  point above = points[last];
  if (last + 1 == points.size()) return above.granularity_ns;  // tasks of a single iteration are effective
  point below = points[last + 1];
  for (int i = 0; i < refinements; i++) {
    const point middle = s.measure(std::sqrt(above.iterations * below.iterations), std::sqrt(above.granularity_ns * below.granularity_ns));
    (effective(middle) ? above : below) = middle;
  }
  return crossing(above, below);
}

}  // namespace

void measure_metg(const options& o, const description& d, runtime_under_test& runtime, const grid& graph) {
  const double iteration_ns = ns_per_iteration();
  sweep s(o, runtime, graph, peak_rate(o.workers, iteration_ns));
  point longest{};
  const std::optional<double> metg = find_metg(s, iteration_ns, longest);
  std::printf("{\"pattern\":\"%s\",\"runtime\":\"%s\",\"workers\":%d,\"width\":%u,\"points\":%d,\"peak_iterations_per_second\":%.0f,\"metg_ns\":",
              std::string(o.what->name).c_str(), std::string(d.runtime).c_str(), o.workers, graph.width(), s.points(), s.peak());
  if (metg) std::printf("%.1f}\n", *metg);
  else std::printf("null,\"never\":\"efficiency is %.0f %% at a granularity of %.0f ns\"}\n", 100 * longest.efficiency, longest.granularity_ns);
}

}  // namespace weir::bench::overhead
