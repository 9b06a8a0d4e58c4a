// Points from a file or from a generator.
#include <bench/kmeans/points.hpp>

#include <algorithm>

namespace weir::bench::clustering {
namespace {

// A number in [0, 1) for each pair; a hash (splitmix64), so that any point can be computed alone.
float uniform(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t z = stream * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<float>((z ^ (z >> 31)) >> 40) * 0x1p-24f;
}

}  // namespace

point_source::point_source(const configuration& c) : points_(c.size[0]), shape_{c.size[1], c.clusters}, seed_(c.seed) {
  if (c.input.empty()) return;
  table_ = read_points(c.input);
  if (table_.rows != points_ || table_.columns != shape_.dimensions)
    throw input_error(c.input.string() + ": has " + std::to_string(table_.rows) + " points of " + std::to_string(table_.columns) +
                      " dimensions, expected " + std::to_string(points_) + " of " + std::to_string(shape_.dimensions));
}

void point_source::read(std::size_t first, std::span<float> coordinates) const {
  const std::size_t start = first * shape_.dimensions;
  if (!table_.values.empty()) {
    std::copy_n(table_.values.begin() + static_cast<std::ptrdiff_t>(start), coordinates.size(), coordinates.begin());
    return;
  }
  for (std::size_t i = 0; i < coordinates.size(); i++) coordinates[i] = synthetic((start + i) / shape_.dimensions, (start + i) % shape_.dimensions);
}

void point_source::read_initial_centroids(std::span<float> centroids) const {
  std::vector<float> point(shape_.dimensions);
  for (std::size_t k = 0; k < shape_.clusters; k++) {
    // k * points / clusters without overflow
    read(points_ / shape_.clusters * k + points_ % shape_.clusters * k / shape_.clusters, point);
    for (std::size_t d = 0; d < shape_.dimensions; d++) centroids[d * shape_.clusters + k] = point[d];
  }
}

// Clouds around random centres in the unit cube, one a cluster; each coordinate is off by up to 0.2.
float point_source::synthetic(std::size_t point, std::size_t dimension) const {
  const auto cloud = static_cast<std::uint64_t>(uniform(4 * seed_, point) * static_cast<float>(shape_.clusters));
  const float centre = uniform(4 * seed_ + 1, cloud * shape_.dimensions + dimension);
  return centre + 0.4f * (uniform(4 * seed_ + 2, point * shape_.dimensions + dimension) - 0.5f);
}

}  // namespace weir::bench::clustering
