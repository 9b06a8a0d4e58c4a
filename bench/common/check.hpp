// Arithmetic on sizes that users type: saturating, so that an overflow is more than any memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

namespace weir::bench {

inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

inline std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// Product of all factors and `unit`.
inline std::uint64_t saturating_product(std::span<const std::size_t> factors, std::uint64_t unit) {
  for (std::size_t f : factors) unit = saturating_multiply(unit, f);
  return unit;
}

// Bytes this process may still allocate: what the system has available, and what its cgroup grants.
std::uint64_t available_memory();

// "1.5 GiB"; "more than 2^64 bytes" for the saturated value.
std::string format_bytes(std::uint64_t bytes);

}  // namespace weir::bench
