// What things cost from main() and in a task under OpenMP. The runtime is the one the compiler brings along: libgomp
// or libomp.
//
// From main() a program with tasks opens a parallel region for them, and waits for its end. "In a task" is within such
// a region, where only tasks can be measured: a parallel loop in there would be run by one thread.
#include <bench/main/program.hpp>

#include <bench/common/compute.hpp>
#include <bench/main/recursion.hpp>
#include <bench/main/work.hpp>

#include <omp.h>

#include <cstdlib>
#include <functional>

namespace {

using namespace weir::bench::from_main;

// Number of threads of all parallel regions.
void set_workers(const problem& p) {
  omp_set_dynamic(0);
  omp_set_num_threads(p.workers);
}

template <auto Prepare>
batch in_main(const problem& p) {
  set_workers(p);
  return [once = Prepare(p)](std::uint64_t repetitions) { return seconds_of(repetitions, once); };
}

template <auto Prepare>
batch in_task(const problem& p) {
  set_workers(p);
  return [once = Prepare(p)](std::uint64_t repetitions) {
    double seconds = 0;
#pragma omp parallel
#pragma omp single
    seconds = seconds_of(repetitions, once);
    return seconds;
  };
}

void create_and_wait(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; i++) {
#pragma omp task
    nothing();
  }
#pragma omp taskwait
}

auto tasks_of_region(std::uint64_t count) {
  return [count] {
#pragma omp parallel
#pragma omp single
    create_and_wait(count);
  };
}

auto tasks(std::uint64_t count) {
  return [count] { create_and_wait(count); };
}

auto one_task_of_region(const problem&) { return tasks_of_region(1); }
auto one_task(const problem&) { return tasks(1); }
auto many_tasks_of_region(const problem& p) { return tasks_of_region(p.size); }
auto many_tasks(const problem& p) { return tasks(p.size); }

auto loop(const problem& p) {
  const auto v = std::make_shared<vectors>(p.size);
  return [v, n = p.size] {
    const double* const x = v->x.data();
    double* const y = v->y.data();
#pragma omp parallel for schedule(static)
    for (std::uint64_t i = 0; i < n; i++) y[i] += 0.5 * x[i];
  };
}

auto reduce(const problem& p) {
  const auto v = std::make_shared<numbers>(p.size);
  return [v, n = p.size] {
    const double* const x = v->values.data();
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::uint64_t i = 0; i < n; i++) sum += x[i];
    expect(sum == v->sum);
  };
}

void loop_of_nothing(int elements) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < elements; i++) nothing();
}

auto empty_loop(const problem& p) {
  return [n = p.workers] { loop_of_nothing(n); };
}

auto loops(const problem& p) {
  return [n = p.size, iterations = p.iterations] {
    for (std::uint64_t i = 0; i < n; i++) {
#pragma omp parallel for schedule(static)
      for (std::uint64_t element = 0; element < elements_of_loops; element++) weir::bench::compute(iterations);
    }
  };
}

auto triad(const problem& p) {
  const auto arrays = std::make_shared<triad_arrays>(p.size);
  return [arrays, n = p.size] {
    arrays->use([n](const triad_arrays::part& all) {
#pragma omp parallel for schedule(static)
      for (std::uint64_t i = 0; i < n; i++) all.fill(i);
    }, [n](const triad_arrays::part& all) {
      for (int t = 0; t < triads; t++) {
#pragma omp parallel for schedule(static)
        for (std::uint64_t i = 0; i < n; i++) all.compute(i);
      }
    });
  };
}

// Of the schedules the best for what nobody knows, unless OMP_SCHEDULE names another.
template <bool ascending>
auto uneven(const problem& p) {
  if (std::getenv("OMP_SCHEDULE") == nullptr) omp_set_schedule(omp_sched_dynamic, 32);
  const auto elements = std::make_shared<uneven_elements>(p.size, ascending);
  return [elements, iterations = p.iterations] {
    const std::vector<std::uint64_t>& times = elements->times;
#pragma omp parallel for schedule(runtime)
    for (std::size_t i = 0; i < times.size(); i++) uneven_elements::run(times[i], iterations);
  };
}

