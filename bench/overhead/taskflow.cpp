// What tasks cost under Taskflow: dependent asyncs, which a program creates and orders as it goes along.
//
// Taskflow looks at no addresses. The program keeps the handle of the last task of each column, in two rows used in
// turn, and hands a new task the handles of those that it comes after: patterns on the program's own memory, too. What
// is replayed is a tf::Taskflow.
#include <bench/overhead/program.hpp>

#include <taskflow/taskflow.hpp>

#include <array>

namespace {

using namespace weir::bench::overhead;

class taskflow_under_test final : public runtime_under_test {
 public:
  explicit taskflow_under_test(const options& o) : executor_(static_cast<std::size_t>(o.workers)) {}

  void prepare(const workload& w) override {
    if (w.what->replay) return w.with_work([&](const auto& work) { build(w, work); });
    for (auto& row : rows_) row.assign(w.graph->width(), {});
  }

  void run(workload& w) override {
    if (w.what->replay) return replay(w);
    w.with_work([&](const auto& work) {
      // Tasks are created on a worker, in a group: cheaper than if each is one of the executor's own.
      executor_.silent_async([&] {
        tf::TaskGroup group = executor_.task_group();
        switch (w.what->shape) {
          case form::independent: independent(group, w, work); break;
          case form::fib: w.fib_result = fib(w.fib, work); break;
          case form::grid: all_steps(group, w, work); break;
        }
        group.corun();
      });
      executor_.wait_for_all();
    });
  }

 private:
  template <class Work>
  static void independent(tf::TaskGroup& group, const workload& w, const Work& work) {
    w.for_each_independent([&](const position& p) { group.silent_async(work.of(p)); });
  }

  template <class Work>
  std::uint64_t fib(unsigned n, const Work& work) {
    if constexpr (!Work::checks) work.of({})();
    if (n < 2) return n;
    std::uint64_t a = 0, b = 0;
    tf::TaskGroup group = executor_.task_group();
    group.silent_async([&, n] { a = fib(n - 1, work); });
    group.silent_async([&, n] { b = fib(n - 2, work); });
    group.corun();
    return a + b;
  }

  template <class Work>
  void all_steps(tf::TaskGroup& group, const workload& w, const Work& work) {
    w.graph->for_each_task(w.tasks, [&](const position& p) {
      rows_[p.step & 1][p.column] = create(group, rows_[(p.step + 1) & 1].data(), p.before, work.of(p));
    });
  }

  // A few handles are named one by one; to hand over more of them means to copy them.
  template <class Task>
  tf::AsyncTask create(tf::TaskGroup& group, tf::AsyncTask* last, std::span<const std::uint32_t> before,
                       const Task& task) {
    switch (before.size()) {
      case 0: return group.silent_dependent_async(task);
      case 1: return group.silent_dependent_async(task, last[before[0]]);
      case 2: return group.silent_dependent_async(task, last[before[0]], last[before[1]]);
      case 3: return group.silent_dependent_async(task, last[before[0]], last[before[1]], last[before[2]]);
      default:
        named_.clear();
        for (const std::uint32_t column : before) named_.push_back(last[column]);
        return group.silent_dependent_async(task, named_.begin(), named_.end());
    }
  }

  template <class Work>
  void build(const workload& w, const Work& work) {
    replayed_.clear();
    std::array<std::vector<tf::Task>, 2> rows;
    for (auto& row : rows) row.resize(w.graph->width());
    w.graph->for_each_task(w.tasks, [&](const position& p) {
      tf::Task& task = rows[p.step & 1][p.column];
      task = replayed_.emplace(work.of(p));
      for (const std::uint32_t column : p.before) rows[(p.step + 1) & 1][column].precede(task);
    });
  }
  void replay(const workload& w) {
    for (std::uint64_t i = 0; i < w.replays; i++) {
      if (i != 0 && w.check != nullptr) w.check->end_run();
      executor_.run(replayed_).wait();
    }
  }

  tf::Executor executor_;
  std::vector<tf::AsyncTask> rows_[2], named_;
  tf::Taskflow replayed_;
};

}  // namespace

int main(int argc, char** argv) {
  return measure_main(argc, argv,
                      {.runtime = "taskflow",
                       .has = [](const pattern& p) { return !p.creators && !p.has_groups(); },
                       .has_policies = false,
                       .start = [](const options& o) -> std::unique_ptr<runtime_under_test> {
                         return std::make_unique<taskflow_under_test>(o);
                       }});
}
