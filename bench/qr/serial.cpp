// qr, sequentially: the same tiles, in the order in which tasks are created.
#include <bench/common/stopwatch.hpp>
#include <bench/qr/matrix.hpp>

namespace weir::bench {

serial_result solve_qr(const configuration& c) {
  const orthogonal::matrix a(c);
  for (std::size_t part = 0; part < a.parts(); part++) a.fill(part);
  const std::size_t n = a.tiles();
  const stopwatch watch;
  for (std::size_t k = 0; k < n; k++) {
    a.geqrt(k);
    for (std::size_t j = k + 1; j < n; j++) a.unmqr(k, j);
    for (std::size_t i = k + 1; i < n; i++) {
      a.tsqrt(i, k);
      for (std::size_t j = k + 1; j < n; j++) a.tsmqr(i, j, k);
    }
  }
  const double seconds = watch.seconds();
  return {a.values(), seconds};
}

}  // namespace weir::bench
