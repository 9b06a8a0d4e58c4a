// What assertions do where they are on, and that they are nothing where they are off.
#include "base/base.hpp"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(assertions, a_broken_invariant_ends_the_program) {
#ifdef NDEBUG
  GTEST_SKIP() << "this build has no assertions";
#else
  const int two = 2;
  EXPECT_DEATH(WEIR_ASSERT(two == 3), "assert_test.cpp:[0-9]+: invariant broken: two == 3");
#endif
}

TEST(assertions, where_they_are_off_nothing_is_evaluated) {
  int evaluated = 0;
  WEIR_ASSERT(++evaluated == 1);
#ifdef NDEBUG
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_EQ(evaluated, 1);
#endif
}

}  // namespace
}  // namespace weir
