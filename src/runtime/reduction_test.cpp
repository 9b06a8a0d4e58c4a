// When the results of a reduction's chunks are combined, by whom. That all are, and in order: loop_model.cpp.
#include <weir/detail/reduction.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace weir::detail {
namespace {

struct counted_sum {
  int* calls;
  int operator()(int left, int right) const { return ++*calls, left + right; }
};
constexpr auto one = [](std::uint64_t) { return 1; };

// Who ends last has little to do then: what others' results wait for was brought as soon as it was complete.
TEST(reduction, brings_what_it_began_with_before_the_end) {
  int calls = 0;
  const counted_sum sum{&calls};
  reduction<int, counted_sum> results(16, 0, sum);
  reduction<int, counted_sum>::stretch first(results.share()), second(results.share());
  first.add(0, 6, one);
  first.bring();
  EXPECT_EQ(calls, 4);  // of 0 to 3, and of 4 and 5
  second.add(6, 8, one);
  EXPECT_EQ(calls, 7);  // 6 and 7; with 4 and 5; with 0 to 3
  second.add(8, 15, one);
  second.add(15, 16, one);
  second.bring();
  EXPECT_EQ(calls, 16);  // for each chunk once, the identity's included
  EXPECT_EQ(results.take(), 16);
}

// Neighbours are combined without a flag, and so at once.
TEST(reduction, combines_runs_that_follow_each_other) {
  int calls = 0;
  const counted_sum sum{&calls};
  reduction<int, counted_sum> results(8, 0, sum);
  reduction<int, counted_sum>::stretch all(results.share());
  for (std::uint64_t c = 0; c < 8; c++) all.add(c, c + 1, one);
  EXPECT_EQ(calls, 7);
  all.bring();
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(results.take(), 8);
}

}  // namespace
}  // namespace weir::detail
