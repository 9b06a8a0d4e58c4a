// Lengthens the elements of a loop until they take as long as they should.
#include <bench/main/element.hpp>

#include <bench/common/compute.hpp>
#include <bench/common/stopwatch.hpp>
#include <bench/main/rows.hpp>

#include <algorithm>

namespace weir::bench::from_main {
namespace {

// Of an element: the best of many tries, each far longer than the clock's error, all of them longer than a time slice
// that another program may take.
double ns_with(std::uint64_t iterations) {
  constexpr int tries = 1000;
  double best = 1e18;
  for (int i = 0; i < tries; i++) {
    const stopwatch watch;
    for (std::uint64_t element = 0; element < elements_of_loops; element++) compute(iterations);
    const double ns = watch.ns();
    best = std::min(best, ns / static_cast<double>(elements_of_loops));
  }
  return best;
}

}  // namespace

std::uint64_t iterations_of_element() {
  std::uint64_t iterations = 1;
  while (ns_with(iterations) < ns_of_element) iterations++;
  return iterations;
}

}  // namespace weir::bench::from_main
