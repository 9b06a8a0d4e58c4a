// The inbox alone and under many producers and consumers: every item exactly once.
#include "sched/inbox.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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

TEST(inbox, the_oldest_is_taken_only_if_it_is_wanted) {
  int items[2];
  int_inbox box(2);
  EXPECT_EQ(box.first(), nullptr);
  for (int& i : items) EXPECT_TRUE(box.try_push(&i));
  const auto wants = [&](int i) { return [&, i](int* it) { return it == &items[i]; }; };
  EXPECT_EQ(box.first(), &items[0]);
  EXPECT_EQ(box.try_pop(wants(1)), nullptr);
  EXPECT_EQ(box.first(), &items[0]);
  EXPECT_EQ(box.try_pop(wants(0)), &items[0]);
  EXPECT_EQ(box.first(), &items[1]);
  EXPECT_EQ(box.try_pop(wants(1)), &items[1]);
  EXPECT_EQ(box.first(), nullptr);
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

// pop(box, c) is what consumer c does until all items have arrived; it yields after what was in vain.
template <class Pop>
void every_item_arrives_exactly_once(const std::size_t per_producer, Pop&& pop) {
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
    threads.emplace_back([&, c] {
      // Items of one producer arrive in order.
      std::vector<int*> newest(producers, nullptr);
      while (left.load(std::memory_order_relaxed) > 0) {
        int* got = pop(box, c);
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
  for (std::size_t i = 0; i < items.size(); i++)
    ASSERT_EQ(taken[i].load(std::memory_order_relaxed), 1) << "item " << i;
}

TEST(inbox_stress, every_item_arrives_exactly_once) {
  every_item_arrives_exactly_once(60'000, [](int_inbox& box, std::size_t) { return box.try_pop(); });
}

// Each consumer wants its own items only, and none gets another's. They look at what is first before they try.
TEST(inbox_stress, consumers_that_are_choosy) {
  // Fewer: most wait until a certain consumer has a CPU.
  every_item_arrives_exactly_once(2'000, [](int_inbox& box, std::size_t consumer) -> int* {
    const auto wants = [&](const int* i) { return reinterpret_cast<std::uintptr_t>(i) / sizeof(int) % 2 == consumer; };
    if (!wants(box.first())) return nullptr;
    int* const got = box.try_pop(wants);
    EXPECT_TRUE(got == nullptr || wants(got));
    return got;
  });
}

}  // namespace
}  // namespace weir::sched
