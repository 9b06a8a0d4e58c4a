// Programs over ranges for minutes: ctest -L long
#include "tests/oracle/random_ranges.hpp"

namespace weir::test {
namespace {

TEST(random_ranges_long, as_in_sequence) { try_random_programs(effort(100'000)); }
TEST(random_ranges_long, of_several_creators_in_bytes_of_their_own) { try_programs_beside_each_other(effort(1'500)); }
TEST(random_ranges_long, of_several_creators_on_the_same_bytes) { try_creators_on_shared_memory(effort(1'500)); }

}  // namespace
}  // namespace weir::test
