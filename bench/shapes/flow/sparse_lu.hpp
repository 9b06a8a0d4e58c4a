// LU of a sparse matrix of blocks without pivoting; blocks that become non-zero are filled in, as in BOTS.
#pragma once

#include <bench/shapes/shape.hpp>

#include <cstddef>
#include <vector>

namespace weir::bench::shapes {

template <class Runtime>
class sparse_lu {
 public:
  static constexpr shape_info info = {.name = "sparse-lu",
                                      .description = "LU of a matrix of which about a third of the blocks is not zero",
                                      .size = 18,
                                      .unit = "blocks a side"};

  sparse_lu(Runtime& rt, const problem& p) : rt_(rt), p_(p), n_(p.size), there_(n_ * n_) {
    for (std::size_t i = 0; i < n_; i++)
      for (std::size_t j = 0; j < n_; j++) there_[i * n_ + j] = i == j || mixed(i * n_ + j + p.seed) % 3 == 0;
    blocks_ = rt.make(n_ * n_);
  }

  void run() {
    for (std::size_t k = 0; k < n_; k++) {
      rt_.spawn(inout(at(k, k)), p_.updates(k));
      for (std::size_t j = k + 1; j < n_; j++)
        if (is(k, j)) rt_.spawn(in(at(k, k)), inout(at(k, j)), p_.updates(j));
      for (std::size_t i = k + 1; i < n_; i++)
        if (is(i, k)) rt_.spawn(in(at(k, k)), inout(at(i, k)), p_.updates(i));
      for (std::size_t i = k + 1; i < n_; i++)
        for (std::size_t j = k + 1; j < n_; j++)
          if (is(i, k) && is(k, j)) update(i, j, k);
    }
  }
  word result() { return rt_.checksum(blocks_); }

 private:
  void update(std::size_t i, std::size_t j, std::size_t k) {
    there_[i * n_ + j] = true;
    rt_.spawn(in(at(i, k)), in(at(k, j)), inout(at(i, j)), p_.updates(i + j));
  }
  bool is(std::size_t i, std::size_t j) const { return there_[i * n_ + j]; }
  const typename Runtime::block& at(std::size_t i, std::size_t j) const { return blocks_[i * n_ + j]; }

  Runtime& rt_;
  const problem p_;
  std::size_t n_;
  std::vector<bool> there_;  // the block is not zero
  std::vector<typename Runtime::block> blocks_;
};

}  // namespace weir::bench::shapes
