// The task graph of rows: made from the pattern of L, run with the row kernels as its body.
#include <weir/solver/row_tasks.hpp>

#include <algorithm>
#include <exception>
#include <string>

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

row_tasks::row_tasks(const ilu& f, const std::string& coarsen) : dependences_(f), rows_(dependences_.begin, as_tasks(dependences_.rows)), block_(f.block()) {
  if (coarsen != "none") coarse_.emplace(aggregate(rows_, coarsen));
}

row_tasks::row_tasks(const ilu& f, const std::string& coarsen, runtime& rt) : dependences_(f), rows_(dependences_.begin, as_tasks(dependences_.rows)), block_(f.block()) {
  if (coarsen == "none") return;
  const array<double> b(f.order(), 1.0);
  array<double> x(f.order());
  const auto forward = [&](std::span<const graph::task_id> tasks) { f.forward_rows(b, x, as_rows(tasks)); };
  run_unwrapped([&] { coarse_.emplace(aggregate(rows_, coarsen, rt, forward)); });
}

move_report row_tasks::distribute(runtime& rt, ilu& f, matrix& a) {
  if (!coarse_) throw configuration_error("rows are distributed over nodes as aggregates: expected a coarse string, not \"none\"");
  const std::size_t numbers = static_cast<std::size_t>(a.block) * static_cast<std::size_t>(a.block);
  const move_report moved = coarse_->distribute(rt, [&](graph::task_id row, written_memory& memory) {
    const auto i = static_cast<std::size_t>(row), begin = static_cast<std::size_t>(a.row_begin[i]), size = static_cast<std::size_t>(a.row_begin[i + 1]) - begin;
    f.add_memory(static_cast<index>(row), memory);
    memory.add(std::span(a.values).subspan(begin * numbers, size * numbers));
    memory.add(std::span(a.columns).subspan(begin, size));
  });
  if (moved.pages > 0) find_homes(rt);  // none: the machine is pretended
  return moved;
}

// A page of a vector goes where most of its rows are.
void row_tasks::find_homes(runtime& rt) {
  constexpr std::size_t page_bytes = 4096;  // the smallest there are; where pages are larger, weir::move rounds
  const std::size_t rows_in_page = std::max<std::size_t>(1, page_bytes / sizeof(double) / static_cast<std::size_t>(block_)), nodes = static_cast<std::size_t>(rt.nodes());
  std::vector<std::size_t> rows_on((tasks() + rows_in_page - 1) / rows_in_page * nodes);
  for (std::size_t k = 0; k < coarse_->aggregates(); k++)
    for (const graph::task_id row : coarse_->members(k)) rows_on[row / rows_in_page * nodes + static_cast<std::size_t>(coarse_->node(k))]++;
  homes_.clear();
  for (std::size_t page = 0; page * nodes < rows_on.size(); page++) {
    const auto begin = rows_on.begin() + static_cast<std::ptrdiff_t>(page * nodes);
    const int node = static_cast<int>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(nodes)) - begin);
    if (homes_.empty() || homes_.back().node != node) homes_.push_back({0, node});
    homes_.back().end = std::min(tasks(), (page + 1) * rows_in_page);
  }
}

move_report row_tasks::place(std::span<double> vector) const {
  const auto numbers = static_cast<std::size_t>(block_);
  if (vector.size() != tasks() * numbers) throw usage_error("row_tasks::place(): a vector of " + std::to_string(vector.size()) + " numbers: expected " + std::to_string(tasks() * numbers));
  move_report all;
  std::size_t begin = 0;
  for (const home& h : homes_) {
    all += move(vector.subspan(begin * numbers, (h.end - begin) * numbers), h.node);
    begin = h.end;
  }
  return all;
}

void row_tasks::factor(runtime& rt, ilu& f, const matrix& a) {
  workspaces_.resize(std::max(workspaces_.size(), static_cast<std::size_t>(rt.workers())));
  const auto body = [&](std::span<const graph::task_id> tasks) {
    ilu::workspace& mine = workspaces_[static_cast<std::size_t>(this_task::worker())];
    if (!mine.made()) mine = ilu::workspace(f);  // by its worker, so that it lies on its node
    f.factor_rows(a, as_rows(tasks), mine);
  };
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
