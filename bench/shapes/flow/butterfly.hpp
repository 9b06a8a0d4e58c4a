// A butterfly, as in a fast Fourier transform: in each stage pairs of blocks change each other.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class butterfly {
 public:
  static constexpr shape_info info = {.name = "butterfly",
                                      .description = "stages in which pairs of blocks change each other",
                                      .size = 256,
                                      .unit = "blocks"};

  butterfly(Runtime& rt, const problem& p) : rt_(rt), p_(p), x_(rt.make(p.size)) {}

  void run() {
    for (std::size_t distance = 1; distance < x_.size(); distance *= 2)
      for (std::size_t i = 0; i + distance < x_.size(); i++)
        if ((i & distance) == 0) rt_.spawn(inout(x_[i]), inout(x_[i + distance]), p_.updates(i));
  }
  word result() { return rt_.checksum(x_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> x_;
};

}  // namespace weir::bench::shapes
