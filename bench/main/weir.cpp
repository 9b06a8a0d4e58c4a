// What things cost from main() and in a task under weir.
#include <bench/main/program.hpp>

#include <bench/common/compute.hpp>
#include <bench/main/work.hpp>

#include <weir/weir.hpp>

#include <functional>

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

std::uint64_t leaves(weir::runtime& rt, unsigned children, std::uint64_t levels) {
  if (levels == 0) return 1;
  leaf_counts below;
  weir::scope s(rt);
  for (unsigned i = 0; i < children; i++)
    s.spawn([&rt, &count = below.of[i], children, levels] { count = leaves(rt, children, levels - 1); });
  s.wait();
  return below.sum(children);
}

auto tree(const problem& p) {
  return [p, expected = leaves_of(p.what->children, p.size)](weir::runtime& rt) {
    std::uint64_t found = 0;
    rt.run([&] { found = leaves(rt, p.what->children, p.size); });
    expect(found == expected);
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
    {"start-stop", place::main, start_and_stop},
    {"start-loop-stop", place::main, start_loop_and_stop},
    {"tree-2", place::main, in_main<tree>},
    {"tree-4", place::main, in_main<tree>},
    {"tree-10", place::main, in_main<tree>},
};

}  // namespace

int main(int argc, char** argv) { return program_main(argc, argv, "weir", entries); }
