// bitonic's counterpart, sequentially: the library's sort, which needs fewer comparisons than any sorting network.
#include <bench/bitonic/input.hpp>
#include <bench/common/stopwatch.hpp>

#include <algorithm>

namespace weir::bench {

serial_result solve_bitonic(const configuration& c) {
  std::vector<std::uint64_t> values(c.size[0]);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = sorting::input_value(c.seed, i);
  const stopwatch watch;
  std::ranges::sort(values);
  const double seconds = watch.seconds();
  return {std::move(values), seconds};
}

}  // namespace weir::bench
