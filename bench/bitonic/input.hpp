// The numbers bitonic sorts.
#pragma once

#include <bench/common/kernel.hpp>

#include <cstdint>

namespace weir::bench {

namespace sorting {

// Any 64-bit integer, by its index; a hash (splitmix64).
inline std::uint64_t input_value(std::uint64_t seed, std::size_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace sorting

// The value is a std::vector<std::uint64_t>: the sorted numbers.
serial_result solve_bitonic(const configuration&);

}  // namespace weir::bench
