// A map over blocks, a barrier, and again.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class map_rounds {
 public:
  static constexpr shape_info info = {.name = "map-rounds",
                                      .description = "16 rounds over blocks, each updated, with a barrier in between",
                                      .size = 64,
                                      .unit = "blocks"};

  map_rounds(Runtime& rt, const problem& p) : rt_(rt), p_(p), x_(rt.make(p.size)) {}

  void run() {
    for (std::size_t round = 0; round < 16; round++) {
      for (const auto& block : x_) rt_.spawn(inout(block), p_.updates(round));
      rt_.wait();
    }
  }
  word result() { return rt_.checksum(x_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> x_;
};

}  // namespace weir::bench::shapes
