// The task graph of rows: made from the pattern of L, run with the row kernels as its body.
#include <weir/solver/row_tasks.hpp>

#include <exception>

namespace weir::solver {
namespace {

std::span<const index> as_rows(std::span<const graph::task_id> tasks) {
  // The unsigned type of the same size: what C++ allows to be read as the other.
  return {reinterpret_cast<const index*>(tasks.data()), tasks.size()};
}

std::span<const graph::task_id> as_tasks(std::span<const index> rows) { return {reinterpret_cast<const graph::task_id*>(rows.data()), rows.size()}; }

// Whether the upper triangle is the transpose of the lower one: rows in order meet each lower row's entries in order.
bool is_symmetric(const ilu& f) {
  std::vector<index> next(f.lower_begin().begin(), f.lower_begin().end() - 1);
  std::size_t met = 0;
  for (index i = 0; i < f.rows(); i++)
    for (const index j : f.upper_columns(i)) {
      if (next[j] == f.lower_begin()[j + 1] || f.lower_columns()[next[j]] != i) return false;
      next[j]++;
      met++;
    }
  return met == f.lower_columns().size();
}

// The rows before each row in either triangle; an entry that is in both is there twice, which costs time only. `begin` becomes
// where each row's begin.
std::vector<index> both_triangles(const ilu& f, std::vector<std::size_t>& begin) {
  const auto n = static_cast<std::size_t>(f.rows());
  std::vector<std::size_t> size(n);
  for (std::size_t i = 0; i < n; i++) size[i] = begin[i + 1] - begin[i];
  for (index i = 0; i < f.rows(); i++)
    for (const index j : f.upper_columns(i)) size[j]++;
  for (std::size_t i = 0; i < n; i++) begin[i + 1] = begin[i] + size[i];
  std::vector<index> rows(begin[n]);
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (index i = 0; i < f.rows(); i++) {
    for (index p = f.lower_begin()[i]; p < f.lower_begin()[i + 1]; p++) rows[next[i]++] = f.lower_columns()[p];
    for (const index j : f.upper_columns(i)) rows[next[j]++] = i;
  }
  return rows;
}

// A task that failed is of no interest to who factors a matrix: the row is.
template <class Run>
void run_unwrapped(const Run& run) {
  try {
    run();
  } catch (const task_failed& e) {
    std::rethrow_exception(e.cause());
  }
}

}  // namespace

row_tasks::dependences::dependences(const ilu& f) : begin(f.lower_begin().begin(), f.lower_begin().end()), rows(f.lower_columns()) {
  if (is_symmetric(f)) return;
  more = both_triangles(f, begin);
  rows = more;
}

row_tasks::row_tasks(const ilu& f, const std::string& coarsen) : dependences_(f), rows_(dependences_.begin, as_tasks(dependences_.rows)) {
  if (coarsen != "none") coarse_.emplace(aggregate(rows_, coarsen));
}

row_tasks::row_tasks(const ilu& f, const std::string& coarsen, runtime& rt) : dependences_(f), rows_(dependences_.begin, as_tasks(dependences_.rows)) {
  if (coarsen == "none") return;
  const array<double> b(f.order(), 1.0);
  array<double> x(f.order());
  const auto forward = [&](std::span<const graph::task_id> tasks) { f.forward_rows(b, x, as_rows(tasks)); };
  run_unwrapped([&] { coarse_.emplace(aggregate(rows_, coarsen, rt, forward)); });
}

void row_tasks::factor(runtime& rt, ilu& f, const matrix& a) {
  while (workspaces_.size() < static_cast<std::size_t>(rt.workers())) workspaces_.emplace_back(f);
  const auto body = [&](std::span<const graph::task_id> tasks) { f.factor_rows(a, as_rows(tasks), workspaces_[static_cast<std::size_t>(this_task::worker())]); };
  f.begin_factor(workspaces_);
  run_unwrapped([&] { coarse_ ? coarse_->run(rt, body) : rows_.run(rt, body); });
  f.end_factor(workspaces_);
}

void row_tasks::solve(runtime& rt, const ilu& f, std::span<const double> b, std::span<double> x) {
  const auto forward = [&](std::span<const graph::task_id> tasks) { f.forward_rows(b, x, as_rows(tasks)); };
  const auto backward = [&](std::span<const graph::task_id> tasks) { f.backward_rows(x, as_rows(tasks)); };
  run_unwrapped([&] {
    coarse_ ? coarse_->run(rt, forward) : rows_.run(rt, forward);
    coarse_ ? coarse_->run_transposed(rt, backward) : rows_.run_transposed(rt, backward);
  });
}

}  // namespace weir::solver
