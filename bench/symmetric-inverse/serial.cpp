// symmetric-inverse, sequentially: the same tiles, in the order in which tasks are created.
#include <bench/common/stopwatch.hpp>
#include <bench/symmetric-inverse/matrix.hpp>

namespace weir::bench {

serial_result solve_symmetric_inverse(const configuration& c) {
  const inversion::matrix a(c);
  for (std::size_t part = 0; part < a.parts(); part++) a.fill(part);
  const stopwatch watch;
  for (int step = 0; step < a.steps(); step++)
    a.for_each_operation(step, [&](const inversion::operation& o) { a.execute(o); });
  const double seconds = watch.seconds();
  return {a.values(), seconds};
}

}  // namespace weir::bench
