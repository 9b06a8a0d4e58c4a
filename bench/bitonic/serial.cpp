// bitonic's counterpart, sequentially: the library's sort, which needs fewer comparisons than any sorting network.
#include <bench/bitonic/input.hpp>

#include <algorithm>
#include <chrono>

namespace weir::bench {

serial_result solve_bitonic(const configuration& c) {
  std::vector<std::uint64_t> values(c.size[0]);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = sorting::input_value(c.seed, i);
  const auto start = std::chrono::steady_clock::now();
  std::ranges::sort(values);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {std::move(values), seconds.count()};
}

}  // namespace weir::bench
