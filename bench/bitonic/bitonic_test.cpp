// The network's parts. That the runtime sorts as the sequential program is tested for all kernels alike in tests/bench.
#include <bench/bitonic/tile.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace weir::bench::sorting {
namespace {

using numbers = std::vector<std::uint64_t>;

std::uint64_t seed_of_this_run() {
  const char* given = std::getenv("WEIR_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("WEIR_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

// Few different values make equal ones frequent.
numbers random_numbers(std::mt19937_64& random, std::size_t count) {
  const std::uint64_t values = 1 + random() % (random() % 2 ? 5 : 1000000);
  numbers x(count);
  for (auto& v : x) v = random() % values;
  return x;
}

TEST(bitonic, merge_orders_any_rotated_mountain) {
  std::mt19937_64 random(seed_of_this_run());
  for (int round = 0; round < 2000; round++) {
    numbers x = random_numbers(random, 1 + random() % 20);
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(random() % (x.size() + 1));
    std::sort(x.begin(), middle);
    std::sort(middle, x.end(), std::greater{});
    std::rotate(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(random() % x.size()), x.end());
    numbers up(x.size()), down(x.size());
    merge_block(x, up, order::ascending);
    merge_block(x, down, order::descending);
    std::ranges::sort(x);
    ASSERT_EQ(up, x);
    std::ranges::reverse(x);
    ASSERT_EQ(down, x);
  }
}

// The whole network, as its control program creates it, for any block size and 2^n blocks.
TEST(bitonic, network_sorts) {
  std::mt19937_64 random(seed_of_this_run());
  for (int round = 0; round < 300; round++) {
    const std::size_t blocks = std::size_t{1} << random() % 6, size = 1 + random() % 9;
    numbers x = random_numbers(random, blocks * size), expected = x;
    std::ranges::sort(expected);
    const auto block = [&](std::size_t b) { return std::span(x).subspan(b * size, size); };
    for (std::size_t b = 0; b < blocks; b++) sort_block(block(b), order_of(b, 1));
    for (std::size_t stage = 2; stage <= blocks; stage *= 2) {
      for (std::size_t distance = stage / 2; distance > 0; distance /= 2)
        for (std::size_t b = 0; b < blocks; b++)
          if (!(b & distance)) exchange(block(b), block(b + distance), block(b), block(b + distance), order_of(b, stage));
      for (std::size_t b = 0; b < blocks; b++) {
        const numbers old(block(b).begin(), block(b).end());
        merge_block(old, block(b), order_of(b, stage));
      }
    }
    ASSERT_EQ(x, expected) << blocks << " blocks of " << size;
  }
}

}  // namespace
}  // namespace weir::bench::sorting
