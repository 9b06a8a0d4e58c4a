// blur-roberts on one block: a Gaussian blur over the Moore neighbourhood (weights 1 2 1, 2 4 2, 1 2 1, divided by 16),
// then the Roberts cross: the length of the gradient along the two diagonals. Beyond the image's edge every pixel has
// the value of the nearest pixel inside. Double precision; sums are always in the same order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::bench {

// One line of pixels of a block, and the pixels beside its ends.
struct pixel_line {
  const double* first = nullptr;
  double west = 0, east = 0;
};

// Blurs n pixels of the line `here`.
inline void blur_line(double* blurred, std::size_t n, const pixel_line& above, const pixel_line& here, const pixel_line& below) {
  const auto down = [&](std::size_t c) { return above.first[c] + 2 * here.first[c] + below.first[c]; };
  const double west = above.west + 2 * here.west + below.west, east = above.east + 2 * here.east + below.east;
  const auto across = [](double left, double middle, double right) { return (left + 2 * middle + right) * (1.0 / 16); };
  if (n == 1) {
    blurred[0] = across(west, down(0), east);
    return;
  }
  blurred[0] = across(west, down(0), down(1));
#pragma GCC ivdep
  for (std::size_t c = 1; c < n - 1; c++) blurred[c] = across(down(c - 1), down(c), down(c + 1));
  blurred[n - 1] = across(down(n - 2), down(n - 1), east);
}

// Edge strength of n pixels of the line `here`.
inline void roberts_line(double* edges, std::size_t n, const pixel_line& here, const pixel_line& below) {
  const auto gradient = [](double a, double b, double c, double d) {  // a b above c d
    const double falling = a - d, rising = b - c;
    return std::sqrt(falling * falling + rising * rising);
  };
#pragma GCC ivdep
  for (std::size_t c = 0; c < n - 1; c++) edges[c] = gradient(here.first[c], here.first[c + 1], below.first[c], below.first[c + 1]);
  edges[n - 1] = gradient(here.first[n - 1], here.east, below.first[n - 1], below.east);
}

// Lines of a part of a whole image in one array.
struct image_part {
  const double* image;
  std::size_t image_rows, image_columns;
  std::size_t row, column, columns;  // where the part begins, and its width

  // Line r of the part; -1 and the line after the last are there too.
  pixel_line operator()(std::ptrdiff_t r) const {
    const auto last = static_cast<std::ptrdiff_t>(image_rows) - 1;
    const auto at = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(row) + r, 0, last));
    const double* first = image + at * image_columns + column;
    return {first, first[column == 0 ? 0 : -1], first[column + columns == image_columns ? columns - 1 : columns]};
  }
};

// One block. lines(r) gives line r of the block or of its surroundings; `stride` is the distance of the result's lines.
template <class Lines>
void blur_tile(const Lines& lines, std::size_t rows, std::size_t columns, double* blurred, std::size_t stride) {
  pixel_line above = lines(-1), here = lines(0);
  for (std::size_t r = 0; r < rows; r++) {
    const pixel_line below = lines(static_cast<std::ptrdiff_t>(r) + 1);
    blur_line(blurred + r * stride, columns, above, here, below);
    above = here, here = below;
  }
}

template <class Lines>
void roberts_tile(const Lines& lines, std::size_t rows, std::size_t columns, double* edges, std::size_t stride) {
  pixel_line here = lines(0);
  for (std::size_t r = 0; r < rows; r++) {
    const pixel_line below = lines(static_cast<std::ptrdiff_t>(r) + 1);
    roberts_line(edges + r * stride, columns, here, below);
    here = below;
  }
}

}  // namespace weir::bench
