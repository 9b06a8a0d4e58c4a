// In which order one worker runs its tasks.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace weir::test {
namespace {

void for_some_us() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(5)) {}
}

struct jacobi {
  static constexpr std::size_t blocks = 32, steps = 24, elements = 512;  // 2 KiB

  std::vector<data<int>> block, border;
  std::array<std::size_t, blocks> done{};
  std::size_t most_ahead = 0;  // steps that some block was ahead of another one

  explicit jacobi(runtime& rt) {
    for (std::size_t b = 0; b < blocks; b++) {
      block.push_back(rt.make_data(std::vector<int>(elements)));
      border.push_back(rt.make_data(std::vector<int>(1)));
    }
  }
  // Each task reads its block, and its neighbours' borders.
  void create(runtime& rt, const data<int>& start) {
    for (std::size_t step = 0; step < steps; step++) {
      const std::vector<data<int>> old_block = block, old_border = border;
      for (std::size_t b = 0; b < blocks; b++) {
        block[b] = rt.make_data<int>(elements);
        border[b] = rt.make_data<int>(1);
        const std::size_t left = b > 0 ? b - 1 : 0, right = std::min(b + 1, blocks - 1);
        rt.spawn(in(start), in(old_block[b]), in(old_border[left]), in(old_border[right]), out(block[b]), out(border[b]),
                 [this, b](auto, auto, auto, auto, std::span<int> values, std::span<int> edge) {
                   for_some_us();
                   values[0] = edge[0] = 0;
                   done[b]++;
                   const auto [last, first] = std::minmax_element(done.begin(), done.end());
                   most_ahead = std::max(most_ahead, *first - *last);
                 });
      }
    }
  }
};

// Going on with the newest task would run as many steps ahead as neighbours allow, and come back to a block only when
// it has left the cache.
TEST(order, a_task_whose_data_have_left_the_cache_gives_way_to_older_ones) {
  watchdog dog(60);
  runtime rt({.workers = 1, .machine = "nodes:1 cpus:1"});
  jacobi program(rt);
  const data<int> start = rt.make_data<int>(1);
  // All is created before any of it is ready.
  rt.spawn(out(start), [&](std::span<int> s) {
    s[0] = 0;
    program.create(rt, start);
  });
  rt.wait();
  for (const std::size_t n : program.done) EXPECT_EQ(n, jacobi::steps);
  EXPECT_LE(program.most_ahead, 8u);
}

}  // namespace
}  // namespace weir::test
