// integral-histogram: for every pixel of a grey image and every bin of brightness, how many pixels above and to the
// left of it (itself included) are that bright, so that the histogram of any rectangle is a matter of four look-ups
// (Porikli, CVPR 2005). Computed tile by tile in two passes, "cross-weave": counts are added up along the rows, then
// along the columns (Bellens, Palaniappan, Badia, Seetharaman and Labarta, ACIVS 2011).
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/stencil/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::bench::integral_histogram {

using count = std::uint32_t;

// The bin of a brightness from 0 to 1.
inline std::uint32_t bin_of(float brightness, std::size_t bins) {
  const float scaled = brightness * static_cast<float>(bins);
  const auto last = static_cast<std::uint32_t>(bins - 1);
  return scaled <= 0 ? 0 : scaled >= static_cast<float>(last) ? last : static_cast<std::uint32_t>(scaled);
}

// Image and counts in tiles that each lie in one piece. The counts of a tile are those of one bin after the other,
// each row by row; behind them lie what the neighbours read, again bin by bin: the last column, and the last row.
class tiles {
 public:
  // Memory that nobody has written. Reads configuration::loaded, or paints a picture (blur-roberts/picture.hpp).
  explicit tiles(const configuration&);

  const stencil::block_grid& grid() const { return grid_; }
  std::size_t parts() const { return grid_.count(); }
  void fill(std::size_t b) const;

  // Counts of the pixels to the left, and the tile's last column.
  void scan_rows(std::size_t b) const;
  // Then also of those above, and the tile's last row.
  void scan_columns(std::size_t b) const;

  // What these read and write. The neighbours' are empty at the ends of the image.
  std::span<float> image(std::size_t b) const { return image_[b]; }
  std::span<count> counts(std::size_t b) const { return counts_[b].first(bins_ * pixels(b)); }
  std::span<count> last_column(std::size_t b) const {
    return counts_[b].subspan(bins_ * pixels(b), bins_ * grid_.shape(b).rows);
  }
  std::span<count> last_row(std::size_t b) const { return counts_[b].last(bins_ * grid_.shape(b).columns); }
  std::span<count> west_of(std::size_t b) const {
    if (!grid_.has_neighbour(b, stencil::side::west)) return last_column(b).first(0);
    return last_column(grid_.neighbour(b, stencil::side::west));
  }
  std::span<count> north_of(std::size_t b) const {
    if (!grid_.has_neighbour(b, stencil::side::north)) return last_row(b).first(0);
    return last_row(grid_.neighbour(b, stencil::side::north));
  }

  verification verify(const std::any& expected) const;
  std::vector<std::span<std::byte>> memory() const;

 private:
  std::size_t pixels(std::size_t b) const { return grid_.shape(b).elements(); }

  stencil::block_grid grid_;
  std::size_t bins_;
  std::vector<double> picture_;  // as it was loaded or painted, row by row
  own_blocks<float> image_;
  own_blocks<count> counts_;
};

}  // namespace weir::bench::integral_histogram

namespace weir::bench {

// The value is a std::vector<count>: of each bin all pixels, row by row.
serial_result solve_integral_histogram(const configuration&);

}  // namespace weir::bench
