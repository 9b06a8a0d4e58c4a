// What the probe of profiles loads while it runs.
#include <cstddef>
#include <cstdint>

extern "C" std::uint64_t read_in_library(const volatile std::uint64_t* words, std::size_t lines) {
  std::uint64_t sum = 2;
  for (std::size_t l = 0; l < lines; l++) sum += words[l * 8];
  return sum;
}
