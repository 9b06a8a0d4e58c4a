// The parts around the kernels: options, sizes, comparison, pages.
#include <bench/common/check.hpp>
#include <bench/common/interleaved_array.hpp>
#include <bench/common/kernel.hpp>
#include <bench/common/options.hpp>
#include <bench/common/page_check.hpp>
#include <bench/common/parallel_control.hpp>
#include <bench/common/stencil/blocks.hpp>
#include <bench/common/verify.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::bench {
namespace {

using names = std::vector<std::string>;
using sizes = std::vector<std::size_t>;

// The message of the input_error f() throws.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const input_error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Tiling, ChunksAreCompactAndCoverEverythingOnce) {
  const tiling square = tiling::compact(24, 24, 1, 24, 256, 256);
  EXPECT_EQ(square.chunks(), 24u);
  EXPECT_EQ(square.rows * square.columns, 24u);
  EXPECT_LE(std::max(square.rows, square.columns), 6u);  // 4 x 6, not 24 x 1
  const tiling flat = tiling::compact(24, 24, 1, 8, 1 << 20, 8);
  EXPECT_EQ(flat.columns, 8u);  // sides between rows are dear: nobody shares one
  for (const tiling& t : {square, flat, tiling::compact(5, 7, 3, 4, 64, 64), tiling::compact(3, 1, 1, 100, 8, 0), tiling::compact(1, 1, 1, 1, 8, 8)}) {
    EXPECT_LE(t.rows, t.outer);
    EXPECT_LE(t.columns, t.inner);
    std::vector<int> seen(t.blocks(), 0);
    for (std::size_t c = 0; c < t.chunks(); c++) {
      std::size_t least = t.blocks();
      t.for_each_run(c, [&](std::size_t first, std::size_t last) {
        for (std::size_t b = first; b < last; b++) seen.at(b)++;
        if (first < last) least = std::min(least, first);
      });
      EXPECT_EQ(t.first_block(c), least);
    }
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  }
}

TEST(Tiling, Neighbours) {
  const tiling t = tiling::compact(9, 9, 1, 9, 64, 64);
  ASSERT_EQ(t.rows, 3u);
  EXPECT_EQ(t.neighbours(4, true).size(), 8u);
  EXPECT_EQ(t.neighbours(4, false), (sizes{1, 3, 5, 7}));
  EXPECT_EQ(t.neighbours(0, false), (sizes{1, 3}));
  EXPECT_EQ(t.neighbours(8, true), (sizes{4, 5, 7}));
}

TEST(Options, Sizes) {
  EXPECT_EQ(parse_size("--size", "7"), sizes{7});
  EXPECT_EQ(parse_size("--size", "768x1024x3"), (sizes{768, 1024, 3}));
  for (const char* bad : {"", "x", "7x", "x7", "7xx7", "-1", "+1", "1e3", "7 x 7", "7X7", "0x10y"}) EXPECT_TRUE(contains(refusal([&] { parse_size("--size", bad); }), "--size")) << bad;
  EXPECT_TRUE(contains(refusal([] { parse_size("--block", "99999999999999999999x1"); }), "too large"));
}

TEST(Options, Policies) {
  EXPECT_EQ(parse_policies("local"), names{"local"});
  EXPECT_EQ(parse_policies("a,b:k=v,k2=v2,c"), (names{"a", "b:k=v,k2=v2", "c"}));
  EXPECT_EQ(parse_policies("b:k=v,c:k=w"), (names{"b:k=v", "c:k=w"}));
  EXPECT_EQ(parse_policies("all").size(), 9u);
  EXPECT_TRUE(contains(refusal([] { parse_policies("k=v"); }), "without a policy"));
  EXPECT_TRUE(contains(refusal([] { parse_policies("a,,b"); }), "missing"));
  EXPECT_TRUE(contains(refusal([] { parse_policies(""); }), "missing"));
}

TEST(Options, EveryPolicyOfAllExists) {
  for (const std::string& p : parse_policies("all")) {
    runtime_options o;
    o.workers = 1;
    o.policy = p;
    EXPECT_NO_THROW(runtime{o}) << p;
  }
}

TEST(Check, RefusesWhatCannotBe) {
  const kernel& k = find_kernel("jacobi-2d");
  const auto with = [&](sizes size, sizes block, int iterations = 1) {
    return refusal([&] {
      configuration c = k.defaults;
      c.size = size, c.block = block, c.iterations = iterations;
      check_configuration(k, c);
    });
  };
  EXPECT_TRUE(contains(with({64}, {8, 8}), "ROWSxCOLUMNS"));
  EXPECT_TRUE(contains(with({64, 64}, {8, 8, 8}), "--block"));
  EXPECT_TRUE(contains(with({64, 0}, {8, 8}), "1 or more"));
  EXPECT_TRUE(contains(with({64, 64}, {0, 8}), "1 or more"));
  EXPECT_TRUE(contains(with({64, 64}, {8, 65}), "larger than"));
  EXPECT_TRUE(contains(with({64, 64}, {8, 8}, 0), "--iterations"));
  EXPECT_TRUE(contains(with({std::size_t{1} << 40, std::size_t{1} << 40}, {64, 64}), "more than 2^64 bytes"));
  EXPECT_TRUE(contains(with({std::size_t{1} << 24, std::size_t{1} << 24}, {1 << 20, 1 << 20}), "of memory"));
  EXPECT_TRUE(contains(with({1 << 20, 1 << 18}, {1, 1}), "of memory"));
}

