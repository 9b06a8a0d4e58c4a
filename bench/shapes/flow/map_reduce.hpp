// Map and reduce, as in k-means: one long task sums up what many have computed, and they need its result.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class map_reduce {
 public:
  static constexpr shape_info info = {.name = "map-reduce",
                                      .description = "8 rounds: blocks are mapped, then reduced by one long task",
                                      .size = 128,
                                      .unit = "blocks"};

  map_reduce(Runtime& rt, const problem& p)
      : rt_(rt), p_(p), input_(rt.make(p.size)), mapped_(rt.make_empty(p.size)), total_(rt.make(1)) {}

  void run() {
    constexpr std::uint64_t times = 8;
    for (std::size_t round = 0; round < 8; round++) {
      for (std::size_t i = 0; i < input_.size(); i++)
        rt_.spawn(in(input_[i]), in(total_[0]), out(mapped_[i]), p_.produces(i));
      rt_.spawn(in(mapped_), inout(total_[0]), p_.updates(round, times));
    }
  }
  word result() { return rt_.checksum(total_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> input_, mapped_, total_;
};

}  // namespace weir::bench::shapes
