// nstream: a += b + s * c on long vectors, again and again, so that nothing but memory is measured. The kernel of the
// same name of the Parallel Research Kernels (Van der Wijngaart and Mattson, HPEC 2014), which is the triad of STREAM
// (McCalpin, 1995) with one more read.
#pragma once

#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/stencil/padded_array.hpp>
#include <bench/common/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace weir::bench::nstream {

inline constexpr double scalar = 3;

inline void triad(std::span<double> a, std::span<const double> b, std::span<const double> c) {
  for (std::size_t i = 0; i < a.size(); i++) a[i] += b[i] + scalar * c[i];
}

// The three vectors, cut into blocks. Nobody has written them.
class vectors {
 public:
  explicit vectors(const configuration& c)
      : size_(c.size[0]), block_(c.block[0]), seed_(c.seed), a_(size_), b_(size_), c_(size_) {}

  std::size_t parts() const { return (size_ + block_ - 1) / block_; }
  std::span<double> a(std::size_t block) const { return block_of(a_, block); }
  std::span<double> b(std::size_t block) const { return block_of(b_, block); }
  std::span<double> c(std::size_t block) const { return block_of(c_, block); }

  void fill(std::size_t block) const {
    std::ranges::fill(a(block), 0.0);
    for (std::size_t i = 0; i < b(block).size(); i++) {
      b(block)[i] = stencil::initial_value(seed_, 2 * (block * block_ + i));
      c(block)[i] = stencil::initial_value(seed_, 2 * (block * block_ + i) + 1);
    }
  }
  void iterate(std::size_t block) const { triad(a(block), b(block), c(block)); }

  verification verify(const std::any& expected) const {
    return compare_bits(a_.span(), std::any_cast<const std::vector<double>&>(expected));
  }
  std::vector<std::span<std::byte>> memory() const {
    return {std::as_writable_bytes(a_.span()), std::as_writable_bytes(b_.span()), std::as_writable_bytes(c_.span())};
  }

 private:
  std::span<double> block_of(const own_array<double>& x, std::size_t block) const {
    return x.part(block * block_, std::min(block_, size_ - block * block_));
  }

  std::size_t size_, block_;
  std::uint64_t seed_;
  own_array<double> a_, b_, c_;
};

}  // namespace weir::bench::nstream

namespace weir::bench {

// The value is a, a std::vector<double>.
serial_result solve_nstream(const configuration&);

}  // namespace weir::bench
