// integral-histogram, sequentially: bin by bin in one pass over the image, each row on top of the one above.
#include <bench/blur-roberts/picture.hpp>
#include <bench/common/stopwatch.hpp>
#include <bench/integral-histogram/histogram.hpp>

namespace weir::bench {
namespace {

using integral_histogram::count;

void add_up(const std::vector<std::uint32_t>& bin_of_pixel, std::size_t rows, std::size_t columns, std::size_t bin,
            count* counts) {
  for (std::size_t r = 0; r < rows; r++) {
    count sum = 0;
    count* const row = counts + r * columns;
    const count* const above = r == 0 ? nullptr : row - columns;
    for (std::size_t c = 0; c < columns; c++) {
      sum += bin_of_pixel[r * columns + c] == bin;
      row[c] = sum + (above == nullptr ? 0 : above[c]);
    }
  }
}

}  // namespace

serial_result solve_integral_histogram(const configuration& c) {
  const std::size_t rows = c.size[0], columns = c.size[1], pixels = rows * columns;
  std::vector<double> picture(pixels);
  paint(c, 0, rows, picture);
  std::vector<std::uint32_t> bins(pixels);
  std::vector<count> counts(c.bins * pixels);
  const stopwatch watch;
  for (int t = 0; t < c.iterations; t++) {
    for (std::size_t i = 0; i < pixels; i++)
      bins[i] = integral_histogram::bin_of(static_cast<float>(picture[i]), c.bins);
    for (std::size_t k = 0; k < c.bins; k++) add_up(bins, rows, columns, k, counts.data() + k * pixels);
  }
  const double seconds = watch.seconds();
  return {std::move(counts), seconds};
}

}  // namespace weir::bench
