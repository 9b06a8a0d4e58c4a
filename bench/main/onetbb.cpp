// What things cost from main() and in a task under oneTBB.
//
// main() is in an arena of as many slots as there are to be workers, and takes one of them. The arena that a thread has
// of its own is like that, but has as many slots as there are CPUs.
#include <bench/main/program.hpp>

#include <bench/common/compute.hpp>
#include <bench/main/recursion.hpp>
#include <bench/main/work.hpp>

#include <tbb/blocked_range.h>
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <deque>
#include <functional>

namespace {

using namespace weir::bench::from_main;
using range = tbb::blocked_range<const double*>;

class workers {
 public:
  explicit workers(int count)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count)), arena_(count) {}

  template <class Body>
  void run(const Body& body) {
    arena_.execute(body);
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

template <auto Prepare>
batch in_main(const problem& p) {
  return [w = std::make_shared<workers>(p.workers), once = Prepare(p)](std::uint64_t repetitions) {
    double seconds = 0;
    w->run([&] { seconds = seconds_of(repetitions, once); });
    return seconds;
  };
}

template <auto Prepare>
batch in_task(const problem& p) {
  return [w = std::make_shared<workers>(p.workers), once = Prepare(p)](std::uint64_t repetitions) {
    double seconds = 0;
    w->run([&] {
      tbb::task_group group;
      group.run([&] { seconds = seconds_of(repetitions, once); });
      group.wait();
    });
    return seconds;
  };
}

auto tasks(std::uint64_t count) {
  return [count] {
    tbb::task_group group;
    for (std::uint64_t i = 0; i < count; i++) group.run([] { nothing(); });
    group.wait();
  };
}

auto one_task(const problem&) { return tasks(1); }
auto many_tasks(const problem& p) { return tasks(p.size); }

auto loop(const problem& p) {
  const auto v = std::make_shared<vectors>(p.size);
  return [v, n = p.size] {
    tbb::parallel_for(std::uint64_t{0}, n, [x = v->x.data(), y = v->y.data()](std::uint64_t i) {
      y[i] += 0.5 * x[i];
    }, tbb::static_partitioner());
  };
}

auto reduce(const problem& p) {
  const auto v = std::make_shared<numbers>(p.size);
  return [v] {
    const double* const first = v->values.data();
    const auto add = [](const range& part, double sum) { return std::accumulate(part.begin(), part.end(), sum); };
    const double sum = tbb::parallel_reduce(range(first, first + v->values.size()), 0.0, add, std::plus<double>(),
                                            tbb::static_partitioner());
    expect(sum == v->sum);
  };
}

void loop_of_nothing(int elements) {
  tbb::parallel_for(0, elements, [](int) { nothing(); }, tbb::static_partitioner());
}

auto empty_loop(const problem& p) {
  return [n = p.workers] { loop_of_nothing(n); };
}

auto loops(const problem& p) {
  return [n = p.size, iterations = p.iterations] {
    for (std::uint64_t i = 0; i < n; i++)
      tbb::parallel_for(std::uint64_t{0}, elements_of_loops, [=](std::uint64_t) {
        weir::bench::compute(iterations);
      }, tbb::static_partitioner());
  };
}

auto triad(const problem& p) {
  const auto arrays = std::make_shared<triad_arrays>(p.size);
  return [arrays, n = p.size] {
    arrays->use([n](const triad_arrays::part& all) {
      tbb::parallel_for(std::uint64_t{0}, n, [all](std::uint64_t i) { all.fill(i); }, tbb::static_partitioner());
    }, [n](const triad_arrays::part& all) {
      for (int t = 0; t < triads; t++)
        tbb::parallel_for(std::uint64_t{0}, n, [all](std::uint64_t i) { all.compute(i); }, tbb::static_partitioner());
    });
  };
}

// With the partitioner that divides a part again when somebody has nothing to do.
template <bool ascending>
auto uneven(const problem& p) {
  const auto elements = std::make_shared<uneven_elements>(p.size, ascending);
  return [elements, iterations = p.iterations] {
    tbb::parallel_for(std::size_t{0}, elements->times.size(), [&times = elements->times, iterations](std::size_t i) {
      uneven_elements::run(times[i], iterations);
    });
  };
}

// As many tokens as weir has by default.
auto pipeline(const problem& p) {
  return [p, line = std::make_shared<pipeline_work>(p.iterations, p.what->elements_a_stage)] {
    constexpr auto serial = tbb::filter_mode::serial_in_order;
    line->begin();
    std::uint64_t next = 0;
    const auto source = tbb::make_filter<void, std::uint64_t>(serial, [&](tbb::flow_control& control) -> std::uint64_t {
      if (next < p.size) return line->pass(0, pipeline_work::token(next++));
      control.stop();
      return 0;
    });
    const auto stage = [&](std::size_t s) {
      return tbb::make_filter<std::uint64_t, std::uint64_t>(serial, [&, s](std::uint64_t token) {
        return line->pass(s, token);
      });
    };
    const auto last = tbb::make_filter<std::uint64_t, void>(serial, [&](std::uint64_t token) { line->pass(7, token); });
    tbb::parallel_pipeline(4 * static_cast<std::size_t>(p.workers),
                           source & stage(1) & stage(2) & stage(3) & stage(4) & stage(5) & stage(6) & last);
    line->expect_all(p.size);
  };
}

auto graph(const problem& p) {
  return [work = std::make_shared<grid_work>(p.size)] {
    using message = tbb::flow::continue_msg;
    work->begin();
    tbb::flow::graph g;
    std::deque<tbb::flow::continue_node<message>> nodes;
    for (std::uint64_t i = 0; i < work->size(); i++) {
      nodes.emplace_back(g, [w = work.get(), i](const message&) { w->run(i); });
      work->for_each_before(i, [&](std::uint64_t before) { tbb::flow::make_edge(nodes[before], nodes[i]); });
    }
    for (std::uint64_t i = 0; i < std::min(grid_work::columns, work->size()); i++) nodes[i].try_put(message());
    g.wait_for_all();
    work->expect_all();
  };
}

class tasks_of_a_call {
 public:
  explicit tasks_of_a_call(nothing_shared&) {}
  template <class F>
  void fork(F&& f) {
    group_.run(std::forward<F>(f));
  }
  void join() { group_.wait(); }

 private:
  tbb::task_group group_;
};

auto recursive(const problem& p) {
  return [p, expected = expected_result(*p.what, p.size)] {
    nothing_shared none;
    expected.compare(result_of<tasks_of_a_call>(none, *p.what, p.size));
  };
}

// oneTBB starts its threads when there is something for them to do, and finalize() waits until they have ended.
batch start_loop_and_stop(const problem& p) {
  return [p](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      tbb::task_scheduler_handle handle{tbb::attach{}};
      workers(p.workers).run([&] { loop_of_nothing(p.workers); });
      tbb::finalize(handle);
    });
  };
}

