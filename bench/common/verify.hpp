// Comparing a result with the sequential program's.
#pragma once

#include <bench/common/kernel.hpp>

#include <span>

namespace weir::bench {

// Equal bit for bit? The largest difference is absolute; infinite if the sizes differ or a value is no number.
verification compare_bits(std::span<const double> result, std::span<const double> expected);

}  // namespace weir::bench
