// Streaming: a block is written from another one, and back.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class copies {
 public:
  static constexpr shape_info info = {.name = "copies",
                                      .description = "16 steps: a block is written from its pair of the other array",
                                      .size = 64,
                                      .unit = "pairs"};

  copies(Runtime& rt, const problem& p) : rt_(rt), p_(p), a_(rt.make(p.size)), b_(rt.make_empty(p.size)) {}

  void run() {
    for (std::size_t step = 0; step < 16; step += 2) {
      for (std::size_t i = 0; i < a_.size(); i++) rt_.spawn(in(a_[i]), out(b_[i]), p_.produces(step));
      for (std::size_t i = 0; i < a_.size(); i++) rt_.spawn(in(b_[i]), out(a_[i]), p_.produces(step + 1));
    }
  }
  word result() { return rt_.checksum(a_); }

 private:
  Runtime& rt_;
  const problem p_;
  std::vector<typename Runtime::block> a_, b_;
};

}  // namespace weir::bench::shapes
