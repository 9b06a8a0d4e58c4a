// The median of measurements: of two in the middle their mean. None: 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::bench {

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace weir::bench
