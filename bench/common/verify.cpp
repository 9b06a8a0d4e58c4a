// Comparing results.
#include <bench/common/verify.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace weir::bench {

verification compare_bits(std::span<const double> result, std::span<const double> expected) {
  verification v;
  v.what = "bit for bit with the sequential program";
  if (result.size() != expected.size()) {
    v.largest_difference = std::numeric_limits<double>::infinity();
    return v;
  }
  v.passed = result.empty() || std::memcmp(result.data(), expected.data(), result.size_bytes()) == 0;
  for (std::size_t i = 0; !v.passed && i < result.size(); i++) {
    const double difference = std::abs(result[i] - expected[i]);
    if (std::isnan(difference)) v.largest_difference = std::numeric_limits<double>::infinity();
    if (difference > v.largest_difference) v.largest_difference = difference;
  }
  return v;
}

}  // namespace weir::bench
