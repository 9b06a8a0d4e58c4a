// What the measured code computes, the same under all runtimes, and whether the results are right.
#pragma once

#include <bench/common/compute.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weir::bench::from_main {

inline void expect(bool right) {
  if (!right) throw std::runtime_error("a result is wrong");
}

// y += x / 2, element by element: of those loops the cheapest that a compiler cannot leave out.
struct vectors {
  explicit vectors(std::uint64_t size) : x(size, 1), y(size, 0) {}
  std::vector<double> x, y;
};

// Small whole numbers, whose sum is the same in whatever order they are added.
struct numbers {
  explicit numbers(std::uint64_t size) : values(size), sum(static_cast<double>(size * (size - 1) / 2)) {
    std::iota(values.begin(), values.end(), 0.0);
  }
  std::vector<double> values;
  double sum;
};

// a = b + 3 c, several times.
class triad_arrays {
 public:
  struct part {
    double *a, *b, *c;
    void fill(std::uint64_t i) const { a[i] = 0, b[i] = static_cast<double>(i), c[i] = 1; }
    void compute(std::uint64_t i) const { a[i] = b[i] + 3 * c[i]; }
  };

  explicit triad_arrays(std::uint64_t size)
      : memory_(std::make_unique_for_overwrite<double[]>(3 * size)), size_(size) {}

  // Nobody has touched the memory before `fill`, which is called the first time only.
  template <class Fill, class Compute>
  void use(const Fill& fill, const Compute& compute) {
    const part all{memory_.get(), memory_.get() + size_, memory_.get() + 2 * size_};
    const bool first = !std::exchange(is_filled_, true);
    if (first) fill(all);
    compute(all);
    if (!first) return;
    for (std::uint64_t i = 0; i < size_; i++) expect(all.a[i] == static_cast<double>(i + 3));
  }

 private:
  std::unique_ptr<double[]> memory_;
  std::uint64_t size_;
  bool is_filled_ = false;
};

// Elements that take from 0.1 to 10 us, as many of them less than 1 us as more.
struct uneven_elements {
  uneven_elements(std::uint64_t size, bool ascending) {
    const auto length = static_cast<double>(size);
    for (std::uint64_t i = 0; i < size; i++)
      times.push_back(static_cast<std::uint64_t>(10 * std::pow(100, static_cast<double>(i) / length)));
    if (!ascending) std::ranges::shuffle(times, std::mt19937_64(1));
  }
  // One function for all: its small loop is a tenth faster or slower where it happens to be inlined well or badly.
  [[gnu::noinline]] static void run(std::uint64_t times, std::uint64_t iterations_of_10_ns) {
    for (std::uint64_t i = 0; i < times; i++) compute(iterations_of_10_ns);
  }
  std::vector<std::uint64_t> times;  // 10 ns each
};

// The leaves below each child of a node: what a tree computes is how many leaves it has.
struct leaf_counts {
  static constexpr std::size_t most_children = 10;
  std::array<std::uint64_t, most_children> of{};
  std::uint64_t sum(unsigned children) const {
    return std::accumulate(of.begin(), of.begin() + children, std::uint64_t{0});
  }
};

// All stages are serial, and each keeps the number of the token that it expects next. A token is a number, too, and
// says through how many stages it has gone.
class pipeline_work {
 public:
  static constexpr std::size_t stages = 8;
  pipeline_work(std::uint64_t iterations_of_10_ns, unsigned elements)
      : iterations_(iterations_of_10_ns), elements_(elements) {}

  void begin() {
    for (kept& k : expected_) k.number = 0;
  }
  // As the source makes it.
  static std::uint64_t token(std::uint64_t number) { return number * stages; }
  // The token, which goes on.
  std::uint64_t pass(std::size_t stage, std::uint64_t token) {
    for (unsigned i = 0; i < elements_; i++) compute(iterations_);
    if (token == expected_[stage].number * stages + stage) expected_[stage].number++;
    return token + 1;
  }
  void expect_all(std::uint64_t tokens) const {
    for (const kept& k : expected_) expect(k.number == tokens);
  }

 private:
  struct alignas(128) kept {
    std::uint64_t number = 0;
  };
  const std::uint64_t iterations_;
  const unsigned elements_;
  std::array<kept, stages> expected_;
};

// A grid of 64 columns: each node comes after its neighbours in the row before, and is one more than the least.
class grid_work {
 public:
  static constexpr std::uint64_t columns = 64;
  explicit grid_work(std::uint64_t size) : values_(size / columns * columns) {}

  std::uint64_t size() const { return values_.size(); }
  template <class F>
  void for_each_before(std::uint64_t node, const F& f) const {
    if (node < columns) return;
    const std::uint64_t above = node - columns, column = node % columns;
    if (column > 0) f(above - 1);
    f(above);
    if (column + 1 < columns) f(above + 1);
  }
  // All values grow from run to run, so that who comes too early has one that is too small.
  void begin() { base_ += values_.size() / columns; }
  void run(std::uint64_t node) {
    std::uint64_t least = node < columns ? base_ : ~std::uint64_t{0};
    for_each_before(node, [&](std::uint64_t before) { least = std::min(least, values_[before]); });
    values_[node] = least + 1;
  }
  void expect_all() const {
    for (std::uint64_t i = 0; i < size(); i++) expect(values_[i] == base_ + i / columns + 1);
  }

 private:
  std::vector<std::uint64_t> values_;
  std::uint64_t base_ = 0;
};

// What an empty body has in it, so that no compiler leaves out a loop or a task.
inline void nothing() { asm volatile(""); }
}  // namespace weir::bench::from_main
