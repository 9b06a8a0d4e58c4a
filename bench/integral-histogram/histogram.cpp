// Tiles, and the two scans of one.
#include <bench/integral-histogram/histogram.hpp>

#include <bench/blur-roberts/picture.hpp>

#include <algorithm>
#include <limits>

namespace weir::bench::integral_histogram {
namespace {

std::vector<double> picture_of(const configuration& c) {
  std::vector<double> picture(c.size[0] * c.size[1]);
  paint(c, 0, c.size[0], picture);
  return picture;
}

}  // namespace

tiles::tiles(const configuration& c)
    : grid_(stencil::extent::of(c.size), stencil::extent::of(c.block)), bins_(c.bins), picture_(picture_of(c)),
      image_(grid_.count(), [this](std::size_t b) { return pixels(b); }),
      counts_(grid_.count(), [this](std::size_t b) {
        const stencil::extent s = grid_.shape(b);
        return bins_ * (s.elements() + s.rows + s.columns);
      }) {}

void tiles::fill(std::size_t b) const {
  const stencil::extent s = grid_.shape(b);
  float* to = image(b).data();
  for (std::size_t r = 0; r < s.rows; r++)
    for (std::size_t c = 0; c < s.columns; c++)
      *to++ = static_cast<float>(picture_[grid_.index(grid_.origin(b), 0, r) + c]);
  std::ranges::fill(counts_[b], 0);  // only so that its pages come to lie here
}

void tiles::scan_rows(std::size_t b) const {
  const stencil::extent s = grid_.shape(b);
  const auto west = west_of(b);
  const auto last = last_column(b);
  const float* const brightness = image(b).data();
  count* const first = counts(b).data();
  std::vector<std::uint32_t> bin(s.columns);
  for (std::size_t r = 0; r < s.rows; r++) {
    for (std::size_t c = 0; c < s.columns; c++) bin[c] = bin_of(brightness[r * s.columns + c], bins_);
    for (std::size_t k = 0; k < bins_; k++) {
      count* const row = first + k * s.elements() + r * s.columns;
      count sum = west.empty() ? 0 : west[k * s.rows + r];
      for (std::size_t c = 0; c < s.columns; c++) row[c] = sum += bin[c] == k;
      last[k * s.rows + r] = sum;
    }
  }
}

void tiles::scan_columns(std::size_t b) const {
  const stencil::extent s = grid_.shape(b);
  const auto north = north_of(b);
  for (std::size_t k = 0; k < bins_; k++) {
    count* const first = counts(b).data() + k * pixels(b);
    const count* above = north.empty() ? nullptr : north.data() + k * s.columns;
    for (std::size_t r = 0; r < s.rows; r++) {
      count* const row = first + r * s.columns;
      for (std::size_t c = 0; above != nullptr && c < s.columns; c++) row[c] += above[c];
      above = row;
    }
    std::copy_n(above, s.columns, last_row(b).data() + k * s.columns);
  }
}

verification tiles::verify(const std::any& expected) const {
  const auto& e = std::any_cast<const std::vector<count>&>(expected);
  verification v{.what = "all counts with the sequential program's"};
  if (e.size() != bins_ * grid_.size.elements()) {
    v.largest_difference = std::numeric_limits<double>::infinity();
    return v;
  }
  for (std::size_t b = 0; b < parts(); b++) {
    const stencil::extent s = grid_.shape(b);
    for (std::size_t k = 0; k < bins_; k++)
      for (std::size_t r = 0; r < s.rows; r++)
        for (std::size_t c = 0; c < s.columns; c++) {
          const std::size_t at = k * grid_.size.elements() + grid_.index(grid_.origin(b), 0, r) + c;
          const double here = counts(b)[k * pixels(b) + r * s.columns + c], there = e[at];
          v.largest_difference = std::max(v.largest_difference, here < there ? there - here : here - there);
        }
  }
  v.passed = v.largest_difference == 0;
  return v;
}

std::vector<std::span<std::byte>> tiles::memory() const {
  return {std::as_writable_bytes(image_.whole()), std::as_writable_bytes(counts_.whole())};
}

}  // namespace weir::bench::integral_histogram
