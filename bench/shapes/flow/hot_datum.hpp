// One datum that all tasks of a round read, and one task rewrites between rounds.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class hot_datum {
 public:
  static constexpr shape_info info = {.name = "hot-datum",
                                      .description = "16 rounds: one task rewrites a datum, all tasks read it",
                                      .size = 64,
                                      .unit = "readers"};

  hot_datum(Runtime& rt, const problem& p) : rt_(rt), p_(p), hot_(rt.make(1)), own_(rt.make(p.size)) {}

  void run() {
    for (std::size_t round = 0; round < 16; round++) {
      rt_.spawn(inout(hot_[0]), p_.updates(round));
      for (std::size_t i = 0; i < own_.size(); i++) rt_.spawn(in(hot_[0]), inout(own_[i]), p_.updates(i));
    }
  }
  word result() { return rt_.checksum(own_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> hot_, own_;
};

}  // namespace weir::bench::shapes
