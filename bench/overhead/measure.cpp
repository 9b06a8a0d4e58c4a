// Measures one pattern: an untimed run to warm up, then the timed ones.
#include <bench/overhead/program.hpp>

#include <bench/common/region.hpp>
#include <bench/common/stopwatch.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <optional>

namespace weir::bench::overhead {
namespace {

// A replayed graph is of a length at which what a replay costs beside its tasks is small.
constexpr std::uint64_t replayed_steps = 64;

// Of the process, since it began.
std::uint64_t peak_resident_bytes() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
}

// Of all threads, so far.
double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Of a run that was held.
struct times_on_cpus {
  double creation_ns, all_ns;
};

void print(const options& o, const description& d, const workload& w, double seconds, const times_on_cpus& held,
           int repeat, double dependences) {
  const bool is_grid = w.what->shape == form::grid;
  const std::uint64_t tasks = w.tasks * w.replays;
  std::printf("{\"pattern\":\"%s\",\"runtime\":\"%s\",\"workers\":%d,\"tasks\":%llu,\"dependences\":%.3g,",
              std::string(w.what->name).c_str(), std::string(d.runtime).c_str(), o.workers, static_cast<unsigned long long>(tasks), dependences);
  if (is_grid) std::printf("\"width\":%u,", w.graph->width());
  if (w.what->creators) std::printf("\"creators\":%u,", w.creators);
  if (w.what->random) std::printf("\"seed\":%llu,", static_cast<unsigned long long>(o.seed));
  std::printf("\"task_ns\":%llu,\"repeat\":%d,\"seconds\":%.9f,\"ns_per_task\":", static_cast<unsigned long long>(o.task_ns), repeat, seconds);
  if (tasks == 0) std::printf("null");
  else std::printf("%.3f", seconds * 1e9 / static_cast<double>(tasks));
  if (o.held && tasks != 0)
    std::printf(",\"creation_ns_per_task\":%.3f,\"cpu_ns_per_task\":%.3f",
                held.creation_ns / static_cast<double>(tasks), held.all_ns / static_cast<double>(tasks));
  std::printf(",\"peak_resident_bytes\":%llu", static_cast<unsigned long long>(peak_resident_bytes()));
  std::printf(",\"verified\":%s}\n", w.check == nullptr ? "null" : w.check->passed() ? "true" : "false");
  std::fflush(stdout);
}

// Only where there is something to check: fib is checked by its result.
void end_run(const workload& w) {
  if (w.check == nullptr) return;
  if (w.what->shape == form::fib) w.check->expect(w.fib_result == fib_value(w.fib));
  else w.check->end_run();
}

int measure(const options& o, const description& d, runtime_under_test& runtime, const grid& graph) {
  workload w{.what = o.what, .graph = &graph, .tasks = o.tasks, .creators = o.creators};
  if (o.what->shape == form::fib) {
    w.fib = fib_within(o.tasks);
    w.tasks = fib_tasks(w.fib);
  }
  if (o.what->replay) {
    w.tasks = std::min(o.tasks, graph.tasks_in(replayed_steps));
    w.replays = w.tasks == 0 ? 1 : o.tasks / w.tasks;
  }
  if (o.task_ns != 0) w.iterations = iterations_of(static_cast<double>(o.task_ns));
  std::optional<checker> check;
  if (o.verify) w.check = &check.emplace(o.what->shape == form::fib ? 0 : w.tasks);

  const double dependences = o.what->shape == form::grid ? graph.mean_dependences(w.tasks) : 0;
  runtime.prepare(w);
  runtime.run(w);
  end_run(w);
  for (int repeat = 0; repeat < o.repeat; repeat++) {
    const double before_ns = cpu_ns(), seconds = seconds_of(runtime, w), all_ns = cpu_ns() - before_ns;
    end_run(w);
    print(o, d, w, seconds, {runtime.creation_ns(), all_ns}, repeat, dependences);
  }
  return w.check == nullptr || w.check->passed() ? 0 : 1;
}

}  // namespace

double seconds_of(runtime_under_test& runtime, workload& w) {
  const stopwatch watch;
  {
    const measured_region region;
    runtime.run(w);
  }
  return watch.seconds();
}

int measure_main(int argc, char** argv, const description& d) {
  const options o = parse_options(argc, argv, d);
  const grid graph(*o.what, std::max(o.width, 1u), o.dependences, o.seed);
  std::unique_ptr<runtime_under_test> runtime;
  try {
    runtime = d.start(o);
  } catch (const std::exception& e) {
    refuse(e.what());
  }
  try {
    if (!o.metg) return measure(o, d, *runtime, graph);
    measure_metg(o, d, *runtime, graph);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 1;
  }
}

}  // namespace weir::bench::overhead
