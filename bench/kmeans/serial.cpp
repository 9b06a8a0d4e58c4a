// kmeans, sequentially.
#include <bench/common/stopwatch.hpp>
#include <bench/kmeans/points.hpp>
#include <bench/kmeans/result.hpp>


namespace weir::bench {
namespace {

using namespace clustering;

// Adds groups of neighbouring sums until one is left, at the front.
void reduce(std::vector<double>& sums, std::size_t count, std::size_t elements) {
  const auto sum = [&](std::size_t i) { return std::span(sums).subspan(i * elements, elements); };
  for (std::size_t step = 1; step < count; step *= reduction_arity)
    for (std::size_t first = 0; first < count; first += step * reduction_arity)
      for (std::size_t part = first + step; part < std::min(count, first + step * reduction_arity); part += step) add(sum(first), sum(part));
}

}  // namespace

serial_result solve_kmeans(const configuration& c) {
  const shape s{c.size[1], c.clusters};
  const std::size_t points = c.size[0], block = c.block[0], blocks = (points + block - 1) / block;
  std::vector<float> coordinates(points * s.dimensions), distances(s.clusters), old(s.centroid_elements());
  std::vector<double> sums(blocks * s.sum_elements());
  result r{std::vector<float>(s.centroid_elements()), std::vector<std::int32_t>(points)};
  const point_source source(c);
  source.read(0, coordinates);
  source.read_initial_centroids(r.centroids);

  const stopwatch watch;
  for (int t = 1; t <= c.iterations; t++) {
    for (std::size_t b = 0; b < blocks; b++) {
      const std::size_t first = b * block, count = std::min(block, points - first);
      assign(std::span(coordinates).subspan(first * s.dimensions, count * s.dimensions), r.centroids, s, distances, std::span(sums).subspan(b * s.sum_elements(), s.sum_elements()));
    }
    reduce(sums, blocks, s.sum_elements());
    old.swap(r.centroids);
    move_centroids(std::span(sums).first(s.sum_elements()), old, s, r.centroids);
  }
  label(coordinates, r.centroids, s, distances, r.labels);
  const double seconds = watch.seconds();
  return {std::move(r), seconds};
}

}  // namespace weir::bench
