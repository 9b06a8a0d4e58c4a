// Rows as OpenMP tasks, and level by level.
#include "row_runner.hpp"

#include <omp.h>

#include <vector>

namespace weir::bench {
namespace {

class openmp_tasks : public row_runner {
 public:
  openmp_tasks(const row_graph& g, int workers) : graph_(g), workers_(workers), done_(g.forward.tasks()) {}

  void run(const row_body& body, bool backwards) override {
    const row_lists& l = backwards ? graph_.backward : graph_.forward;
#pragma omp parallel num_threads(workers_)
#pragma omp single
    for (const std::uint32_t t : l.by_level) create(l, t, body);
  }

 private:
  // The address of a task's place in `done` stands for it.
  void create(const row_lists& l, std::uint32_t t, const row_body& body) {
    char* const done = done_.data();
    const std::uint32_t* const before = l.before_of(t).data();
    const auto count = static_cast<int>(l.before_of(t).size());
    const std::span<const index> rows = l.rows_of(t);
    const row_body* const work = &body;
    (void)done, (void)before, (void)count;  // the pragma is all that reads them
#pragma omp task firstprivate(rows, work) depend(iterator(int k = 0 : count), in : done[before[k]]) depend(out : done[t])
    (*work)(rows, omp_get_thread_num());
  }

  const row_graph& graph_;
  const int workers_;
  std::vector<char> done_;
};

class levels : public row_runner {
 public:
  levels(const row_graph& g, int workers) : graph_(g), workers_(workers) {}

  void run(const row_body& body, bool backwards) override {
    const row_lists& l = backwards ? graph_.backward : graph_.forward;
#pragma omp parallel num_threads(workers_)
    for (std::size_t level = 0; level + 1 < l.level_begin.size(); level++) {
#pragma omp for schedule(static)
      for (std::size_t at = l.level_begin[level]; at < l.level_begin[level + 1]; at++) body(l.rows_of(l.by_level[at]), omp_get_thread_num());
    }
  }

 private:
  const row_graph& graph_;
  const int workers_;
};

}  // namespace

std::unique_ptr<row_runner> make_openmp_tasks(const row_graph& g, int workers) { return std::make_unique<openmp_tasks>(g, workers); }
std::unique_ptr<row_runner> make_levels(const row_graph& g, int workers) { return std::make_unique<levels>(g, workers); }

}  // namespace weir::bench
