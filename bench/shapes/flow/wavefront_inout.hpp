// The wavefront as some ports have it: all three accesses are inout.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class wavefront_inout {
 public:
  static constexpr shape_info info = {.name = "wavefront-inout",
                                      .description = "tiles from the upper left: inout own, left and above",
                                      .size = 32,
                                      .unit = "tiles a side"};

  wavefront_inout(Runtime& rt, const problem& p) : rt_(rt), p_(p), tiles_(rt.make(p.size * p.size)) {}

  void run() {
    const std::size_t n = p_.size;
    for (std::size_t i = 0; i < n; i++)
      for (std::size_t j = 0; j < n; j++) {
        const std::size_t own = i * n + j;
        if (i == 0 && j == 0) rt_.spawn(inout(tiles_[own]), p_.updates(own));
        else if (i == 0) rt_.spawn(inout(tiles_[own]), inout(tiles_[own - 1]), p_.updates(own));
        else if (j == 0) rt_.spawn(inout(tiles_[own]), inout(tiles_[own - n]), p_.updates(own));
        else rt_.spawn(inout(tiles_[own]), inout(tiles_[own - 1]), inout(tiles_[own - n]), p_.updates(own));
      }
  }
  word result() { return rt_.checksum(tiles_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> tiles_;
};

}  // namespace weir::bench::shapes
