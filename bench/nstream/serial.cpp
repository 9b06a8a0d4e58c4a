// nstream, sequentially: whole vectors, one iteration after the other.
#include <bench/common/stopwatch.hpp>
#include <bench/nstream/vectors.hpp>

namespace weir::bench {

serial_result solve_nstream(const configuration& c) {
  configuration whole = c;
  whole.block = c.size;
  const nstream::vectors x(whole);
  x.fill(0);
  const stopwatch watch;
  for (int t = 0; t < c.iterations; t++) x.iterate(0);
  const double seconds = watch.seconds();
  return {std::vector<double>(x.a(0).begin(), x.a(0).end()), seconds};
}

}  // namespace weir::bench
