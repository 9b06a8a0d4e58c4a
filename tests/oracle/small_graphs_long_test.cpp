// The enumerations that take minutes: ctest -L long
#include "small_graphs.hpp"

namespace weir::test {
namespace {

TEST(small_graphs_long, five_tasks_on_two_data) {
  graph_runner runner(effort(100'000));
  enumerate(5, 2, true, runner, sanitized ? 12 : 1);
  std::printf("%zu graphs\n", runner.total());
}

TEST(small_graphs_long, three_tasks_on_three_data_nobody_wrote) {
  graph_runner runner(effort(7'000));
  enumerate(3, 3, false, runner, sanitized ? 12 : 1);
  std::printf("%zu graphs\n", runner.total());
}

TEST(small_graphs_long, four_and_five_tasks_at_random) {
  std::mt19937_64 random(new_seed());
  graph_runner runner(effort(40'000));
  sample(4, effort(1'000'000), random, runner);
  sample(5, effort(1'000'000), random, runner);
}

}  // namespace
}  // namespace weir::test
