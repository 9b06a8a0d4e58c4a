// What k-means comes to.
#pragma once

#include <bench/common/kernel.hpp>

#include <cstdint>
#include <vector>

namespace weir::bench::clustering {

struct result {
  std::vector<float> centroids;      // dimension by dimension, all clusters' first coordinates first
  std::vector<std::int32_t> labels;  // of each point, by the final centroids
};

}  // namespace weir::bench::clustering

namespace weir::bench {

// The value is a clustering::result.
serial_result solve_kmeans(const configuration&);

}  // namespace weir::bench
