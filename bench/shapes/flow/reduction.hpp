// A reduction as a tree: the leaves are computed, then each pair becomes one.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class reduction {
 public:
  static constexpr shape_info info = {.name = "reduction",
                                      .description = "blocks are updated, then reduced by a binary tree",
                                      .size = 512,
                                      .unit = "blocks"};

  reduction(Runtime& rt, const problem& p) : rt_(rt), p_(p), x_(rt.make(p.size)) {}

  void run() {
    for (std::size_t i = 0; i < x_.size(); i++) rt_.spawn(inout(x_[i]), p_.updates(i));
    for (std::size_t stride = 1; stride < x_.size(); stride *= 2)
      for (std::size_t i = 0; i + stride < x_.size(); i += 2 * stride)
        rt_.spawn(inout(x_[i]), in(x_[i + stride]), p_.updates(stride));
  }
  word result() { return rt_.checksum(x_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> x_;
};

}  // namespace weir::bench::shapes
