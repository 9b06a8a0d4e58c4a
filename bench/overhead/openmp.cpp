// What tasks cost under OpenMP. The runtime is the one the compiler brings along: libgomp or libomp.
//
// A column's value is a byte, in two rows used in turn, as in Task Bench: a task of the step after next must wait for the
// readers of what it overwrites. Where the pattern is on the program's own memory, it is a number or a block of that.
//
// OpenMP knows a dependence by where it begins, so a range that is not written as one is named by the parts of it that
// are: the strip of a task and the two beside it.
#include <bench/overhead/own_memory.hpp>
#include <bench/overhead/program.hpp>

#include <omp.h>

#include <array>

namespace {

using namespace weir::bench::overhead;

// The pragmas name single elements: a dependence on a list of unknown length needs an iterator, which costs more.
template <class Column, class Task>
void create(const Task& task, [[maybe_unused]] const Column* old, [[maybe_unused]] Column* own,
            std::span<const std::uint32_t> before) {
  [[maybe_unused]] const std::uint32_t* b = before.data();
  switch (before.size()) {
    case 0:
#pragma omp task firstprivate(task) depend(out : own[0])
      task();
      break;
    case 1:
#pragma omp task firstprivate(task) depend(in : old[b[0]]) depend(out : own[0])
      task();
      break;
    case 2:
#pragma omp task firstprivate(task) depend(in : old[b[0]], old[b[1]]) depend(out : own[0])
      task();
      break;
    case 3:
#pragma omp task firstprivate(task) depend(in : old[b[0]], old[b[1]], old[b[2]]) depend(out : own[0])
      task();
      break;
    case 4:
#pragma omp task firstprivate(task) depend(in : old[b[0]], old[b[1]], old[b[2]], old[b[3]]) depend(out : own[0])
      task();
      break;
    case 5:
#pragma omp task firstprivate(task) depend(in : old[b[0]], old[b[1]], old[b[2]], old[b[3]], old[b[4]]) depend(out : own[0])
      task();
      break;
    default: {
      [[maybe_unused]] const std::size_t n = before.size();
#pragma omp task firstprivate(task) depend(iterator(std::size_t i = 0 : n), in : old[b[i]]) depend(out : own[0])
      task();
    }
  }
}

template <class Column, class Task>
void update(const Task& task, [[maybe_unused]] Column* own) {
#pragma omp task firstprivate(task) depend(inout : own[0])
  task();
}

// libgomp takes mutexinoutset for inout. GCC has inoutset since version 13.
template <class Column, class Task>
void update_one_at_a_time(const Task& task, [[maybe_unused]] Column* own) {
#pragma omp task firstprivate(task) depend(mutexinoutset : own[0])
  task();
}
#if defined(__clang__) || __GNUC__ >= 13
constexpr bool has_inoutset = true;
template <class Column, class Task>
void update_together(const Task& task, [[maybe_unused]] Column* own) {
#pragma omp task firstprivate(task) depend(inoutset : own[0])
  task();
}
#else
constexpr bool has_inoutset = false;
template <class Column, class Task>
void update_together(const Task&, Column*) {}
#endif

template <class Work>
std::uint64_t fib(unsigned n, const Work& work) {
  if constexpr (!Work::checks) work.of({})();
  if (n < 2) return n;
  std::uint64_t a = 0, b = 0;
#pragma omp task shared(a, work) firstprivate(n)
  a = fib(n - 1, work);
#pragma omp task shared(b, work) firstprivate(n)
  b = fib(n - 2, work);
#pragma omp taskwait
  return a + b;
}

class openmp_under_test final : public runtime_under_test {
 public:
  explicit openmp_under_test(const options& o) : workers_(o.workers) { omp_set_dynamic(0); }

  void prepare(const workload& w) override {
    if (w.what->by_address()) own_.prepare(w);
    else
      for (auto& row : rows_) row.assign(w.graph->width(), 0);
  }

  // A parallel region ends when all its tasks are done.
  void run(workload& w) override {
    w.with_work([&](const auto& work) {
#pragma omp parallel num_threads(workers_)
#pragma omp single
      switch (w.what->shape) {
        case form::independent: w.what->by_address() ? all_fresh(w, work) : independent(w, work); break;
        case form::fib: w.fib_result = fib(w.fib, work); break;
        case form::grid: all_steps(w, work); break;
      }
    });
  }

 private:
  template <class Work>
  static void independent(const workload& w, const Work& work) {
    w.for_each_independent([&](const position& p) {
      const auto task = work.of(p);
#pragma omp task firstprivate(task)
      task();
    });
  }

  template <class Work>
  void all_fresh(const workload& w, const Work& work) {
    w.for_each_independent([&](const position& p) { update(work.of(p), &own_.fresh()); });
  }

  template <class Work>
  void all_steps(const workload& w, const Work& work) {
    if (!w.what->by_address()) return steps(w, work, rows_[0].data(), rows_[1].data());
    with_column_values(w, [&](auto values) {
      using column = std::array<value, values()>;  // an address, and the type of what is named: nobody looks into it
      const auto row = [&](std::uint64_t step) { return own_.column<values()>(step, 0).data(); };
      steps(w, work, reinterpret_cast<column*>(row(0)), reinterpret_cast<column*>(row(1)));
    });
  }
  template <class Column, class Work>
  static void steps(const workload& w, const Work& work, Column* even, Column* odd) {
    if (w.what->has_groups()) return groups(w, work, even);
    w.graph->for_each_task(w.tasks, [&](const position& p) {
      if (w.what->in_place) update(work.of(p), even + p.column);
      else if ((p.step & 1) == 0) create(work.of(p), odd, even + p.column, p.before);
      else create(work.of(p), even, odd + p.column, p.before);
    });
  }

  template <class Column, class Work>
  static void groups(const workload& w, const Work& work, Column* values) {
    w.graph->for_each_task(w.tasks, [&](const position& p) {
      Column* const own = values + p.updated_column();
      if (!p.is_in_group()) update(work.of(p), own);
      else if (w.what->updates == group::commutative) update_one_at_a_time(work.of(p), own);
      else update_together(work.of(p), own);
    });
  }

  int workers_;
  std::vector<char> rows_[2];
  own_memory own_;
};

}  // namespace

#if defined(__clang__)
constexpr std::string_view runtime_name = "libomp";
#else
constexpr std::string_view runtime_name = "libgomp";
#endif

int main(int argc, char** argv) {
  return measure_main(argc, argv, {.runtime = runtime_name,
                                   .has = [](const pattern& p) {
                                     const bool has_it = has_inoutset || p.updates != group::concurrent;
                                     return !p.replay && !p.creators && has_it;
                                   },
                                   .has_policies = false,
                                   .start = [](const options& o) -> std::unique_ptr<runtime_under_test> { return std::make_unique<openmp_under_test>(o); }});
}
