// The deque alone and under thieves: every item exactly once.
#include "sched/deque.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace weir::sched {
namespace {

using int_deque = deque<int*>;

TEST(deque, a_new_one_is_empty) {
  int_deque d;
  EXPECT_TRUE(d.empty());
  EXPECT_EQ(d.size(), 0u);
  EXPECT_EQ(d.pop(), nullptr);
  EXPECT_FALSE(d.steal());
  EXPECT_FALSE(d.steal().lost_race);
  EXPECT_EQ(d.capacity(), 1024u);
}

TEST(deque, capacity_is_a_power_of_two) {
  EXPECT_EQ(int_deque(0).capacity(), 2u);
  EXPECT_EQ(int_deque(3).capacity(), 4u);
  EXPECT_EQ(int_deque(64).capacity(), 64u);
}

TEST(deque, the_owner_takes_the_newest_and_a_thief_the_oldest) {
  int items[4];
  int_deque d(4);
  for (int& i : items) d.push(&i);
  EXPECT_EQ(d.size(), 4u);
  EXPECT_EQ(d.pop(), &items[3]);
  EXPECT_EQ(d.steal().item, &items[0]);
  EXPECT_EQ(d.pop(), &items[2]);
  EXPECT_EQ(d.steal().item, &items[1]);
  EXPECT_TRUE(d.empty());
  EXPECT_EQ(d.pop(), nullptr);
}

TEST(deque, grows_and_keeps_order) {
  std::vector<int> items(1000);
  int_deque d(2);
  // Indices that are no multiple of the capacity when it grows.
  for (int i = 0; i < 3; i++) {
    d.push(&items[0]);
    EXPECT_EQ(d.steal().item, &items[0]);
  }
  for (int& i : items) d.push(&i);
  EXPECT_EQ(d.size(), items.size());
  EXPECT_EQ(d.capacity(), 1024u);
  for (std::size_t i = 0; i < items.size() / 2; i++) {
    ASSERT_EQ(d.steal().item, &items[i]);
    ASSERT_EQ(d.pop(), &items[items.size() - 1 - i]);
  }
  EXPECT_TRUE(d.empty());
}

TEST(deque, does_not_grow_when_items_come_and_go) {
  int item = 0;
  int_deque d(4);
  for (int i = 0; i < 100; i++) {
    d.push(&item);
    d.push(&item);
    EXPECT_NE(d.pop(), nullptr);
    EXPECT_TRUE(d.steal());
  }
  EXPECT_EQ(d.capacity(), 4u);
}

// One owner that pushes and pops in bursts, thieves that take what they can: every item exactly once.
TEST(deque_stress, every_item_is_taken_exactly_once) {
  constexpr std::size_t count = 2'000'000;
  constexpr int thieves = 3;
  std::vector<int> items(count);
  std::vector<atomic<int>> taken(count);
  int_deque d(2);
  atomic<bool> over{false};
  auto take = [&](int* i) { taken[static_cast<std::size_t>(i - items.data())].fetch_add(1, std::memory_order_relaxed); };

  std::vector<std::size_t> stolen(thieves);
  std::vector<std::thread> threads;
  for (int t = 0; t < thieves; t++)
    threads.emplace_back([&, t] {
      while (!over.load(std::memory_order_acquire)) {
        if (auto got = d.steal()) {
          EXPECT_EQ(*got.item, 1);  // what the owner wrote before it pushed
          take(got.item);
          stolen[static_cast<std::size_t>(t)]++;
        } else {
          std::this_thread::yield();
        }
      }
    });

  std::size_t next = 0;
  std::size_t popped = 0;
  for (std::size_t burst = 1; next < count; burst = burst % 7 + 1) {
    for (std::size_t i = 0; i < 2 * burst && next < count; i++) {
      items[next] = 1;
      d.push(&items[next++]);
    }
    for (std::size_t i = 0; i < burst; i++)
      if (int* got = d.pop()) take(got), popped++;
  }
  while (int* got = d.pop()) take(got), popped++;
  over.store(true, std::memory_order_release);
  for (auto& t : threads) t.join();

  std::size_t total = popped;
  for (std::size_t s : stolen) total += s;
  EXPECT_EQ(total, count);
  for (std::size_t i = 0; i < count; i++) ASSERT_EQ(taken[i].load(std::memory_order_relaxed), 1) << "item " << i;
}

}  // namespace
}  // namespace weir::sched
