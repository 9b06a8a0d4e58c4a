// k-means on one block of points: Lloyd's algorithm in single precision, sums in double precision.
//
// Points lie one after the other, dimension by dimension. Centroids lie dimension by dimension, all clusters' first
// coordinates first, so that the distances to all clusters are computed in vector code. Sums are laid out like
// centroids, followed by the number of points in each cluster.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weir::bench::clustering {

struct shape {
  std::size_t dimensions, clusters;

  std::size_t centroid_elements() const { return dimensions * clusters; }
  std::size_t sum_elements() const { return (dimensions + 1) * clusters; }
};

// Sums are added up in a tree of this arity, the same in every program: results are equal bit for bit.
inline constexpr std::size_t reduction_arity = 8;

// The cluster whose centroid is nearest in Euclidean distance; of equally near ones the first.
inline std::size_t nearest(const float* point, const float* centroids, shape s, std::span<float> distances) {
  std::ranges::fill(distances, 0.0f);
  for (std::size_t d = 0; d < s.dimensions; d++) {
    const float coordinate = point[d];
    for (std::size_t k = 0; k < s.clusters; k++) {
      const float difference = coordinate - centroids[d * s.clusters + k];
      distances[k] += difference * difference;
    }
  }
  return static_cast<std::size_t>(std::ranges::min_element(distances) - distances.begin());
}

// Sums of the block's points by cluster. `distances` is scratch, one element a cluster.
inline void assign(std::span<const float> points, std::span<const float> centroids, shape s, std::span<float> distances, std::span<double> sums) {
  std::ranges::fill(sums, 0.0);
  for (std::size_t at = 0; at < points.size(); at += s.dimensions) {
    const std::size_t k = nearest(&points[at], centroids.data(), s, distances);
    for (std::size_t d = 0; d < s.dimensions; d++) sums[d * s.clusters + k] += static_cast<double>(points[at + d]);
    sums[s.centroid_elements() + k] += 1;
  }
}

// The cluster of each point of the block.
inline void label(std::span<const float> points, std::span<const float> centroids, shape s, std::span<float> distances, std::span<std::int32_t> labels) {
  for (std::size_t i = 0; i < labels.size(); i++) labels[i] = static_cast<std::int32_t>(nearest(&points[i * s.dimensions], centroids.data(), s, distances));
}

inline void add(std::span<double> sum, std::span<const double> part) {
  for (std::size_t i = 0; i < sum.size(); i++) sum[i] += part[i];
}

// Each centroid becomes the mean of its points; that of an empty cluster stays.
inline void move_centroids(std::span<const double> sums, std::span<const float> old, shape s, std::span<float> next) {
  const double* count = &sums[s.centroid_elements()];
  for (std::size_t d = 0; d < s.dimensions; d++)
    for (std::size_t k = 0; k < s.clusters; k++) {
      const std::size_t i = d * s.clusters + k;
      next[i] = count[k] > 0 ? static_cast<float>(sums[i] / count[k]) : old[i];
    }
}

}  // namespace weir::bench::clustering
