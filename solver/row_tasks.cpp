// The task graph of rows: made from the pattern of L, run with the row kernels as its body.
#include <weir/detail/trial.hpp>
#include <weir/solver/row_tasks.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <string>

namespace weir::solver {
namespace {

using weir::detail::seconds_of;
using weir::detail::usual;

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

// What is distributed page by page.
struct memory_in_small_pages {
  memory_in_small_pages(ilu& f, matrix& a) : factors(f), values(a.values), columns(a.columns) {}
  ilu::in_small_pages factors;
  in_small_pages<double> values;
  in_small_pages<index> columns;
};

// A task that failed is of no interest to who factors a matrix: the row is.
template <class Run>
void run_unwrapped(const Run& run) {
  try {
    run();
  } catch (const task_failed& e) {
    std::rethrow_exception(e.cause());
  }
}

// Whether the first is worth other workers' time: as it usually is, or undisturbed, because what needs all CPUs and the whole
// bandwidth is disturbed more than what needs one. Here workers are awake; where it is used they may have to be woken, which
// must be gained as well. In turns who is first: after a sequential program other workers' caches are cold.
bool is_faster(const auto& in_parallel, const auto& in_sequence) {
  constexpr double clear = 0.8, short_seconds = 5e-3, enough_seconds = 0.1, waking_seconds = 1e-4;
  constexpr int least_rounds = 5, most_rounds = 200;
  std::vector<double> parallel, sequential;
  double all = 0;
  const auto measure = [&](const auto& what, std::vector<double>& times) {
    times.push_back(seconds_of(what));
    all += times.back();
  };
  for (int round = 0; round < most_rounds; round++) {
    if (round % 2 == 0) measure(in_parallel, parallel);
    measure(in_sequence, sequential);
    if (round % 2 == 1) measure(in_parallel, parallel);
    if (all > short_seconds && usual(parallel) + waking_seconds < clear * usual(sequential)) return true;
    if (all > enough_seconds && round + 1 >= least_rounds) break;
  }
  return usual(parallel) + waking_seconds < usual(sequential) ||
         std::ranges::min(parallel) + waking_seconds < std::ranges::min(sequential);
}

// Which of so many ways, `run(i)`, is usually fastest: rounds until all were seen so often or so long that one lucky
// time decides nothing, and two more of those that came near.
std::size_t fastest_of(std::size_t count, const auto& run) {
  constexpr int enough_rounds = 5, rounds_of_near = 2;
  constexpr double enough_seconds = 0.5, near = 1.15, hopeless = 1.5;
  weir::detail::trial trial(count);
  double all = 0;
  for (int round = 1, last = enough_rounds + rounds_of_near; round <= last && trial.left() > 1; round++) {
    all += trial.round(run);
    const bool enough = round >= enough_rounds || all >= enough_seconds;
    if (enough) last = std::min(last, round + rounds_of_near);
    trial.drop_slower(enough ? near : hopeless, [](std::size_t) { return false; });
  }
  return trial.fastest();
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

row_tasks::row_tasks(ilu& f, const matrix& a, const std::string& coarsen, runtime& rt) : dependences_(f), rows_(dependences_.begin, as_tasks(dependences_.rows)), block_(f.block()) {
  if (coarsen == "auto") choose(f, a, rt);
  else if (coarsen != "none") coarse_.emplace(aggregate(rows_, coarsen));
}

// What comes near the fastest in forward solves may be better in both solves, or in a factorisation, whose rows cost several
// times as much and wait less for memory. Everything in one aggregate is what the sequential program does, too.
void row_tasks::choose(ilu& f, const matrix& a, runtime& rt) {
  const array<double> b(f.order(), 1.0);
  array<double> x(f.order());
  constexpr std::size_t most = 10;
  workspaces_.resize(static_cast<std::size_t>(rt.workers()));
  std::vector<coarse_graph> found = aggregate_candidates(rows_, rt, [&](std::span<const graph::task_id> tasks) { f.forward_rows(b, x, as_rows(tasks)); }, most);
  const auto in_one = std::ranges::stable_partition(found, [](const coarse_graph& c) { return c.aggregates() > 1; });
  if (in_one.begin() != found.begin()) found.erase(in_one.begin(), in_one.end());
  const std::size_t for_solves = fastest_of(found.size(), [&](std::size_t i) { solve_with(&found[i], rt, f, b, x); });
  solve_alone_ = !is_faster([&] { solve_with(&found[for_solves], rt, f, b, x); }, [&] { f.solve(b, x); });
  if (solve_alone_) {
    run_unwrapped([&] { coarse_factor_.emplace(aggregate(rows_, "auto", rt, [&](std::span<const graph::task_id> tasks) { f.factor_rows(a, as_rows(tasks), my_workspace(f)); })); });
  } else {
    const std::size_t for_factor = fastest_of(found.size(), [&](std::size_t i) { factor_with(&found[i], rt, f, a); });
    if (for_factor != for_solves) coarse_factor_.emplace(std::move(found[for_factor]));
  }
  coarse_.emplace(std::move(found[for_solves]));
  factor_alone_ = !is_faster([&] { factor_as_tasks(rt, f, a); }, [&] { f.factor(a); });
}

std::string row_tasks::coarsening() const {
  if (!coarse_) return "none";
  if (factor_alone_ && solve_alone_) return "sequential";
  const std::string factor = factor_alone_ ? "sequential" : graph_of_factor()->algorithms();
  if (!factor_alone_ && !solve_alone_ && !coarse_factor_) return factor;
  return factor + ", solves " + (solve_alone_ ? "sequential" : coarse_->algorithms());
}

std::size_t row_tasks::aggregated_tasks() const noexcept {
  if (factor_alone_) return 1;
  return coarse_ ? graph_of_factor()->aggregates() : tasks();
}

move_report row_tasks::distribute(runtime& rt, ilu& f, matrix& a) {
  if (!coarse_) throw configuration_error("rows are distributed over nodes as aggregates: expected a coarse string, not \"none\"");
  coarse_factor_.reset();  // a row has one home
  factor_alone_ = solve_alone_ = false;
  const std::size_t numbers = static_cast<std::size_t>(a.block) * static_cast<std::size_t>(a.block);
  std::optional<memory_in_small_pages> small;
  if (rt.nodes() > 1) small.emplace(f, a);
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

// A worker makes its own, so that it lies on its node. Outside tasks, where nothing runs beside it, the first one's will do.
ilu::workspace& row_tasks::my_workspace(const ilu& f) {
  ilu::workspace& mine = workspaces_[static_cast<std::size_t>(std::max(0, this_task::worker()))];
  if (!mine.made()) mine = ilu::workspace(f);
  return mine;
}

void row_tasks::factor_as_tasks(runtime& rt, ilu& f, const matrix& a) { factor_with(coarse_ ? graph_of_factor() : nullptr, rt, f, a); }

// Without a coarse graph a task a row.
void row_tasks::factor_with(coarse_graph* coarse, runtime& rt, ilu& f, const matrix& a) {
  workspaces_.resize(std::max(workspaces_.size(), static_cast<std::size_t>(rt.workers())));
  const auto body = [&](std::span<const graph::task_id> tasks) { f.factor_rows(a, as_rows(tasks), my_workspace(f)); };
  f.begin_factor(workspaces_);
  run_unwrapped([&] { coarse != nullptr ? coarse->run(rt, body) : rows_.run(rt, body); });
  f.end_factor(workspaces_);
}

void row_tasks::solve_with(coarse_graph* coarse, runtime& rt, const ilu& f, std::span<const double> b, std::span<double> x) {
  const auto forward = [&](std::span<const graph::task_id> tasks) { f.forward_rows(b, x, as_rows(tasks)); };
  const auto backward = [&](std::span<const graph::task_id> tasks) { f.backward_rows(x, as_rows(tasks)); };
  run_unwrapped([&] {
    coarse != nullptr ? coarse->run(rt, forward) : rows_.run(rt, forward);
    coarse != nullptr ? coarse->run_transposed(rt, backward) : rows_.run_transposed(rt, backward);
  });
}

void row_tasks::factor(runtime& rt, ilu& f, const matrix& a) { factor_alone_ ? f.factor(a) : factor_as_tasks(rt, f, a); }

void row_tasks::solve(runtime& rt, const ilu& f, std::span<const double> b, std::span<double> x) { solve_alone_ ? f.solve(b, x) : solve_with(coarse_ ? &*coarse_ : nullptr, rt, f, b, x); }

}  // namespace weir::solver
