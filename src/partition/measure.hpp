// What a division is worth: what is cut, how far that goes, and how even the parts are.
#pragma once

#include "partition/graph.hpp"
#include "partition/target.hpp"

#include <span>
#include <vector>

namespace weir::partition {

struct figures {
  double cut_bytes = 0;      // of edges between parts
  double distant_bytes = 0;  // the same, each times its distance
  // Of each band: how much more than its share of the band's weight the fullest part has, 0.05 for 5 %. A part without
  // capacity is not looked at. 0 where nothing has weight.
  std::vector<double> imbalance;

  double worst_imbalance() const;  // of all bands
};

// `part`: of each vertex. O(edges + parts * bands).
figures measure(const graph&, const target&, std::span<const int> part);

}  // namespace weir::partition
