// The tiles' operations. That the runtime's inverse is the sequential program's is tested for all kernels alike in
// tests/bench.
#include <bench/symmetric-inverse/matrix.hpp>
#include <bench/symmetric-inverse/tile.hpp>

#include <gtest/gtest.h>

namespace weir::bench::inversion {
namespace {

matrix invert(std::size_t order, std::size_t tile) {
  configuration c;
  c.size = {order};
  c.block = {tile};
  matrix a(c);
  for (std::size_t part = 0; part < a.parts(); part++) a.fill(part);
  for (int step = 0; step < a.steps(); step++) a.for_each_operation(step, [&](const operation& o) { a.execute(o); });
  return a;
}

TEST(symmetric_inverse, residual_is_rounding) {
  for (const std::size_t order : {1u, 2u, 31u, 33u, 100u, 257u})
    for (const std::size_t tile : {order / 40 + 1, order / 3 + 1, order})
      EXPECT_LT(invert(order, tile).residual(), 1e-15) << order << " in tiles of " << tile;
}

TEST(symmetric_inverse, residual_finds_one_wrong_element) {
  const matrix a = invert(50, 20);
  a.tile({2, 1})[3] += 1e-6;
  EXPECT_GT(a.residual(), 1e-10);
}

TEST(symmetric_inverse, inverse_of_a_known_triangle) {
  // (2; 6 1; -8 5 3)
  std::vector<double> l{2, 6, -8, 0, 1, 5, 0, 0, 3};
  trtri(3, l.data());
  const std::vector<double> inverse{0.5, -3, 19 / 3.0, 0, 1, -5 / 3.0, 0, 0, 1 / 3.0};
  for (std::size_t i = 0; i < l.size(); i++) EXPECT_NEAR(l[i], inverse[i], 1e-15) << i;
}

TEST(symmetric_inverse, square_of_a_known_triangle) {
  std::vector<double> l{2, 6, -8, 0, 1, 5, 0, 0, 3};
  lauum(3, l.data());
  EXPECT_EQ(l, (std::vector<double>{104, -34, -24, 0, 26, 15, 0, 0, 9}));
}

TEST(symmetric_inverse, parts_are_the_tiles_of_the_triangle) {
  const matrix a = invert(5, 2);
  ASSERT_EQ(a.parts(), 6u);
  std::size_t part = 0;
  for (std::size_t row = 0; row < 3; row++)
    for (std::size_t column = 0; column <= row; column++, part++) {
      EXPECT_EQ(a.place_of(part).row, row);
      EXPECT_EQ(a.place_of(part).column, column);
    }
}

}  // namespace
}  // namespace weir::bench::inversion
