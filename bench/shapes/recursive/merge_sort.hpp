// Merge sort of an array: the halves are sorted by two tasks, then merged by the one that waited for them.
#pragma once

#include <bench/shapes/shape.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class merge_sort {
 public:
  static constexpr shape_info info = {.name = "merge-sort",
                                      .description = "an array is sorted by halves; a task sorts each piece of 512",
                                      .size = 256,
                                      .unit = "pieces",
                                      .recursive = true};

  merge_sort(Runtime& rt, const problem& p)
      : rt_(rt), p_(p), array_(rt.memory(p.size * piece)), other_(rt.memory(p.size * piece)) {}

  void run() { sort(array_.words(), other_.words()); }
  word result() const {
    word sum = 0;
    for (const word x : array_.words()) sum = mixed(sum + x);
    return sum;
  }

 private:
  static constexpr std::size_t piece = 512;

  void sort(std::span<word> values, std::span<word> scratch) {
    if (values.size() <= piece) {
      compute_for(p_.iterations);
      std::ranges::sort(values);
      return;
    }
    const std::size_t half = values.size() / 2;
    typename Runtime::group halves(rt_);
    halves.spawn([=, this] { sort(values.first(half), scratch.first(half)); });
    halves.spawn([=, this] { sort(values.subspan(half), scratch.subspan(half)); });
    halves.wait();
    std::ranges::merge(values.first(half), values.subspan(half), scratch.begin());
    std::ranges::copy(scratch, values.begin());
  }

  Runtime& rt_;
  const problem p_;
  typename Runtime::array array_, other_;
};

}  // namespace weir::bench::shapes
