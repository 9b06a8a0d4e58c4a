// What the measured code computes, the same under all runtimes, and whether the results are right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
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

// The leaves below each child of a node: what a tree computes is how many leaves it has.
struct leaf_counts {
  static constexpr std::size_t most_children = 10;
  std::array<std::uint64_t, most_children> of{};
  std::uint64_t sum(unsigned children) const {
    return std::accumulate(of.begin(), of.begin() + children, std::uint64_t{0});
  }
};

// What an empty body has in it, so that no compiler leaves out a loop or a task.
inline void nothing() { asm volatile(""); }
}  // namespace weir::bench::from_main
