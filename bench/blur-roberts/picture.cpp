// Reading or making the picture.
#include <bench/blur-roberts/picture.hpp>

#include <bench/common/io/png.hpp>
#include <bench/common/stencil/padded_array.hpp>

#include <algorithm>

namespace weir::bench {

namespace {

double ring(std::uint64_t seed, std::size_t row, std::size_t column, std::size_t columns) {
  const bool bright = ((row * row + column * column) >> 14) & 1;  // rings 128 pixels wide at first, then narrower
  return (bright ? 0.75 : 0.2) + stencil::initial_value(seed, row * columns + column) / 16;
}

}  // namespace

void paint(const configuration& c, std::size_t first_row, std::size_t last_row, std::span<double> whole) {
  const std::size_t columns = c.size[1];
  if (c.loaded.has_value()) {
    const auto& pixels = std::any_cast<const std::shared_ptr<const image>&>(c.loaded)->luminance;
    std::copy(pixels.begin() + static_cast<std::ptrdiff_t>(first_row * columns), pixels.begin() + static_cast<std::ptrdiff_t>(last_row * columns), whole.begin() + static_cast<std::ptrdiff_t>(first_row * columns));
    return;
  }
  for (std::size_t r = first_row; r < last_row; r++)
    for (std::size_t x = 0; x < columns; x++) whole[r * columns + x] = ring(c.seed, r, x, columns);
}

void load_picture(configuration& c) {
  if (c.input.empty()) return;
  auto loaded = std::make_shared<const image>(read_png(c.input));
  c.size = {loaded->height, loaded->width};
  c.loaded = std::move(loaded);
}

}  // namespace weir::bench
