// The measured region of a peer program.
#pragma once

#include <bench/common/region.hpp>
#include <bench/common/stopwatch.hpp>

namespace weir::bench::peers {

// Seconds that `iterate` takes, between the markers of region.hpp.
template <class Iterate>
double measure(const Iterate& iterate) {
  const stopwatch watch;
  {
    const measured_region region;
    iterate();
  }
  return watch.seconds();
}

}  // namespace weir::bench::peers
