// The method itself. That the runtime's solution is the sequential program's is tested for all kernels alike in
// tests/bench.
#include <bench/conjugate-gradient/system.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace weir::bench::conjugate_gradient {
namespace {

configuration problem(std::vector<std::size_t> size, std::size_t block) {
  configuration c;
  c.size = std::move(size);
  c.block = {block, c.size[1]};
  return c;
}

void iterate(const linear_system& s, int iterations) {
  for (std::size_t b = 0; b < s.parts(); b++) s.fill(b);
  s.begin();
  for (int t = 0; t < iterations; t++) {
    for (std::size_t b = 0; b < s.parts(); b++) s.multiply(b);
    s.step_length();
    for (std::size_t b = 0; b < s.parts(); b++) s.advance(b);
    s.step_direction();
    for (std::size_t b = 0; b < s.parts(); b++) s.turn(b);
  }
}

// In exact arithmetic after as many iterations as there are points; it is there sooner.
TEST(conjugate_gradient, reaches_the_solution) {
  for (const auto& size : {std::vector<std::size_t>{1, 1}, {1, 9}, {9, 1}, {8, 8}, {23, 17}})
    for (const std::size_t block : {std::size_t{1}, (size[0] + 2) / 3, size[0]}) {
      const linear_system s(problem(size, block));
      iterate(s, static_cast<int>(size[0] * size[1]) + 2);
      EXPECT_LT(s.residual(), 1e-12) << size[0] << "x" << size[1] << " in blocks of " << block;
      for (const double x : s.solution()) EXPECT_TRUE(std::isfinite(x));
    }
}

TEST(conjugate_gradient, first_guess_is_zero) {
  const linear_system s(problem({8, 8}, 3));
  iterate(s, 0);
  EXPECT_DOUBLE_EQ(s.residual(), 1);
}

TEST(conjugate_gradient, residual_finds_one_wrong_element) {
  const linear_system s(problem({8, 8}, 3));
  iterate(s, 70);
  s.x(1)[2] += 1e-6;
  EXPECT_GT(s.residual(), 1e-8);
}

TEST(conjugate_gradient, rows_of_the_matrix) {
  const linear_system s(problem({3, 2}, 1));
  for (std::size_t b = 0; b < s.parts(); b++) s.fill(b);
  EXPECT_TRUE(std::ranges::equal(s.starts(1), std::vector{0, 4, 8}));
  EXPECT_TRUE(std::ranges::equal(s.columns(1), std::vector{0, 2, 3, 4, 1, 2, 3, 5}));
  EXPECT_TRUE(std::ranges::equal(s.values(1), std::vector<double>{-1, 4, -1, -1, -1, -1, 4, -1}));
  EXPECT_TRUE(std::ranges::equal(s.starts(0), std::vector{0, 3, 6}));
}

}  // namespace
}  // namespace weir::bench::conjugate_gradient