constexpr entry entries[] = {
    {"one-task", place::main, in_main<one_task>},
    {"one-task", place::task, in_task<one_task>},
    {"loop", place::main, in_main<loop>},
    {"loop", place::task, in_task<loop>},
    {"reduce", place::main, in_main<reduce>},
    {"reduce", place::task, in_task<reduce>},
    {"empty-loop", place::main, in_main<empty_loop>},
    {"empty-loop", place::task, in_task<empty_loop>},
    {"tasks", place::main, in_main<many_tasks>},
    {"tasks", place::task, in_task<many_tasks>},
    {"loops", place::main, in_main<loops>},
    {"loops", place::task, in_task<loops>},
    {"triad", place::main, in_main<triad>},
    {"triad", place::task, in_task<triad>},
    {"uneven", place::main, in_main<uneven<false>>},
    {"uneven", place::task, in_task<uneven<false>>},
    {"sorted", place::main, in_main<uneven<true>>},
    {"sorted", place::task, in_task<uneven<true>>},
    {"pipeline", place::main, in_main<pipeline>},
    {"pipeline", place::task, in_task<pipeline>},
    {"short-pipeline", place::main, in_main<pipeline>},
    {"short-pipeline", place::task, in_task<pipeline>},
    {"graph", place::main, in_main<graph>},
    {"graph", place::task, in_task<graph>},
    {"start-loop-stop", place::main, start_loop_and_stop},
    {"tree-2", place::main, in_main<recursive>},
    {"tree-4", place::main, in_main<recursive>},
    {"tree-10", place::main, in_main<recursive>},
    {"fib", place::main, in_main<recursive>},
    {"integrate", place::main, in_main<recursive>},
    {"queens", place::main, in_main<recursive>},
};

}  // namespace

int main(int argc, char** argv) { return program_main(argc, argv, "onetbb", entries); }
