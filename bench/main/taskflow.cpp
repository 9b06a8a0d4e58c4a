// What things cost from main() and in a task under Taskflow: asyncs, task groups, a pipeline, and graphs.
#include <bench/main/program.hpp>

#include <bench/main/recursion.hpp>
#include <bench/main/work.hpp>

#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/taskflow.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace weir::bench::from_main;

template <auto Prepare>
batch in_main(const problem& p) {
  const auto executor = std::make_shared<tf::Executor>(static_cast<std::size_t>(p.workers));
  return [executor, once = Prepare(p)](std::uint64_t repetitions) {
    return seconds_of(repetitions, [&] { once(*executor); });
  };
}

template <auto Prepare>
batch in_task(const problem& p) {
  const auto executor = std::make_shared<tf::Executor>(static_cast<std::size_t>(p.workers));
  return [executor, once = Prepare(p)](std::uint64_t repetitions) {
    double seconds = 0;
    // Throws what is thrown.
    executor->async([&] { seconds = seconds_of(repetitions, [&] { once(*executor); }); }).get();
    return seconds;
  };
}

// On a worker a graph is run by that worker, too; main() waits.
void run(tf::Executor& executor, tf::Taskflow& flow) {
  if (executor.this_worker_id() >= 0) executor.corun(flow);
  else executor.run(flow).wait();
}

auto tasks(std::uint64_t count) {
  return [count](tf::Executor& executor) {
    for (std::uint64_t i = 0; i < count; i++) executor.silent_async([] { nothing(); });
    executor.wait_for_all();
  };
}

auto tasks_of_group(std::uint64_t count) {
  return [count](tf::Executor& executor) {
    tf::TaskGroup group = executor.task_group();
    for (std::uint64_t i = 0; i < count; i++) group.silent_async([] { nothing(); });
    group.corun();
  };
}

auto one_task(const problem&) { return tasks(1); }
auto one_task_of_group(const problem&) { return tasks_of_group(1); }
auto many_tasks(const problem& p) { return tasks(p.size); }
auto many_tasks_of_group(const problem& p) { return tasks_of_group(p.size); }

// As many tokens as weir has by default. What goes from stage to stage is the program's own, a value for each line.
auto pipeline(const problem& p) {
  return [p, line = std::make_shared<pipeline_work>(p.iterations, p.what->elements_a_stage)](tf::Executor& executor) {
    const std::size_t lines = 4 * static_cast<std::size_t>(p.workers);
    line->begin();
    std::vector<std::uint64_t> tokens(lines);
    auto source = [&](tf::Pipeflow& at) {
      if (at.token() == p.size) at.stop();
      else tokens[at.line()] = line->pass(0, pipeline_work::token(at.token()));
    };
    const auto stage = [&](std::size_t s) {
      return tf::Pipe{tf::PipeType::SERIAL, [&, s](tf::Pipeflow& at) {
                        tokens[at.line()] = line->pass(s, tokens[at.line()]);
                      }};
    };
    tf::Pipeline all(lines, tf::Pipe{tf::PipeType::SERIAL, std::move(source)}, stage(1), stage(2), stage(3), stage(4),
                     stage(5), stage(6), stage(7));
    tf::Taskflow flow;
    flow.composed_of(all);
    run(executor, flow);
    line->expect_all(p.size);
  };
}

auto graph(const problem& p) {
  return [work = std::make_shared<grid_work>(p.size)](tf::Executor& executor) {
    work->begin();
    tf::Taskflow flow;
    std::vector<tf::Task> nodes;
    nodes.reserve(work->size());
    for (std::uint64_t i = 0; i < work->size(); i++) {
      nodes.push_back(flow.emplace([w = work.get(), i] { w->run(i); }));
      work->for_each_before(i, [&](std::uint64_t before) { nodes[before].precede(nodes[i]); });
    }
    run(executor, flow);
    work->expect_all();
  };
}

class tasks_of_a_call {
 public:
  explicit tasks_of_a_call(tf::Executor& executor) : group_(executor.task_group()) {}
  template <class F>
  void fork(F&& f) {
    group_.silent_async(std::forward<F>(f));
  }
  void join() { group_.corun(); }

 private:
  tf::TaskGroup group_;
};

auto recursive(const problem& p) {
  return [p, expected = expected_result(*p.what, p.size)](tf::Executor& executor) {
    double found = 0;
    executor.async([&] { found = result_of<tasks_of_a_call>(executor, *p.what, p.size); }).get();
    expected.compare(found);
  };
}

constexpr entry entries[] = {
    {"one-task", place::main, in_main<one_task>},
    {"one-task", place::task, in_task<one_task_of_group>},
    {"tasks", place::main, in_main<many_tasks>},
    {"tasks", place::task, in_task<many_tasks_of_group>},
    {"pipeline", place::main, in_main<pipeline>},
    {"pipeline", place::task, in_task<pipeline>},
    {"short-pipeline", place::main, in_main<pipeline>},
    {"short-pipeline", place::task, in_task<pipeline>},
    {"graph", place::main, in_main<graph>},
    {"graph", place::task, in_task<graph>},
    {"tree-2", place::main, in_main<recursive>},
    {"tree-4", place::main, in_main<recursive>},
    {"tree-10", place::main, in_main<recursive>},
    {"fib", place::main, in_main<recursive>},
    {"integrate", place::main, in_main<recursive>},
    {"queens", place::main, in_main<recursive>},
};

}  // namespace

int main(int argc, char** argv) { return program_main(argc, argv, "taskflow", entries); }
