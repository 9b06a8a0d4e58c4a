// A stencil in one dimension and in place: a block needs its neighbours as they are by then.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class stencil {
 public:
  static constexpr shape_info info = {.name = "stencil",
                                      .description = "16 steps over a row of blocks: inout own, in neighbours",
                                      .size = 64,
                                      .unit = "blocks"};

  stencil(Runtime& rt, const problem& p) : rt_(rt), p_(p), x_(rt.make(p.size)) {}

  void run() {
    const std::size_t last = x_.size() - 1;
    for (std::size_t step = 0; step < 16; step++)
      for (std::size_t i = 0; i <= last; i++) {
        if (last == 0) rt_.spawn(inout(x_[i]), p_.updates(step));
        else if (i == 0) rt_.spawn(inout(x_[i]), in(x_[i + 1]), p_.updates(step));
        else if (i == last) rt_.spawn(in(x_[i - 1]), inout(x_[i]), p_.updates(step));
        else rt_.spawn(in(x_[i - 1]), inout(x_[i]), in(x_[i + 1]), p_.updates(step));
      }
  }
  word result() { return rt_.checksum(x_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> x_;
};

}  // namespace weir::bench::shapes
