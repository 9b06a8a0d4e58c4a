// A compute loop of a given length, for tasks and elements that are to take a while.
#pragma once

#include <cstdint>

namespace weir::bench {

// Some four cycles an iteration, and nothing but arithmetic: it scales with the clock and with nothing else.
inline void compute(std::uint64_t iterations) {
  std::uint64_t x = iterations;
  for (std::uint64_t i = 0; i < iterations; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
}

// Nanoseconds an iteration of compute() takes here: the best of several tries.
double ns_per_iteration();

// Iterations that take about that long; at least one.
std::uint64_t iterations_of(double ns);

}  // namespace weir::bench
