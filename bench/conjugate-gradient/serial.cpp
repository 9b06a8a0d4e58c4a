// conjugate-gradient, sequentially: block by block, because sums are the blocks' sums.
#include <bench/common/stopwatch.hpp>
#include <bench/conjugate-gradient/system.hpp>

namespace weir::bench {

serial_result solve_conjugate_gradient(const configuration& c) {
  const conjugate_gradient::linear_system s(c);
  for (std::size_t b = 0; b < s.parts(); b++) s.fill(b);
  const stopwatch watch;
  s.begin();
  for (int t = 0; t < c.iterations; t++) {
    for (std::size_t b = 0; b < s.parts(); b++) s.multiply(b);
    s.step_length();
    for (std::size_t b = 0; b < s.parts(); b++) s.advance(b);
    s.step_direction();
    for (std::size_t b = 0; b < s.parts(); b++) s.turn(b);
  }
  const double seconds = watch.seconds();
  return {s.solution(), seconds};
}

}  // namespace weir::bench
