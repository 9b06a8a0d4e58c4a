// Size classes: every size has one, and it wastes little.
#include "memory/size_classes.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace weir::memory {
namespace {

TEST(size_classes, every_size_fits_and_wastes_little) {
  for (std::size_t bytes = 0; bytes <= largest_block_bytes; bytes += bytes < 70'000 ? 1 : 4093) {
    const int c = class_of(bytes);
    ASSERT_GE(c, 0);
    ASSERT_LT(c, class_count);
    const std::size_t block = bytes_of_class(c);
    ASSERT_GE(block, bytes);
    ASSERT_EQ(block % smallest_block_bytes, 0u) << "blocks would share a cache line";
    ASSERT_LE(block - bytes, smallest_block_bytes + (bytes > fine_limit_bytes ? bytes / 4 : 0));
  }
}

TEST(size_classes, grow_and_are_their_own_class) {
  for (int c = 0; c < class_count; c++) {
    EXPECT_EQ(class_of(bytes_of_class(c)), c);
    if (c == 0) continue;
    EXPECT_LT(bytes_of_class(c - 1), bytes_of_class(c));
    EXPECT_EQ(class_of(bytes_of_class(c - 1) + 1), c);
  }
  EXPECT_EQ(bytes_of_class(0), 64u);
  EXPECT_EQ(bytes_of_class(class_count - 1), largest_block_bytes);
}

}  // namespace
}  // namespace weir::memory
