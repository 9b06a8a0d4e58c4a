// Time steps with two buffers, in which every block reads all blocks of the step before.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class n_body {
 public:
  static constexpr shape_info info = {.name = "n-body",
                                      .description = "6 steps: a block is written from all blocks of the step before",
                                      .size = 32,
                                      .unit = "blocks"};

  n_body(Runtime& rt, const problem& p) : rt_(rt), p_(p), old_(rt.make(p.size)), next_(rt.make_empty(p.size)) {}

  void run() {
    for (std::size_t step = 0; step < 6; step += 2) {
      advance(old_, next_);
      advance(next_, old_);
    }
  }
  word result() { return rt_.checksum(old_); }

 private:
  using blocks = std::vector<typename Runtime::block>;

  void advance(const blocks& from, const blocks& to) {
    for (std::size_t i = 0; i < to.size(); i++) rt_.spawn(in(from), out(to[i]), p_.produces(i));
  }

  Runtime& rt_;
  const problem p_;
  blocks old_, next_;
};

}  // namespace weir::bench::shapes
