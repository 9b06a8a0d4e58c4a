// Many ranges and many tasks on one: what is right for a few must be right for a hundred thousand.
#include "tests/support/support.hpp"

#include <algorithm>
#include <numeric>
#include <span>

namespace weir::test {
namespace {

using byte = unsigned char;

// Only named, never touched.
std::span<byte> at(std::uint64_t address, std::size_t bytes) {
  return {reinterpret_cast<byte*>(static_cast<std::uintptr_t>((std::uint64_t{1} << 44) + address)), bytes};
}

// Each element has a task of its own in every round, in another order each time; then somebody looks at all of them.
TEST(range_scale, pieces_and_the_whole) {
  watchdog dog(120, "many pieces of an array");
  std::mt19937_64 random(new_seed());
  std::vector<std::uint32_t> values(effort(50'000), 0);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  runtime rt({.workers = 4});
  for (std::uint32_t round = 1; round <= 6; round++) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) rt.spawn(inout(ref(values[i])), [](auto v) { v[0]++; });
    const auto check = [round](auto all) {
      EXPECT_EQ(static_cast<std::size_t>(std::count(all.begin(), all.end(), round)), all.size());
    };
    if (round % 2 == 0) rt.spawn(in(ref(std::span<const std::uint32_t>(values))), check);
    else rt.spawn(inout(ref(values)), check);
  }
  rt.wait();
}

// The same with tiles of a matrix: more than are kept when they are at rest. All of it is looked at as a range, as
// a tile, and as two.
TEST(range_scale, tiles_and_the_whole) {
  watchdog dog(120, "many tiles of a matrix");
  std::mt19937_64 random(new_seed());
  constexpr std::size_t height = 3, width = 5, in_row = 100, stride = in_row * width;
  const std::size_t rows = height * effort(100);
  std::vector<std::uint32_t> values(rows * stride, 0);
  std::vector<std::size_t> order(rows / height * in_row);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto part = [&](std::size_t row, std::size_t count, std::size_t column, std::size_t columns) {
    return ref(tile(values.data(), stride, row, count, column, columns));
  };
  runtime rt({.workers = 4});
  for (std::uint32_t round = 1; round <= 6; round++) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order)
      rt.spawn(inout(part(i / in_row * height, height, i % in_row * width, width)), [](tile<std::uint32_t> t) {
        for (std::size_t r = 0; r < height; r++)
          for (std::uint32_t& v : t.row(r)) v++;
      });
    const auto check = [round](auto all) { EXPECT_TRUE(std::ranges::count(all, round) == std::ssize(all)); };
    const auto check_tile = [=](tile<const std::uint32_t> t) {
      for (std::size_t r = 0; r < t.rows(); r++) check(t.row(r));
    };
    if (round % 3 == 0) rt.spawn(in(ref(std::span<const std::uint32_t>(values))), check);
    if (round % 3 == 1) rt.spawn(inout(part(0, rows, 0, stride)), check_tile);
    if (round % 3 == 2)
      rt.spawn(in(part(0, rows, 0, 17)), in(part(0, rows, 17, stride - 17)), [=](auto left, auto right) {
        check_tile(left);
        check_tile(right);
      });
  }
  rt.wait();
}

// Where addresses differ in some bits only. What the tasks of a block do is counted beside it.
TEST(range_scale, blocks_at_any_distance) {
  watchdog dog(120, "blocks at any distance");
  std::mt19937_64 random(new_seed());
  constexpr std::size_t blocks = 500;
  for (int bits = 4; bits <= 34; bits++) {
    const std::uint64_t distance = std::uint64_t{1} << bits;
    const std::size_t bytes = between(random, 1, static_cast<std::size_t>(distance));
    runtime rt({.workers = 3});
    std::vector<std::uint32_t> done(blocks, 0), created(blocks, 0);  // plain: only its block's tasks look at a counter
    for (std::size_t t = 0; t < effort(3'000); t++) {
      const std::size_t b = between(random, 0, blocks - 1);
      if (t % 1000 == 999) {
        rt.spawn(out(ref(at(0, blocks * distance))), [&done, expected = created](auto) { EXPECT_EQ(done, expected); });
        continue;
      }
      rt.spawn(inout(ref(at(b * distance, bytes))), [&counter = done[b], before = created[b]](auto) {
        EXPECT_EQ(counter, before);
        counter++;
      });
      created[b]++;
    }
    rt.wait();
    EXPECT_EQ(done, created) << "distance 2^" << bits;
  }
}

// Readers of a range are still to run when it is cut into bytes, each of which somebody overwrites.
TEST(range_scale, many_readers_of_what_is_then_cut) {
  watchdog dog(120, "many readers of a range");
  for (const std::size_t readers : {1, 7, 300}) {
    runtime rt({.workers = 4});
    std::vector<byte> memory(64, 0);
    gate door;
    std::atomic<std::size_t> have_read{0}, have_written{0};
    rt.spawn(out(ref(memory)), [&](auto all) {
      door.pass();
      std::ranges::fill(all, byte{7});
    });
    for (std::size_t r = 0; r < readers; r++)
      rt.spawn(in(ref(std::span<const byte>(memory))), [&](auto all) {
        EXPECT_EQ(std::count(all.begin(), all.end(), 7), 64);
        have_read++;
      });
    for (byte& b : memory)
      rt.spawn(out(ref(b)), [&](auto one) {
        EXPECT_EQ(have_read, readers);
        one[0] = 8;
        have_written++;
      });
    rt.spawn(inout(ref(std::span(memory).subspan(10, 50))), [&](auto some) {
      EXPECT_GE(have_written, 50u);
      EXPECT_EQ(std::count(some.begin(), some.end(), 8), 50);
    });
    door.open();
    rt.wait();
    EXPECT_EQ(have_written, 64u);
  }
}

// The same first byte and ever other ends, or ever other first bytes and the same end, one within the other.
TEST(range_scale, ranges_with_one_common_end) {
  watchdog dog(120, "ranges with a common end");
  std::mt19937_64 random(new_seed());
  for (const bool common_first : {true, false}) {
    runtime rt({.workers = 3});
    std::vector<std::uint32_t> values(400, 0), expected(400, 0);
    for (std::size_t t = 0; t < effort(20'000); t++) {
      const std::size_t count = between(random, 1, values.size());
      const auto part = [&](std::vector<std::uint32_t>& v) {
        return common_first ? std::span(v).first(count) : std::span(v).last(count);
      };
      const auto number = static_cast<std::uint32_t>(t);
      const auto step = [number](std::span<std::uint32_t> some) {
        for (std::uint32_t& v : some) v = v * 31 + number;
      };
      rt.spawn(inout(ref(part(values))), step);
      step(part(expected));
    }
    rt.wait();
    EXPECT_EQ(values, expected);
  }
}

}  // namespace
}  // namespace weir::test
