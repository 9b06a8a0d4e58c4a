// parallel_reduce: every element once, combined in order, the same bits each time; failures.
#include "tests/support/loop_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <random>

namespace weir::test {
namespace {

TEST(parallel_reduce, sums) {
  watchdog dog(300);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{1000}, static_cast<std::int64_t>(effort(1'000'000))})
      for (const std::size_t grain : {0, 1, 3, 1000}) {
        if (n > 1000 && grain > 0 && grain < 1000) continue;
        EXPECT_EQ(parallel_reduce(rt, std::int64_t{0}, n, std::int64_t{0}, [](std::int64_t i) { return i; }, std::plus(), {.grain = grain}), n * (n - 1) / 2) << text(sh) << ", grain " << grain;
        const auto chunk = [](std::int64_t begin, std::int64_t end) { return (end - begin) * (begin + end - 1) / 2; };
        EXPECT_EQ(parallel_reduce(rt, std::int64_t{0}, n, std::int64_t{0}, chunk, std::plus(), {.grain = grain}), n * (n - 1) / 2) << text(sh) << ", grain " << grain;
      }
    EXPECT_EQ(parallel_reduce(rt, 5, 5, 42, [](int) { return 1; }, std::plus()), 42);
    EXPECT_EQ(parallel_reduce(rt, 0, 10, 100, [](int) { return 1; }, std::plus()), 110);  // once, wherever the chunks are
    EXPECT_EQ(parallel_reduce(rt, -10, -5, 0, [](int i) { return i; }, [](int a, int b) { return std::min(a, b); }), -10);
  }
}

TEST(parallel_reduce, keeps_the_order) {
  watchdog dog(120);
  std::string expected;
  for (int i = 0; i < 1000; i++) expected += std::to_string(i) + ",";
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    for (const std::size_t grain : {0, 1, 2, 7, 1000}) {
      const auto text_of = [](int i) { return std::to_string(i) + ","; };
      EXPECT_EQ(parallel_reduce(rt, 0, 1000, std::string(">"), text_of, std::plus(), {.grain = grain}), ">" + expected) << text(sh) << ", grain " << grain;
    }
    // x -> a x + b, one after the other.
    struct affine {
      std::uint32_t a, b;
      bool operator==(const affine&) const = default;
    };
    const auto after = [](affine f, affine g) { return affine{g.a * f.a, g.a * f.b + g.b}; };
    const auto step = [](int i) { return affine{static_cast<std::uint32_t>(2 * i + 1), static_cast<std::uint32_t>(i)}; };
    affine all{1, 0};
    for (int i = 0; i < 10'000; i++) all = after(all, step(i));
    EXPECT_EQ(parallel_reduce(rt, 0, 10'000, affine{1, 0}, step, after), all) << text(sh);
  }
}

// Floating-point sums depend on the order: the same number of workers gives the same bits, whoever was quick; the same
// grain on any machine.
TEST(parallel_reduce, gives_the_same_bits_each_time) {
  watchdog dog(120);
  std::mt19937_64 random(1);
  std::vector<double> v(20'000);
  for (double& x : v) x = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 100) - 50);
  std::vector<double> with_grain;
  for (const shape& sh : shapes()) {
    std::vector<double> without;
    for (int start = 0; start < 3; start++) {
      runtime rt(options_of(sh));
      for (int round = 0; round < 10; round++) {
        without.push_back(parallel_reduce(rt, v, 0.0, std::identity(), std::plus()));
        with_grain.push_back(parallel_reduce(rt, v.begin(), v.end(), 0.0, [](auto begin, auto end) { return std::accumulate(begin, end, 0.0); }, std::plus(), {.grain = 100}));
      }
    }
    EXPECT_EQ(std::ranges::count(without, without.front()), 30) << text(sh);
  }
  EXPECT_EQ(std::ranges::count(with_grain, with_grain.front()), static_cast<std::ptrdiff_t>(with_grain.size()));
}

TEST(parallel_reduce, moves_results) {
  runtime rt({.workers = 3, .machine = one_node});
  using owner = std::unique_ptr<int>;
  const auto add = [](owner a, owner b) { return std::make_unique<int>(*a + *b); };
  const owner sum = parallel_reduce(rt, 0, 500, std::make_unique<int>(0), [](int i) { return std::make_unique<int>(i); }, add, {.grain = 7});
  EXPECT_EQ(*sum, 124'750);
  const auto joined = parallel_reduce(rt, 0, 100, std::vector<int>(), [](int begin, int end) {
    std::vector<int> part(static_cast<std::size_t>(end - begin));
    std::iota(part.begin(), part.end(), begin);
    return part;
  }, [](std::vector<int> left, const std::vector<int>& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }, {.grain = 3});
  EXPECT_EQ(joined.size(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(joined));
}

// What combine returns may be its own argument.
TEST(parallel_reduce, takes_references_to_arguments) {
  runtime rt({.workers = 3, .machine = one_node});
  using list = std::vector<int>;
  const auto append = [](list&& left, list&& right) -> list&& {
    left.insert(left.end(), right.begin(), right.end());
    return std::move(left);
  };
  list expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  for (const std::size_t grain : {0u, 1u, 7u})
    EXPECT_EQ(parallel_reduce(rt, 0, 1000, list(), [](int i) { return list{i}; }, append, {.grain = grain}), expected);
}

TEST(parallel_reduce, calls_combine_once_for_each_chunk) {
  runtime rt({.workers = 3, .machine = one_node});
  for (int chunks = 1; chunks <= 70; chunks++) {
    std::atomic<int> combined{0};
    EXPECT_EQ(parallel_reduce(rt, 0, 10 * chunks, 0, [](int begin, int end) { return end - begin; }, [&](int a, int b) { return combined++, a + b; }, {.grain = 10}), 10 * chunks);
    EXPECT_EQ(combined, chunks);
  }
}

TEST(parallel_reduce, throws_what_bodies_and_combinations_throw) {
  watchdog dog(60);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    const auto body = [](int i) { return i == 77 ? throw std::runtime_error("body") : std::string("x"); };
    const auto combine = [](std::string a, const std::string& b) { return a.size() > 50 ? throw std::runtime_error("combine") : a + b; };
    WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { parallel_reduce(rt, 0, 100, std::string(), body, std::plus(), {.name = "join"}); }), "task join failed: body");
    WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { parallel_reduce(rt, 0, 70, std::string(), body, combine, {.grain = 1}); }), "task parallel_reduce failed: combine");
    EXPECT_EQ(parallel_reduce(rt, 0, 50, std::string(), body, combine).size(), 50u);
  }
}

TEST(parallel_reduce, nests) {
  watchdog dog(120);
  for (const shape& sh : shapes()) {
    runtime rt(options_of(sh));
    const auto row = [&](int i) { return parallel_reduce(rt, 0, 100, std::int64_t{0}, [i](int j) { return std::int64_t{i} * j; }, std::plus(), {.distribution = distribution::none}); };
    EXPECT_EQ(parallel_reduce(rt, 0, 100, std::int64_t{0}, row, std::plus(), {.grain = 1}), std::int64_t{4950} * 4950) << text(sh);
  }
}

}  // namespace
}  // namespace weir::test
