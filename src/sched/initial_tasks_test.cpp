// Initial tasks of nodes: what others see of them without a look at each queue.
#include "sched/initial_tasks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace weir::sched {
namespace {

// Words of 32 nodes, and more than one line of them.
constexpr std::size_t nodes = 1100;

TEST(initial_tasks, say_which_nodes_hold_any) {
  initial_tasks_of_nodes all(nodes);
  for (const std::size_t n : {0u, 31u, 32u, 511u, 512u, 1099u}) {
    std::array<frame, 3> frames;
    EXPECT_FALSE(all.any_in(n));
    all[n].push(&frames[0]);
    all[n].push_first(&frames[1]);
    all[n].push(&frames[2]);
    for (std::size_t other = 0; other < nodes; other++) EXPECT_EQ(all.any_in(other), other == n) << other;
    EXPECT_EQ(all[n].pop(), &frames[1]);
    EXPECT_TRUE(all.any_in(n));
    EXPECT_EQ(all[n].pop(), &frames[0]);
    EXPECT_TRUE(all.any_in(n));
    EXPECT_EQ(all[n].pop(), &frames[2]);
    EXPECT_FALSE(all.any_in(n));
    EXPECT_EQ(all[n].pop(), nullptr);
    EXPECT_FALSE(all.any_in(n));
  }
}

// What one thread has pushed is seen in the end, however others push and take beside it, in the same word.
TEST(initial_tasks, of_nodes_that_share_a_word_are_told_apart) {
  constexpr int rounds = 20'000;
  initial_tasks_of_nodes all(2);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < 2; n++)
    threads.emplace_back([&all, n] {
      frame f;
      for (int i = 0; i < rounds; i++) {
        i % 2 == 0 ? all[n].push(&f) : all[n].push_first(&f);
        ASSERT_TRUE(all.any_in(n));
        ASSERT_EQ(all[n].pop(), &f);
        ASSERT_FALSE(all.any_in(n));
      }
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace weir::sched
