// The tasks of a tiled Cholesky factorisation.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class cholesky {
 public:
  static constexpr shape_info info = {.name = "cholesky",
                                      .description = "the tasks of a tiled Cholesky factorisation",
                                      .size = 16,
                                      .unit = "tiles a side"};

  cholesky(Runtime& rt, const problem& p) : rt_(rt), p_(p), n_(p.size), tiles_(rt.make(n_ * n_)) {}

  void run() {
    for (std::size_t k = 0; k < n_; k++) {
      rt_.spawn(inout(at(k, k)), p_.updates(k));
      for (std::size_t i = k + 1; i < n_; i++) rt_.spawn(in(at(k, k)), inout(at(i, k)), p_.updates(i));
      for (std::size_t i = k + 1; i < n_; i++) {
        for (std::size_t j = k + 1; j < i; j++)
          rt_.spawn(in(at(i, k)), in(at(j, k)), inout(at(i, j)), p_.updates(i + j));
        rt_.spawn(in(at(i, k)), inout(at(i, i)), p_.updates(i));
      }
    }
  }
  word result() { return rt_.checksum(tiles_); }

 private:
  const typename Runtime::block& at(std::size_t i, std::size_t j) const { return tiles_[i * n_ + j]; }

  Runtime& rt_;
  const problem p_;
  std::size_t n_;
  std::vector<typename Runtime::block> tiles_;
};

}  // namespace weir::bench::shapes
