// Random programs over ranges of memory against their sequential runs; random_ranges_long_test.cpp tries more of them.
#include "tests/oracle/random_ranges.hpp"

namespace weir::test {
namespace {

TEST(random_ranges, as_in_sequence) { try_random_programs(effort(4'000)); }
TEST(random_ranges, of_several_creators_in_bytes_of_their_own) { try_programs_beside_each_other(effort(40)); }
TEST(random_ranges, of_several_creators_on_the_same_bytes) { try_creators_on_shared_memory(effort(40)); }

}  // namespace
}  // namespace weir::test
