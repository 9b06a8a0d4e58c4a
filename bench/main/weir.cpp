// What things cost from main() and in a task under weir.
#include <bench/main/program.hpp>

#include <bench/common/compute.hpp>
#include <bench/main/recursion.hpp>
#include <bench/main/work.hpp>

#include <weir/weir.hpp>

#include <functional>
#include <optional>

namespace {

using namespace weir::bench::from_main;

// What is measured is a callable that takes the runtime, which main() has made before.
std::shared_ptr<weir::runtime> started(const problem& p) {
  return std::make_shared<weir::runtime>(weir::runtime_options{.workers = p.workers});
}

template <auto Prepare>
batch in_main(const problem& p) {
  return [rt = started(p), once = Prepare(p)](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] { once(*rt); });
  };
}

template <auto Prepare>
batch in_task(const problem& p) {
  return [rt = started(p), once = Prepare(p)](std::uint64_t repetitions) {
    double seconds = 0;
    rt->run([&] { seconds = seconds_of(repetitions, [&] { once(*rt); }); });
    return seconds;
  };
}

// In a task the runtime cannot be waited for; a scope can.
auto tasks(std::uint64_t count) {
  return [count](weir::runtime& rt) {
    for (std::uint64_t i = 0; i < count; i++) rt.spawn([] { nothing(); });
    rt.wait();
  };
}

auto tasks_of_scope(std::uint64_t count) {
  return [count](weir::runtime& rt) {
    weir::scope s(rt);
    for (std::uint64_t i = 0; i < count; i++) s.spawn([] { nothing(); });
    s.wait();
  };
}

auto one_task(const problem&) { return tasks(1); }
auto one_task_of_scope(const problem&) { return tasks_of_scope(1); }
auto many_tasks(const problem& p) { return tasks(p.size); }
auto many_tasks_of_scope(const problem& p) { return tasks_of_scope(p.size); }

auto loop(const problem& p) {
  const auto v = std::make_shared<vectors>(p.size);
  return [v, n = p.size](weir::runtime& rt) {
    weir::parallel_for(rt, std::uint64_t{0}, n, [x = v->x.data(), y = v->y.data()](std::uint64_t i) {
      y[i] += 0.5 * x[i];
    });
  };
}

auto reduce(const problem& p) {
  const auto v = std::make_shared<numbers>(p.size);
  return [v](weir::runtime& rt) {
    expect(weir::parallel_reduce(rt, v->values, 0.0, std::identity(), std::plus()) == v->sum);
  };
}

auto empty_loop(const problem& p) {
  return [n = p.workers](weir::runtime& rt) { weir::parallel_for(rt, 0, n, [](int) { nothing(); }); };
}

auto loops(const problem& p) {
  return [n = p.size, iterations = p.iterations](weir::runtime& rt) {
    for (std::uint64_t i = 0; i < n; i++)
      weir::parallel_for(rt, std::uint64_t{0}, elements_of_loops, [=](std::uint64_t) {
        weir::bench::compute(iterations);
      });
  };
}

auto triad(const problem& p) {
  const auto arrays = std::make_shared<triad_arrays>(p.size);
  return [arrays, n = p.size](weir::runtime& rt) {
    arrays->use([&](const triad_arrays::part& all) {
      weir::parallel_for(rt, std::uint64_t{0}, n, [all](std::uint64_t i) { all.fill(i); });
    }, [&](const triad_arrays::part& all) {
      for (int t = 0; t < triads; t++)
        weir::parallel_for(rt, std::uint64_t{0}, n, [all](std::uint64_t i) { all.compute(i); });
    });
  };
}

template <bool ascending>
auto uneven(const problem& p) {
  const auto elements = std::make_shared<uneven_elements>(p.size, ascending);
  return [elements, iterations = p.iterations](weir::runtime& rt) {
    weir::parallel_for(rt, elements->times, [=](std::uint64_t times) { uneven_elements::run(times, iterations); });
  };
}

