// Independent chains: each task updates the datum of its chain.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class chains {
 public:
  static constexpr shape_info info = {.name = "chains",
                                      .description = "chains of 20 tasks that update one datum each",
                                      .size = 64,
                                      .unit = "chains"};

  chains(Runtime& rt, const problem& p) : rt_(rt), p_(p), data_(rt.make(p.size)) {}

  void run() {
    for (std::size_t step = 0; step < 20; step++)
      for (std::size_t i = 0; i < data_.size(); i++) rt_.spawn(inout(data_[i]), p_.updates(step));
  }
  word result() { return rt_.checksum(data_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> data_;
};

}  // namespace weir::bench::shapes
