// Two chains of long tasks, whatever the number of workers.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class long_chains {
 public:
  static constexpr shape_info info = {.name = "long-chains",
                                      .description = "two chains of tasks 250 times as long",
                                      .size = 6,
                                      .unit = "tasks a chain"};

  long_chains(Runtime& rt, const problem& p) : rt_(rt), p_(p), data_(rt.make(2)) {}

  void run() {
    constexpr std::uint64_t times = 250;
    for (std::size_t step = 0; step < p_.size; step++)
      for (const auto& d : data_) rt_.spawn(inout(d), p_.updates(step, times));
  }
  word result() { return rt_.checksum(data_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> data_;
};

}  // namespace weir::bench::shapes
