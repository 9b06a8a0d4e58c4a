// Compiled once, so that a task computes with the same instructions under all runtimes.
#include <bench/shapes/work.hpp>

#include <bench/common/compute.hpp>

namespace weir::bench::shapes {

void compute_for(std::uint64_t iterations) { compute(iterations); }

}  // namespace weir::bench::shapes
