// The inbox alone and under many producers and consumers: every item exactly once.
#include "sched/inbox.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weir::sched {
namespace {

using int_inbox = inbox<int*>;

TEST(inbox, a_new_one_is_empty) {
  int_inbox box;
  EXPECT_EQ(box.capacity(), 64u);
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.size(), 0u);
  EXPECT_EQ(box.try_pop(), nullptr);
}

TEST(inbox, capacity_is_a_power_of_two) {
  EXPECT_EQ(int_inbox(0).capacity(), 2u);
  EXPECT_EQ(int_inbox(5).capacity(), 8u);
}

TEST(inbox, refuses_when_full_and_accepts_again) {
  int items[5];
  int_inbox box(4);
  for (int i = 0; i < 4; i++) EXPECT_TRUE(box.try_push(&items[i]));
  EXPECT_EQ(box.size(), 4u);
  EXPECT_FALSE(box.try_push(&items[4]));
  EXPECT_EQ(box.try_pop(), &items[0]);
  EXPECT_TRUE(box.try_push(&items[4]));
  for (int i = 1; i < 5; i++) {
    EXPECT_FALSE(box.empty());
    EXPECT_EQ(box.try_pop(), &items[i]);
  }
  EXPECT_TRUE(box.empty());
}

TEST(inbox, goes_round_many_times) {
  int items[3];
  int_inbox box(2);
  for (int i = 0; i < 1000; i++) {
    ASSERT_TRUE(box.try_push(&items[i % 3]));
    ASSERT_EQ(box.try_pop(), &items[i % 3]);
    ASSERT_TRUE(box.empty());
  }
}

TEST(inbox_stress, every_item_arrives_exactly_once) {
  constexpr std::size_t per_producer = 60'000;
  constexpr std::size_t producers = 3, consumers = 2;
  std::vector<int> items(producers * per_producer);
  std::vector<atomic<int>> taken(items.size());
  atomic<std::size_t> left{items.size()};
  int_inbox box(16);

  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < producers; p++)
    threads.emplace_back([&, p] {
      for (std::size_t i = p * per_producer; i < (p + 1) * per_producer; i++) {
        items[i] = 1;
        while (!box.try_push(&items[i])) std::this_thread::yield();
      }
    });
  for (std::size_t c = 0; c < consumers; c++)
    threads.emplace_back([&] {
      // Items of one producer arrive in order.
      std::vector<int*> newest(producers, nullptr);
      while (left.load(std::memory_order_relaxed) > 0) {
        int* got = box.try_pop();
        if (got == nullptr) {
          std::this_thread::yield();
          continue;
        }
        EXPECT_EQ(*got, 1);
        const auto index = static_cast<std::size_t>(got - items.data());
        int*& before = newest[index / per_producer];
        EXPECT_LT(before, got);
        before = got;
        taken[index].fetch_add(1, std::memory_order_relaxed);
        left.fetch_sub(1, std::memory_order_relaxed);
      }
    });
  for (auto& t : threads) t.join();
  for (std::size_t i = 0; i < items.size(); i++) ASSERT_EQ(taken[i].load(std::memory_order_relaxed), 1) << "item " << i;
}

}  // namespace
}  // namespace weir::sched
