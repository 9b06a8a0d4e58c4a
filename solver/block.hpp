// Small dense blocks, column by column, as the kernels use them. B = 1 is a number.
#pragma once

#include <weir/solver/matrix.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace weir::solver::detail {

template <int B>
inline constexpr std::ptrdiff_t block_numbers = std::ptrdiff_t{B} * B;

// to = from. A loop: as a call for memory it would keep the sums of the kernels out of the registers.
template <int B>
inline void copy(const double* from, double* to) {
  for (int r = 0; r < B; r++) to[r] = from[r];
}

// y = A x for a block and B elements each.
template <int B>
inline void product(double* __restrict y, const double* __restrict a, const double* __restrict x) {
  double sum[B];  // in registers, which y may not be
  for (int r = 0; r < B; r++) sum[r] = a[r] * x[0];
  for (int c = 1; c < B; c++)
    for (int r = 0; r < B; r++) sum[r] += a[c * B + r] * x[c];
  copy<B>(sum, y);
}

// sum += A x and sum -= A x. The product is put together beside the sum, so that sums of many products wait for one
// addition a block.
template <int B>
inline void add_product(double* __restrict sum, const double* __restrict a, const double* __restrict x) {
  double y[B];
  product<B>(y, a, x);
  for (int r = 0; r < B; r++) sum[r] += y[r];
}
template <int B>
inline void subtract_product(double* __restrict sum, const double* __restrict a, const double* __restrict x) {
  double y[B];
  product<B>(y, a, x);
  for (int r = 0; r < B; r++) sum[r] -= y[r];
}

// c -= a b for three blocks.
template <int B>
inline void subtract_product_of_blocks(double* __restrict c, const double* __restrict a, const double* __restrict b) {
  for (int column = 0; column < B; column++) subtract_product<B>(c + column * B, a, b + column * B);
}

// Calls f(std::integral_constant<int, B>) for the block size at hand. Throws matrix_error where there are no such kernels.
template <class F>
decltype(auto) with_block(int block, F&& f) {
  switch (block) {
    case 1: return f(std::integral_constant<int, 1>());
    case 2: return f(std::integral_constant<int, 2>());
    case 3: return f(std::integral_constant<int, 3>());
    case 4: return f(std::integral_constant<int, 4>());
    case 5: return f(std::integral_constant<int, 5>());
  }
  throw matrix_error("blocks of " + std::to_string(block) + " x " + std::to_string(block) + " numbers: expected 1 to " + std::to_string(largest_block) + " rows");
}

}  // namespace weir::solver::detail
