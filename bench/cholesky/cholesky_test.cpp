// The tiles and the BLAS under them. That the runtime's factor is the sequential program's is tested for all kernels
// alike in tests/bench.
#include <bench/cholesky/result.hpp>
#include <bench/common/registry.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <thread>

namespace weir::bench::factorization {
namespace {

factor solve(std::size_t order, std::size_t tile) {
  configuration c;
  c.size = {order};
  c.block = {tile};
  return std::any_cast<factor>(solve_cholesky(c).value);
}

TEST(cholesky, residual_is_rounding) {
  for (const std::size_t order : {1u, 2u, 31u, 33u, 100u, 257u})
    for (const std::size_t tile : {order / 40 + 1, order / 3 + 1, order}) {
      EXPECT_LT(residual({order, tile, 1}, solve(order, tile)), 1e-15) << order << " in tiles of " << tile;
    }
}

TEST(cholesky, residual_finds_one_wrong_element) {
  const tiling t{50, 20, 1};
  factor l = solve(50, 20);
  l[t.index(2, 1)][3] += 1e-6;
  EXPECT_GT(residual(t, l), 1e-10);
}

TEST(cholesky, factor_of_a_known_matrix) {
  // A = L L^T with L = (2; 6 1; -8 5 3)
  std::vector<double> a{4, 12, -16, 0, 37, -43, 0, 0, 98};
  potrf(3, a.data());
  EXPECT_EQ(a, (std::vector<double>{2, 6, -8, 0, 1, 5, 0, 0, 3}));
}

TEST(cholesky, refuses_what_is_not_positive_definite) {
  std::vector<double> a{1, 2, 0, 1}, b{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(potrf(2, a.data()), std::domain_error);
  EXPECT_THROW(potrf(1, b.data()), std::domain_error);
}

// A BLAS that shares buffers between callers fails here.
TEST(cholesky, blas_may_be_called_from_many_threads) {
  constexpr int n = 96, rounds = 300, threads = 8;
  std::vector<double> a(n * n), b(n * n), expected(n * n, 0.0);
  for (std::size_t i = 0; i < a.size(); i++) a[i] = static_cast<double>(i * 7919 % 1000) / 1000, b[i] = static_cast<double>(i * 104729 % 1000) / 1000;
  gemm(n, n, n, a.data(), n, b.data(), n, expected.data(), n);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> team;
    for (int k = 0; k < threads; k++)
      team.emplace_back([&] {
        for (int round = 0; round < rounds; round++) {
          std::vector<double> c(n * n, 0.0);
          gemm(n, n, n, a.data(), n, b.data(), n, c.data(), n);
          wrong += c != expected;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(cholesky, blas_starts_no_threads) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "no /proc";
  const auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator()); };
  const auto before = threads();
  solve(200, 100);
  EXPECT_EQ(threads(), before);
}

}  // namespace
}  // namespace weir::bench::factorization
