// Krylov methods: each solves what it is for, says why where it does not, and gives the same bits each time.
#include <weir/solver/krylov.hpp>

#include <weir/solver/generators.hpp>

#include "test_support.hpp"

#include <limits>

#include <cmath>
#include <cstring>

namespace weir::solver {
namespace {

constexpr krylov_method all[] = {krylov_method::gmres, krylov_method::cg, krylov_method::bicgstab};

const preconditioner none = [](std::span<const double> in, std::span<double> out) { std::ranges::copy(in, out.begin()); };

double relative_residual(const matrix& a, std::span<const double> b, std::span<const double> x) {
  array<double> r(b.size());
  residual_rows(a, x, b, r, 0, a.rows);
  double top = 0, bottom = 0;
  for (std::size_t i = 0; i < r.size(); i++) top += r[i] * r[i], bottom += b[i] * b[i];
  return std::sqrt(top / bottom);
}

TEST(krylov, every_method_solves_the_laplacian) {
  std::mt19937_64 random(test_seed());
  const matrix a = cube(12);
  const array<double> b = random_vector(a.order(), random);
  for (const int workers : {1, 2, 4}) {
    runtime rt({.workers = workers});
    for (const krylov_method method : all)
      for (const int level : {-1, 0, 1}) {
        ilu f(a, {.level = std::max(level, 0)});
        f.factor(a);
        array<double> x(b.size(), 0.0);
        const krylov_options o{.method = method, .tolerance = 1e-9};
        const krylov_result r = level < 0 ? solve(rt, a, none, b, x, o) : solve(rt, a, f, b, x, o);
        EXPECT_TRUE(r.converged) << r.why;
        EXPECT_EQ(r.history.size(), static_cast<std::size_t>(r.iterations) + 1);
        EXPECT_DOUBLE_EQ(r.history.front(), 1);
        EXPECT_LE(r.residual, 1e-9);
        EXPECT_NEAR(relative_residual(a, b, x), r.residual, 1e-12);
      }
  }
}

TEST(krylov, unsymmetric_blocks) {
  std::mt19937_64 random(test_seed());
  runtime rt({.workers = 2});
  const matrix a = reservoir(channelled(6, 8, 7, 2));
  ilu f(a, {.level = 1});
  f.factor(a);
  const array<double> b = random_vector(a.order(), random);
  for (const krylov_method method : {krylov_method::gmres, krylov_method::bicgstab}) {
    array<double> x(b.size(), 0.0);
    const krylov_result r = solve(rt, a, f, b, x, {.method = method, .tolerance = 1e-8});
    EXPECT_TRUE(r.converged) << r.why;
    EXPECT_LE(relative_residual(a, b, x), 1.01e-8);
  }
}

TEST(krylov, gmres_takes_as_many_steps_as_there_are_eigenvalues) {
  runtime rt({.workers = 1});
  matrix a{60, 1, {0}, {}, {}};  // diagonal, four different values
  for (index i = 0; i < 60; i++) a.columns.push_back(i), a.values.push_back(1 + i % 4), a.row_begin.push_back(i + 1);
  array<double> b(60, 1.0), x(60, 0.0);
  EXPECT_EQ(solve(rt, a, none, b, x, {.tolerance = 1e-12}).iterations, 4);
  // Restarted before that, it needs more, and still comes there.
  std::ranges::fill(x, 0.0);
  const krylov_result r = solve(rt, a, none, b, x, {.tolerance = 1e-12, .restart = 2});
  EXPECT_TRUE(r.converged);
  EXPECT_GT(r.iterations, 4);
}

TEST(krylov, a_good_guess_and_a_zero_right_side_need_no_iteration) {
  runtime rt({.workers = 1});
  const matrix a = cube(3);
  for (const krylov_method method : all) {
    array<double> x(27, 1.0), b(27);
    multiply(a, x, b);
    EXPECT_EQ(solve(rt, a, none, b, x, {.method = method}).iterations, 0);
    const array<double> zero(27, 0.0);
    const krylov_result r = solve(rt, a, none, zero, x, {.method = method});
    EXPECT_TRUE(r.converged);
    EXPECT_EQ(r.iterations, 0);
    EXPECT_EQ(x, zero);
  }
}

TEST(krylov, says_why_it_stopped) {
  runtime rt({.workers = 1});
  const matrix a = cube(6);
  array<double> b(a.order(), 1.0), x(a.order(), 0.0);
  krylov_result r = solve(rt, a, none, b, x, {.most_iterations = 3});
  EXPECT_FALSE(r.converged);
  EXPECT_EQ(r.iterations, 3);
  EXPECT_STREQ(r.why, "the number of iterations is used up");

  matrix indefinite{2, 1, {0, 1, 2}, {0, 1}, {1, -1}};
  array<double> two(2, 1.0), y(2, 0.0);
  r = solve(rt, indefinite, none, two, y, {.method = krylov_method::cg});
  EXPECT_FALSE(r.converged);
  EXPECT_NE(std::strstr(r.why, "positive definite"), nullptr);

  const preconditioner broken = [](std::span<const double>, std::span<double> out) { std::ranges::fill(out, std::nan("")); };
  for (const krylov_method method : all) {
    std::ranges::fill(x, 0.0);
    EXPECT_FALSE(solve(rt, a, broken, b, x, {.method = method}).converged);
  }
}

TEST(krylov, a_singular_matrix_ends) {
  runtime rt({.workers = 1});
  const matrix a{2, 1, {0, 1, 1}, {0}, {1}};  // the second row is empty
  array<double> b{1, 1}, x{0, 0};
  for (const krylov_method method : all) {
    std::ranges::fill(x, 0.0);
    EXPECT_FALSE(solve(rt, a, none, b, x, {.method = method, .most_iterations = 50}).converged);
  }
}

TEST(krylov, the_same_workers_give_the_same_bits) {
  std::mt19937_64 random(test_seed());
  const matrix a = cube(20);
  ilu f(a, {});
  f.factor(a);
  const array<double> b = random_vector(a.order(), random);
  runtime rt({.workers = 3});
  for (const krylov_method method : all) {
    array<double> x(b.size(), 0.0), y(b.size(), 0.0);
    solve(rt, a, f, b, x, {.method = method});
    solve(rt, a, f, b, y, {.method = method});
    EXPECT_EQ(x, y);
  }
}

TEST(krylov, reports_progress) {
  runtime rt({.workers = 1});
  const matrix a = cube(5);
  array<double> b(a.order(), 1.0), x(a.order(), 0.0);
  int calls = 0;
  std::vector<double> reported;
  krylov_options o;
  o.progress = [&](int iteration, double residual) {
    EXPECT_EQ(iteration, calls++);
    reported.push_back(residual);
  };
  const krylov_result r = solve(rt, a, none, b, x, o);
  EXPECT_EQ(r.iterations + 1, calls);
  EXPECT_EQ(reported, r.history);
  EXPECT_DOUBLE_EQ(reported.front(), 1.0);  // of x = 0
  EXPECT_LE(reported.back(), o.tolerance);
}

TEST(krylov, every_vector_is_placed_before_it_is_written) {
  std::mt19937_64 random(test_seed());
  runtime rt({.workers = 2});
  const matrix a = cube(8);
  ilu f(a, {});
  f.factor(a);
  const array<double> b = random_vector(a.order(), random);
  for (const krylov_method method : all) {
    array<double> x(b.size(), 0.0), y(b.size(), 0.0);
    int placed = 0;
    const auto place = [&](std::span<double> v) {
      EXPECT_EQ(v.size(), b.size());
      std::ranges::fill(v, std::numeric_limits<double>::quiet_NaN());
      placed++;
    };
    const krylov_result with = solve(rt, a, f, b, x, {.method = method, .place = place}), without = solve(rt, a, f, b, y, {.method = method});
    EXPECT_EQ(x, y);
    EXPECT_EQ(with.history, without.history);
    EXPECT_GE(placed, 4);
  }
}

TEST(krylov, bad_options_are_refused) {
  runtime rt({.workers = 1});
  const matrix a = cube(2);
  array<double> b(8, 1.0), x(8, 0.0), less(7, 0.0);
  EXPECT_THROW(solve(rt, a, none, less, x, {}), usage_error);
  EXPECT_THROW(solve(rt, a, none, b, less, {}), usage_error);
  EXPECT_THROW(solve(rt, a, none, b, x, {.tolerance = 0}), usage_error);
  EXPECT_THROW(solve(rt, a, none, b, x, {.most_iterations = -1}), usage_error);
  EXPECT_THROW(solve(rt, a, none, b, x, {.restart = 0}), usage_error);
  EXPECT_THROW(parse_method("jacobi"), usage_error);
  EXPECT_EQ(parse_method("bicgstab"), krylov_method::bicgstab);
}

}  // namespace
}  // namespace weir::solver
