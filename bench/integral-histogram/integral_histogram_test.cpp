// What the counts mean. That the runtime's are the sequential program's is tested for all kernels alike in
// tests/bench.
#include <bench/blur-roberts/picture.hpp>
#include <bench/common/io/png.hpp>
#include <bench/integral-histogram/histogram.hpp>

#include <gtest/gtest.h>

#include <filesystem>

namespace weir::bench::integral_histogram {
namespace {

TEST(integral_histogram, bins_cover_all_brightness) {
  EXPECT_EQ(bin_of(0, 4), 0u);
  EXPECT_EQ(bin_of(0.24f, 4), 0u);
  EXPECT_EQ(bin_of(0.25f, 4), 1u);
  EXPECT_EQ(bin_of(0.99f, 4), 3u);
  EXPECT_EQ(bin_of(1, 4), 3u);
  EXPECT_EQ(bin_of(1, 1), 0u);
  EXPECT_EQ(bin_of(-1, 4), 0u);
}

// The histogram of a rectangle of the photograph, counted and by four look-ups.
TEST(integral_histogram, four_look_ups_are_the_histogram_of_a_rectangle) {
  configuration c;
  c.input = std::filesystem::path(WEIR_DATA_DIRECTORY) / "photo.png";
  c.bins = 7;
  c.iterations = 1;
  load_picture(c);
  const auto counts = std::any_cast<std::vector<count>>(solve_integral_histogram(c).value);
  const image photo = read_png(c.input);
  const std::size_t top = 100, bottom = 230, left = 50, right = 311;  // what is before it, and its last row and column
  for (std::size_t k = 0; k < c.bins; k++) {
    const auto at = [&](std::size_t r, std::size_t column) {
      return counts[(k * photo.height + r) * photo.width + column];
    };
    count counted = 0;
    for (std::size_t r = top + 1; r <= bottom; r++)
      for (std::size_t column = left + 1; column <= right; column++)
        counted += bin_of(static_cast<float>(photo.luminance[r * photo.width + column]), c.bins) == k;
    EXPECT_EQ(at(bottom, right) - at(top, right) - at(bottom, left) + at(top, left), counted) << "bin " << k;
  }
}

}  // namespace
}  // namespace weir::bench::integral_histogram