TEST(Check, DefaultBlocksShrinkAndAskedForOnesDoNot) {
  const kernel& k = find_kernel("jacobi-2d");
  configuration c = k.defaults;
  c.size = {10, 20};
  check_configuration(k, c, block_choice::fit);
  EXPECT_EQ(c.block, (sizes{10, 20}));
}

TEST(Check, DefaultsAreAccepted) {
  for (const kernel& k : kernels()) {
    configuration c = k.defaults;
    EXPECT_NO_THROW(check_configuration(k, c)) << k.name;
  }
}

TEST(Check, UnknownKernelListsTheKnown) {
  const std::string message = refusal([] { find_kernel("jacobi"); });
  EXPECT_TRUE(contains(message, "jacobi-2d") && contains(message, "cholesky")) << message;
}

TEST(Check, Formats) {
  EXPECT_EQ(format_size(sizes{3, 4}), "3x4");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(saturating_product(sizes{std::size_t{1} << 40, std::size_t{1} << 40}, 8), std::numeric_limits<std::uint64_t>::max());
  EXPECT_GT(available_memory(), 0u);
}

TEST(Verify, SeesEveryBit) {
  const std::vector<double> a = {1, 2, 3};
  EXPECT_TRUE(compare_bits(a, a).passed);
  std::vector<double> b = a;
  b[1] = std::nextafter(2.0, 3.0);
  EXPECT_FALSE(compare_bits(b, a).passed);
  EXPECT_EQ(compare_bits(b, a).largest_difference, b[1] - 2);
  b[1] = std::nan("");
  EXPECT_TRUE(std::isinf(compare_bits(b, a).largest_difference));
  EXPECT_FALSE(compare_bits({}, a).passed);
}

// The blocks cover the array once, and what a block calls its side is what its neighbour reads.
TEST(Blocks, CoverTheArrayOnce) {
  const stencil::block_grid grid({5, 7, 11}, {2, 3, 4});
  std::vector<int> covered(grid.size.elements());
  for (std::size_t b = 0; b < grid.count(); b++) {
    const auto o = grid.origin(b), s = grid.shape(b);
    for (std::size_t p = 0; p < s.planes; p++)
      for (std::size_t r = 0; r < s.rows; r++)
        for (std::size_t c = 0; c < s.columns; c++) covered.at(grid.index(o, p, r) + c)++;
    for (auto side : {stencil::side::front, stencil::side::north, stencil::side::west, stencil::side::east, stencil::side::south, stencil::side::back}) {
      if (!grid.has_neighbour(b, side)) continue;
      const std::size_t n = grid.neighbour(b, side);
      EXPECT_EQ(grid.neighbour(n, opposite(side)), b);
      EXPECT_EQ((stencil::block_layout<3>{s}.of(side).count), (stencil::block_layout<3>{grid.shape(n)}.of(opposite(side)).count));
    }
  }
  EXPECT_EQ(std::count(covered.begin(), covered.end(), 1), static_cast<std::ptrdiff_t>(covered.size()));
}

TEST(InterleavedArray, IsZeroAndWritable) {
  interleaved_array<int> a(10000);
  for (int x : a.span()) ASSERT_EQ(x, 0);
  a[9999] = 7;
  interleaved_array<int> b = std::move(a);
  EXPECT_EQ(b[9999], 7);
  EXPECT_EQ(a.size(), 0u);
}

// On one node every page is where it should be; where the system does not answer, none is counted as checked.
TEST(PageChecker, CountsEveryPageOnce) {
  runtime_options o;
  o.workers = 1;
  runtime rt(o);
  page_checker pages(std::vector<int>(64, 0));
  pages.check(&pages, 8);  // outside tasks
  EXPECT_EQ(pages.checked() + pages.unknown(), 0u);
  interleaved_array<char> memory(1000 * 4096);
  std::fill_n(memory.data(), memory.size(), 'x');
  rt.run([&] { pages.check(memory.data(), memory.size()); });
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(pages.checked() + pages.unknown(), (memory.size() + page - 1) / page);
  if (rt.nodes() == 1) {
    EXPECT_EQ(pages.misplaced(), 0u);
  }
}

}  // namespace
}  // namespace weir::bench
