// Where the points of k-means come from: a CSV file, or a generator that can be asked for any of them.
#pragma once

#include <bench/common/io/csv.hpp>
#include <bench/common/kernel.hpp>
#include <bench/kmeans/tile.hpp>

#include <span>
#include <vector>

namespace weir::bench::clustering {

class point_source {
 public:
  // Reads configuration::input if there is one. Throws input_error, also if the file no longer has the size in
  // configuration::size.
  explicit point_source(const configuration&);

  // Coordinates of the points from `first` on, as many as there is room for.
  void read(std::size_t first, std::span<float> coordinates) const;

  // Where the clusters start: `clusters` points evenly spread over the order of the points.
  void read_initial_centroids(std::span<float> centroids) const;

 private:
  float synthetic(std::size_t point, std::size_t dimension) const;

  std::size_t points_;
  shape shape_;
  std::uint64_t seed_;
  point_table table_;  // empty: synthetic
};

}  // namespace weir::bench::clustering
