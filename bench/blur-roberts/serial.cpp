// blur-roberts, sequentially: both filters in one pass over the image. Two blurred lines are enough, so they stay in
// the cache and only the image is read and the edges are written.
#include <bench/blur-roberts/picture.hpp>
#include <bench/blur-roberts/tile.hpp>
#include <bench/common/registry.hpp>
#include <bench/common/stopwatch.hpp>


namespace weir::bench {

namespace {

void find_edges(const std::vector<double>& picture, std::size_t rows, std::size_t columns, std::vector<double>& edges) {
  const image_part lines{picture.data(), rows, columns, 0, 0, columns};
  std::vector<double> blurred[2] = {std::vector<double>(columns), std::vector<double>(columns)};
  const auto blur = [&](std::size_t r) {
    const auto at = static_cast<std::ptrdiff_t>(r);
    double* line = blurred[r & 1].data();
    blur_line(line, columns, lines(at - 1), lines(at), lines(at + 1));
    return pixel_line{line, line[0], line[columns - 1]};
  };
  pixel_line here = blur(0);
  for (std::size_t r = 0; r < rows; r++) {
    const pixel_line below = r + 1 < rows ? blur(r + 1) : here;
    roberts_line(edges.data() + r * columns, columns, here, below);
    here = below;
  }
}

}  // namespace

serial_result solve_blur_roberts(const configuration& c) {
  const std::size_t rows = c.size[0], columns = c.size[1];
  std::vector<double> picture(rows * columns), edges(rows * columns);
  paint(c, 0, rows, picture);
  const stopwatch watch;
  find_edges(picture, rows, columns, edges);
  const double seconds = watch.seconds();
  return {std::move(edges), seconds};
}

}  // namespace weir::bench
