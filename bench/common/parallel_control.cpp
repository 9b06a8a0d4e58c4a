// Shapes of chunks, and the tokens of control tasks.
#include <bench/common/parallel_control.hpp>

#include <limits>

namespace weir::bench {

tiling tiling::compact(std::size_t outer, std::size_t inner, std::size_t unit, int workers, std::size_t outer_side, std::size_t inner_side) {
  // Telling a neighbour of another node costs some lines for each block, however short the side is.
  constexpr std::size_t lines_per_side = 10 * 64;
  tiling best{outer, inner, unit};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t rows = 1; rows <= std::min(outer, static_cast<std::size_t>(workers)); rows++) {
    const std::size_t columns = std::min(inner, static_cast<std::size_t>(workers) / rows);
    const double shared = static_cast<double>((rows - 1) * inner * (outer_side + lines_per_side) + (columns - 1) * outer * (inner_side + lines_per_side));
    if (rows * columns < best.chunks() || (rows * columns == best.chunks() && shared >= least)) continue;
    best.rows = rows;
    best.columns = columns;
    least = shared;
  }
  return best;
}

std::size_t tiling::first_block(std::size_t chunk) const {
  const std::size_t r = chunk / columns, c = chunk % columns;
  return (outer * r / rows * inner + inner * c / columns) * unit;
}

std::vector<std::size_t> tiling::neighbours(std::size_t chunk, bool also_at_corners) const {
  std::vector<std::size_t> found;
  const std::size_t r = chunk / columns, c = chunk % columns;
  for (std::size_t row = r == 0 ? 0 : r - 1; row <= std::min(r + 1, rows - 1); row++)
    for (std::size_t column = c == 0 ? 0 : c - 1; column <= std::min(c + 1, columns - 1); column++)
      if (at(row, column) != chunk && (also_at_corners || row == r || column == c)) found.push_back(at(row, column));
  return found;
}

parallel_control::parallel_control(runtime& rt, const tiling& t, const configuration& problem)
    : tiling_(t), nodes_(rt, t.chunks(), problem) {
  for (std::size_t c = 0; c < tiling_.chunks(); c++) {
    for (auto& turns : turns_) turns.push_back(rt.make_data<char>(0, "control token"));
    rt.spawn({.name = "control token"}, out(turns_[0][c]), [](auto) {});
  }
  rt.wait();
}

}  // namespace weir::bench
