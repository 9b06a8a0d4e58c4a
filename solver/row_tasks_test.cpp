// Rows as tasks: the same bits as one row after the other, whatever the order, the aggregation and the number of workers.
#include <weir/solver/row_tasks.hpp>

#include <weir/solver/generators.hpp>
#include <weir/solver/krylov.hpp>
#include <weir/solver/ordering.hpp>

#include "test_support.hpp"

namespace weir::solver {
namespace {

const char* const coarsenings[] = {"none", "S", "C", "CD(4)", "D(30)", "F(3)", "SD(10)F(4)"};

void expect_the_same(runtime& rt, const matrix& a, int level, const std::string& coarsen, std::span<const double> b) {
  ilu f(a, {.level = level}), g(a, {.level = level});
  row_tasks tasks(g, coarsen);
  EXPECT_EQ(tasks.tasks(), static_cast<std::size_t>(a.rows));
  EXPECT_GE(tasks.edges(), g.lower_columns().size());
  EXPECT_LE(tasks.aggregated_tasks(), tasks.tasks());
  f.factor(a);
  array<double> x(b.size()), y(b.size());
  f.solve(b, x);
  for (int again = 0; again < 3; again++) {
    tasks.factor(rt, g, a);
    std::ranges::fill(y, 0.0);
    tasks.solve(rt, g, b, y);
    ASSERT_EQ(x, y) << coarsen << ", level " << level;
  }
}

TEST(row_tasks, give_the_same_bits) {
  std::mt19937_64 random(test_seed());
  for (const int workers : {1, 2, 4}) {
    runtime rt({.workers = workers});
    for (const char* coarsen : coarsenings)
      for (const int level : {0, 1, 2}) {
        const matrix a = random_matrix(400, 1 + level, 4, random);
        expect_the_same(rt, a, level, coarsen, random_vector(a.order(), random));
      }
  }
}

TEST(row_tasks, on_grids_in_every_order) {
  std::mt19937_64 random(test_seed());
  runtime rt({.workers = 3});
  const matrix grids[] = {cube(9), reservoir(channelled(7, 6, 5, 1))};
  for (const matrix& grid : grids)
    for (const ordering how : {ordering::natural, ordering::rcm, ordering::nested_dissection}) {
      const matrix a = permute(grid, order_rows(grid, how));
      for (const char* coarsen : coarsenings) expect_the_same(rt, a, 1, coarsen, random_vector(a.order(), random));
    }
}

TEST(row_tasks, under_several_runtimes_one_after_the_other) {
  const matrix a = cube(8);
  ilu f(a, {.level = 1});
  row_tasks tasks(f, "CD(4)");
  EXPECT_EQ(tasks.edges(), f.lower_columns().size());  // the pattern is symmetric
  const array<double> b(a.order(), 1.0);
  array<double> x(b.size()), y(b.size());
  f.factor(a);
  f.solve(b, x);
  for (const int workers : {1, 4, 2}) {
    runtime rt({.workers = workers});
    tasks.factor(rt, f, a);
    tasks.solve(rt, f, b, y);
    EXPECT_EQ(x, y);
  }
}

TEST(row_tasks, distributed_over_the_nodes) {
  std::mt19937_64 random(test_seed());
  runtime rt({.workers = 4, .policy = "node-queues"});
  matrix grids[] = {cube(20), reservoir(channelled(9, 8, 7, 1))};
  for (matrix& a : grids) {
    ilu f(a, {.level = 1}), g(a, {.level = 1});
    row_tasks tasks(g, "D(30)");
    const array<double> b = random_vector(a.order(), random);
    array<double> x(b.size()), y(b.size());
    EXPECT_EQ(tasks.place(y).pages, 0u);
    const move_report moved = tasks.distribute(rt, g, a);
    const std::size_t bytes = g.bytes() + a.values.size() * sizeof(double) + a.columns.size() * sizeof(index);
    EXPECT_GE(moved.pages, bytes / 4096 - 10) << moved.to_string();  // each array's last page may be shared
    EXPECT_EQ(moved.moved + moved.there + moved.promised + moved.refused, moved.pages) << moved.to_string();
    const move_report placed = tasks.place(y);
    EXPECT_NEAR(static_cast<double>(placed.pages), static_cast<double>(y.size() * sizeof(double)) / 4096, 2) << placed.to_string();
    f.factor(a);
    f.solve(b, x);
    tasks.factor(rt, g, a);
    tasks.solve(rt, g, b, y);
    EXPECT_EQ(x, y);
    EXPECT_THROW(tasks.place(std::span(y).first(y.size() - 1)), usage_error);
  }
}

TEST(row_tasks, single_rows_are_not_distributed) {
  runtime rt({.workers = 1});
  matrix a = cube(4);
  ilu f(a, {});
  row_tasks tasks(f, "none");
  EXPECT_THROW(tasks.distribute(rt, f, a), configuration_error);
}

TEST(row_tasks, nothing_moves_on_a_pretended_machine) {
  runtime rt({.workers = 4, .policy = "node-queues", .machine = "nodes:4 cpus:1"});
  matrix a = cube(12);
  ilu f(a, {});
  row_tasks tasks(f, "CD(4)");
  EXPECT_EQ(tasks.distribute(rt, f, a).pages, 0u);
  array<double> b(a.order(), 1.0), x(a.order()), y(a.order());
  EXPECT_EQ(tasks.place(x).pages, 0u);
  tasks.factor(rt, f, a);
  tasks.solve(rt, f, b, x);
  f.factor(a);
  f.solve(b, y);
  EXPECT_EQ(x, y);
}

// From one row, and rows that are not worth a task, to some that are.
TEST(row_tasks, auto_chooses) {
  std::mt19937_64 random(test_seed());
  runtime rt({.workers = 2});
  const matrix grids[] = {cube(1), cube(2), cube(14), reservoir(channelled(7, 6, 5, 1)), cube(30)};
  for (const matrix& a : grids) {
    ilu f(a, {.level = 1});
    f.factor(a);
    row_tasks tasks(f, a, "auto", rt);
    EXPECT_NE(tasks.coarsening(), "none");
    EXPECT_GE(tasks.aggregated_tasks(), 1u);
    const array<double> b = random_vector(a.order(), random);
    array<double> x(b.size()), y(b.size());
    f.solve(b, x);
    tasks.factor(rt, f, a);
    tasks.solve(rt, f, b, y);
    EXPECT_EQ(x, y) << tasks.coarsening();
  }
}

// A row has one home: what was chosen for the solves then holds for the factorisation, too, and runs as tasks.
TEST(row_tasks, what_was_chosen_is_distributed) {
  runtime rt({.workers = 4, .policy = "node-queues", .machine = "nodes:2 cpus:2"});
  for (const index side : {2, 24}) {
    matrix a = cube(side);
    ilu f(a, {});
    f.factor(a);
    row_tasks tasks(f, a, "auto", rt);
    tasks.distribute(rt, f, a);
    EXPECT_NO_THROW(row_tasks(f, tasks.coarsening())) << tasks.coarsening();
    const array<double> b(a.order(), 1.0);
    array<double> x(a.order()), y(a.order());
    f.solve(b, x);
    tasks.factor(rt, f, a);
    tasks.solve(rt, f, b, y);
    EXPECT_EQ(x, y) << tasks.coarsening();
  }
}

TEST(row_tasks, a_zero_pivot_is_the_error) {
  matrix a = cube(5);
  for (index p = a.row_begin[0]; p < a.row_begin[1]; p++)
    if (a.columns[p] == 0) a.values[p] = 0;
  runtime rt({.workers = 2});
  ilu f(a, {});
  row_tasks tasks(f, "D(10)");
  try {
    tasks.factor(rt, f, a);
    ADD_FAILURE();
  } catch (const zero_pivot_error& e) {
    EXPECT_EQ(e.row(), 0);
  }
  ilu shifted(a, {.shift = 0.1});
  row_tasks shifted_tasks(shifted, "D(10)");
  shifted_tasks.factor(rt, shifted, a);
  EXPECT_EQ(shifted.shifted(), 1);
}

TEST(row_tasks, precondition_a_krylov_method) {
  runtime rt({.workers = 2});
  const matrix a = cube(12);
  ilu f(a, {.level = 1});
  row_tasks tasks(f, "CD(4)");
  tasks.factor(rt, f, a);
  const array<double> b(a.order(), 1.0);
  array<double> x(b.size(), 0.0), y(b.size(), 0.0);
  const krylov_result sequential = solve(rt, a, f, b, x, {});
  const krylov_result parallel = solve(rt, a, [&](std::span<const double> in, std::span<double> out) { tasks.solve(rt, f, in, out); }, b, y, {});
  EXPECT_TRUE(parallel.converged);
  EXPECT_EQ(sequential.iterations, parallel.iterations);
  EXPECT_EQ(x, y);
}

TEST(row_tasks, bad_coarse_strings_are_refused) {
  const matrix a = cube(3);
  const ilu f(a, {});
  for (const char* bad : {"", "Q", "D", "D(0)", "CD(4", "none4"}) EXPECT_THROW(row_tasks(f, bad), configuration_error) << bad;
}

}  // namespace
}  // namespace weir::solver