// The datum belongs to the first runtime that this is called with, which is the only one.
auto read(const problem&) {
  struct counter {
    std::optional<weir::data<int>> datum;
    int expected = 0;
  };
  return [c = std::make_shared<counter>()](weir::runtime& rt) {
    if (!c->datum) c->datum = rt.make_data(std::vector<int>{0});
    rt.spawn(weir::inout(*c->datum), [](std::span<int> value) { value[0]++; });
    expect(c->datum->read()[0] == ++c->expected);
  };
}

auto pipeline(const problem& p) {
  return [p, line = std::make_shared<pipeline_work>(p.iterations, p.what->elements_a_stage)](weir::runtime& rt) {
    line->begin();
    auto source = [&, next = std::uint64_t{0}]() mutable -> std::optional<std::uint64_t> {
      if (next == p.size) return {};
      return line->pass(0, pipeline_work::token(next++));
    };
    const auto stage = [&](std::size_t s) {
      return weir::serial_stage([&, s](std::uint64_t token) { return line->pass(s, token); });
    };
    weir::parallel_pipeline(rt, source, stage(1), stage(2), stage(3), stage(4), stage(5), stage(6),
                            weir::serial_stage([&](std::uint64_t token) { line->pass(7, token); }));
    line->expect_all(p.size);
  };
}

auto graph(const problem& p) {
  return [work = std::make_shared<grid_work>(p.size)](weir::runtime& rt) {
    work->begin();
    weir::graph g;
    for (std::uint64_t i = 0; i < work->size(); i++) {
      const weir::graph::task_id node = g.add([w = work.get(), i] { w->run(i); });
      work->for_each_before(i, [&](std::uint64_t before) { g.precede(static_cast<weir::graph::task_id>(before), node); });
    }
    g.run(rt);
    work->expect_all();
  };
}

class tasks_of_a_call {
 public:
  explicit tasks_of_a_call(weir::runtime& rt) : scope_(rt) {}
  template <class F>
  void fork(F&& f) {
    scope_.spawn(std::forward<F>(f));
  }
  void join() { scope_.wait(); }

 private:
  weir::scope scope_;
};

auto recursive(const problem& p) {
  return [p, expected = expected_result(*p.what, p.size)](weir::runtime& rt) {
    double found = 0;
    rt.run([&] { found = result_of<tasks_of_a_call>(rt, *p.what, p.size); });
    expected.compare(found);
  };
}

batch start_and_stop(const problem& p) {
  return [p](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] { weir::runtime rt({.workers = p.workers}); });
  };
}

batch start_loop_and_stop(const problem& p) {
  return [p](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] {
      weir::runtime rt({.workers = p.workers});
      weir::parallel_for(rt, 0, p.workers, [](int) { nothing(); });
    });
  };
}

constexpr entry entries[] = {
    {"one-task", place::main, in_main<one_task>},
    {"one-task", place::task, in_task<one_task_of_scope>},
    {"loop", place::main, in_main<loop>},
    {"loop", place::task, in_task<loop>},
    {"reduce", place::main, in_main<reduce>},
    {"reduce", place::task, in_task<reduce>},
    {"empty-loop", place::main, in_main<empty_loop>},
    {"empty-loop", place::task, in_task<empty_loop>},
    {"tasks", place::main, in_main<many_tasks>},
    {"tasks", place::task, in_task<many_tasks_of_scope>},
    {"read", place::main, in_main<read>},
    {"read", place::task, in_task<read>},
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
    {"start-stop", place::main, start_and_stop},
    {"start-loop-stop", place::main, start_loop_and_stop},
    {"tree-2", place::main, in_main<recursive>},
    {"tree-4", place::main, in_main<recursive>},
    {"tree-10", place::main, in_main<recursive>},
    {"fib", place::main, in_main<recursive>},
    {"integrate", place::main, in_main<recursive>},
    {"queens", place::main, in_main<recursive>},
};

}  // namespace

int main(int argc, char** argv) { return program_main(argc, argv, "weir", entries); }
