// How long an iteration of the compute loop takes.
#include <bench/common/compute.hpp>
#include <bench/common/stopwatch.hpp>

#include <algorithm>
#include <cmath>

namespace weir::bench {

double ns_per_iteration() {
  // A few tenths of a millisecond: longer than the clock's error, shorter than a time slice.
  constexpr std::uint64_t iterations = 200000;
  double best = 1e9;
  for (int i = 0; i < 20; i++) {
    const stopwatch watch;
    compute(iterations);
    const double ns = watch.ns();
    best = std::min(best, ns / iterations);
  }
  return best;
}

std::uint64_t iterations_of(double ns) {
  return static_cast<std::uint64_t>(std::max(1LL, std::llround(ns / ns_per_iteration())));
}

}  // namespace weir::bench
