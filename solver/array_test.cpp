// Arrays and the pages they are in.
#include <weir/solver/array.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

namespace weir::solver {
namespace {

constexpr std::size_t large = 3 << 20, small = 1000;  // doubles

// What the kernel says of the mapping that has this address; "" if it does not tell.
std::string flags_of(const void* address) {
  std::ifstream mappings("/proc/self/smaps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool here = false;
  for (std::string line; std::getline(mappings, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-') here = begin <= wanted && wanted < end;
    if (here && line.starts_with("VmFlags:")) return line + ' ';
  }
  return "";
}

TEST(in_small_pages, a_large_array_moves_and_keeps_its_values) {
  array<double> a(large);
  std::iota(a.begin(), a.end(), 1.0);
  const array<double> before = a;
  const double* const first = a.data();
  {
    const in_small_pages moved(a);
    ASSERT_EQ(a.size(), before.size());
    EXPECT_NE(a.data(), first);
    // In the middle: the ends of the array may share a mapping with others.
    const std::string flags = flags_of(a.data() + large / 2), were = flags_of(before.data() + large / 2);
    if (were.find(" hg ") != std::string::npos) { EXPECT_NE(flags.find(" nh "), std::string::npos) << flags; }
  }
  EXPECT_EQ(a, before);
}

TEST(in_small_pages, a_small_one_stays) {
  array<double> a(small, 2.0);
  const double* const first = a.data();
  {
    const in_small_pages stays(a);
    EXPECT_EQ(a.data(), first);
    a[1] = 3;
  }
  EXPECT_EQ(a.data(), first);
  EXPECT_EQ(a[1], 3);
}

}  // namespace
}  // namespace weir::solver