// OpenMP has no pipelines: a task for each stage of each token, which name both.
auto pipeline(const problem& p) {
  return [p, line = std::make_shared<pipeline_work>(p.iterations, p.what->elements_a_stage),
          tokens = std::make_shared<std::vector<std::uint64_t>>(p.size)] {
    line->begin();
    char kept[pipeline_work::stages] = {};
    pipeline_work* const work = line.get();
    std::uint64_t* const on_its_way = tokens->data();
#pragma omp parallel
#pragma omp single
    for (std::uint64_t i = 0; i < p.size; i++) {
      on_its_way[i] = pipeline_work::token(i);
      for (std::size_t s = 0; s < pipeline_work::stages; s++) {
#pragma omp task depend(inout : on_its_way[i], kept[s]) firstprivate(work, i, s)
        on_its_way[i] = work->pass(s, on_its_way[i]);
      }
    }
    static_cast<void>(kept);
    line->expect_all(p.size);
  };
}

// A task a node, which names what it reads: at the edges one neighbour twice.
auto graph(const problem& p) {
  return [work = std::make_shared<grid_work>(p.size), names = std::make_shared<std::vector<char>>(p.size)] {
    work->begin();
    grid_work* const w = work.get();
    char* const node = names->data();
#pragma omp parallel
#pragma omp single
    for (std::uint64_t i = 0; i < w->size(); i++) {
      const std::uint64_t above = i - grid_work::columns, column = i % grid_work::columns;
      const std::uint64_t left = column > 0 ? above - 1 : above;
      const std::uint64_t right = column + 1 < grid_work::columns ? above + 1 : above;
      if (i < grid_work::columns) {
#pragma omp task depend(out : node[i]) firstprivate(w, i)
        w->run(i);
      } else {
#pragma omp task depend(in : node[left], node[above], node[right]) depend(out : node[i]) firstprivate(w, i)
        w->run(i);
      }
    }
    static_cast<void>(node);
    work->expect_all();
  };
}

class tasks_of_a_call {
 public:
  explicit tasks_of_a_call(nothing_shared&) {}
  template <class F>
  void fork(const F& f) {
#pragma omp task firstprivate(f)
    f();
  }
  void join() {
#pragma omp taskwait
  }
};

auto recursive(const problem& p) {
  return [p, expected = expected_result(*p.what, p.size)] {
    nothing_shared none;
    double found = 0;
#pragma omp parallel
#pragma omp single
    found = result_of<tasks_of_a_call>(none, *p.what, p.size);
    expected.compare(found);
  };
}

// The threads end when the runtime's resources are given back; the next region starts others.
batch start_loop_and_stop(const problem& p) {
  set_workers(p);
  return [n = p.workers](std::uint64_t repetitions) {
    return seconds_of(repetitions, [n] {
      loop_of_nothing(n);
      expect(omp_pause_resource_all(omp_pause_hard) == 0);
    });
  };
}

constexpr entry entries[] = {
    {"one-task", place::main, in_main<one_task_of_region>},
    {"one-task", place::task, in_task<one_task>},
    {"loop", place::main, in_main<loop>},
    {"reduce", place::main, in_main<reduce>},
    {"empty-loop", place::main, in_main<empty_loop>},
    {"tasks", place::main, in_main<many_tasks_of_region>},
    {"tasks", place::task, in_task<many_tasks>},
    {"loops", place::main, in_main<loops>},
    {"triad", place::main, in_main<triad>},
    {"uneven", place::main, in_main<uneven<false>>},
    {"sorted", place::main, in_main<uneven<true>>},
    {"pipeline", place::main, in_main<pipeline>},
    {"short-pipeline", place::main, in_main<pipeline>},
    {"graph", place::main, in_main<graph>},
    {"start-loop-stop", place::main, start_loop_and_stop},
    {"tree-2", place::main, in_main<recursive>},
    {"tree-4", place::main, in_main<recursive>},
    {"tree-10", place::main, in_main<recursive>},
    {"fib", place::main, in_main<recursive>},
    {"integrate", place::main, in_main<recursive>},
    {"queens", place::main, in_main<recursive>},
};

#if defined(__clang__)
constexpr std::string_view runtime_name = "libomp";
#else
constexpr std::string_view runtime_name = "libgomp";
#endif

}  // namespace

int main(int argc, char** argv) { return program_main(argc, argv, runtime_name, entries); }
