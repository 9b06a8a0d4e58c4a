// The sequential programs against the formulas, written down once more in the plainest way, on random problems.
#include <bench/blur-roberts/picture.hpp>
#include <bench/common/kernel.hpp>
#include <bench/common/stencil/padded_array.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace weir::bench {
namespace {

using array = std::vector<double>;

struct problem {
  configuration c;
  std::size_t planes, rows, columns;

  std::size_t index(std::size_t p, std::size_t r, std::size_t x) const { return (p * rows + r) * columns + x; }
};

problem random_problem(std::mt19937& random, int dimensions) {
  const auto number = [&](int most) { return std::uniform_int_distribution<std::size_t>(1, static_cast<std::size_t>(most))(random); };
  problem p{{}, 1, 1, number(40)};
  p.c.size = {p.columns};
  if (dimensions > 1) p.rows = number(20), p.c.size.insert(p.c.size.begin(), p.rows);
  if (dimensions > 2) p.planes = number(9), p.c.size.insert(p.c.size.begin(), p.planes);
  p.c.iterations = static_cast<int>(number(4));
  p.c.seed = number(1000);
  return p;
}

// Average of an element and its neighbours; `old` and `now` are one array for Gauss-Seidel.
double average(const problem& p, int dimensions, const array& old, std::size_t plane, std::size_t row, std::size_t column) {
  double sum = 0;
  const auto add = [&](std::ptrdiff_t dp, std::ptrdiff_t dr, std::ptrdiff_t dc) {
    const std::size_t a = plane + static_cast<std::size_t>(dp), b = row + static_cast<std::size_t>(dr), c = column + static_cast<std::size_t>(dc);  // -1 wraps around
    sum += a < p.planes && b < p.rows && c < p.columns ? old[p.index(a, b, c)] : stencil::boundary_value;
  };
  add(0, 0, 0), add(0, 0, -1), add(0, 0, 1);
  if (dimensions > 1) add(0, -1, 0), add(0, 1, 0);
  if (dimensions > 2) add(-1, 0, 0), add(1, 0, 0);
  return sum / (1 + 2 * dimensions);
}

array plain_stencil(const problem& p, int dimensions, bool in_place) {
  array now(p.planes * p.rows * p.columns);
  for (std::size_t i = 0; i < now.size(); i++) now[i] = stencil::initial_value(p.c.seed, i);
  for (int t = 0; t < p.c.iterations; t++) {
    const array copy = now;
    for (std::size_t a = 0; a < p.planes; a++)
      for (std::size_t b = 0; b < p.rows; b++)
        for (std::size_t c = 0; c < p.columns; c++) now[p.index(a, b, c)] = average(p, dimensions, in_place ? now : copy, a, b, c);
  }
  return now;
}

void expect_near(const array& result, const array& expected) {
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < result.size(); i++) ASSERT_NEAR(result[i], expected[i], 1e-13) << "element " << i;
}

TEST(SequentialPrograms, ComputeTheAverages) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 60; n++)
    for (int dimensions : {1, 2, 3})
      for (bool in_place : {false, true}) {
        const problem p = random_problem(random, dimensions);
        const std::string name = (in_place ? "seidel-" : "jacobi-") + std::to_string(dimensions) + "d";
        SCOPED_TRACE(name + " " + format_size(p.c.size) + ", " + std::to_string(p.c.iterations) + " iterations, seed " + std::to_string(p.c.seed));
        expect_near(std::any_cast<array>(find_kernel(name).solve(p.c).value), plain_stencil(p, dimensions, in_place));
      }
}

array plain_edges(const problem& p) {
  array picture(p.rows * p.columns);
  paint(p.c, 0, p.rows, picture);
  const auto pixel = [&](const array& x, std::ptrdiff_t r, std::ptrdiff_t c) {
    const auto row = std::clamp<std::ptrdiff_t>(r, 0, static_cast<std::ptrdiff_t>(p.rows) - 1), column = std::clamp<std::ptrdiff_t>(c, 0, static_cast<std::ptrdiff_t>(p.columns) - 1);
    return x[p.index(0, static_cast<std::size_t>(row), static_cast<std::size_t>(column))];
  };
  array blurred(picture.size()), edges(picture.size());
  const auto each = [&](array& to, const auto& value) {
    for (std::size_t i = 0; i < to.size(); i++) to[i] = value(static_cast<std::ptrdiff_t>(i / p.columns), static_cast<std::ptrdiff_t>(i % p.columns));
  };
  each(blurred, [&](auto r, auto c) {
    double sum = 0;
    for (std::ptrdiff_t dr = -1; dr <= 1; dr++)
      for (std::ptrdiff_t dc = -1; dc <= 1; dc++) sum += pixel(picture, r + dr, c + dc) * (dr == 0 ? 2 : 1) * (dc == 0 ? 2 : 1);
    return sum / 16;
  });
  each(edges, [&](auto r, auto c) { return std::hypot(pixel(blurred, r, c) - pixel(blurred, r + 1, c + 1), pixel(blurred, r, c + 1) - pixel(blurred, r + 1, c)); });
  return edges;
}

TEST(SequentialPrograms, FindEdges) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int n = 0; n < 100; n++) {
    const problem p = random_problem(random, 2);
    SCOPED_TRACE("size " + format_size(p.c.size));
    expect_near(std::any_cast<array>(find_kernel("blur-roberts").solve(p.c).value), plain_edges(p));
  }
}

}  // namespace
}  // namespace weir::bench
