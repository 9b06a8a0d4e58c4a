// That who always has something better to do looks everywhere all the same, and how often.
#include "engine/threads/sweep.hpp"

#include <gtest/gtest.h>

namespace weir::engine {
namespace {

constexpr int places = 5;
constexpr std::uint64_t ns_a_place = 100;

int looks_in_time(sweep& s, std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t step_ns) {
  int looks = 0;
  for (std::uint64_t now = from_ns; now < to_ns; now += step_ns)
    while (s.is_due(now, ns_a_place)) {
      s.place = (s.place + 1) % places;
      s.has_looked(now);
      looks++;
    }
  return looks;
}

TEST(sweep, looks_in_one_place_for_each_time_that_passes) {
  sweep s{.began_ns = 1000};
  EXPECT_EQ(looks_in_time(s, 1000, 1100, 10), 0);
  EXPECT_EQ(looks_in_time(s, 1100, 1200, 10), 1);
  EXPECT_EQ(looks_in_time(s, 1200, 101'200, 10), 1000);
}

TEST(sweep, looks_everywhere_once_after_a_long_time) {
  sweep s{.began_ns = 1000};
  EXPECT_EQ(looks_in_time(s, 1'000'000, 1'000'001, 10), places);
  EXPECT_EQ(s.place, 0);
  EXPECT_EQ(s.began_ns, 1'000'000u);
}

TEST(sweep, is_not_due_where_another_clock_is_behind) {
  EXPECT_FALSE((sweep{.place = 0, .began_ns = 1000}.is_due(900, ns_a_place)));
}

}  // namespace
}  // namespace weir::engine
