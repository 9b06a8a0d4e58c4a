// One task writes all data, and many read them.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class one_producer {
 public:
  static constexpr shape_info info = {.name = "one-producer",
                                      .description = "one task writes all blocks; 4 tasks read each of them",
                                      .size = 256,
                                      .unit = "blocks"};

  one_producer(Runtime& rt, const problem& p) : rt_(rt), p_(p), made_(rt.make_empty(p.size)), own_(rt.make(p.size)) {}

  void run() {
    rt_.spawn(out(made_), p_.produces(0));
    for (std::size_t round = 0; round < 4; round++)
      for (std::size_t i = 0; i < own_.size(); i++) rt_.spawn(in(made_[i]), inout(own_[i]), p_.updates(round));
  }
  word result() { return rt_.checksum(own_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> made_, own_;
};

}  // namespace weir::bench::shapes
