// The deque alone and under thieves: every item exactly once.
#include "sched/deque.hpp"

#include <gtest/gtest.h>

#include <array>
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

TEST(deque, a_thief_takes_the_oldest_only_if_it_wants_it) {
  int items[2];
  int_deque d(2);
  EXPECT_EQ(d.first(), nullptr);
  for (int& i : items) d.push(&i);
  const auto wants = [&](int i) { return [&, i](int* it) { return it == &items[i]; }; };
  EXPECT_EQ(d.first(), &items[0]);
  EXPECT_FALSE(d.steal(wants(1)));
  EXPECT_FALSE(d.steal(wants(1)).lost_race);
  EXPECT_EQ(d.first(), &items[0]);
  EXPECT_EQ(d.steal(wants(0)).item, &items[0]);
  EXPECT_EQ(d.first(), &items[1]);
  EXPECT_EQ(d.steal(wants(1)).item, &items[1]);
  EXPECT_EQ(d.first(), nullptr);
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

TEST(deque, thieves_may_take_several_at_once) {
  int items[10];
  int_deque d(2, 4);
  std::array<int*, 8> got{};
  EXPECT_EQ(d.steal_some(got), 0u);
  for (int& i : items) d.push(&i);
  EXPECT_EQ(d.steal_some({got.data(), 0}), 0u);
  EXPECT_EQ(d.steal_some({got.data(), 3}), 3u);
  for (int i = 0; i < 3; i++) EXPECT_EQ(got[static_cast<std::size_t>(i)], &items[i]);
  EXPECT_EQ(d.steal_some(got), 4u);  // not more, though there is room
  for (int i = 0; i < 4; i++) EXPECT_EQ(got[static_cast<std::size_t>(i)], &items[3 + i]);
  EXPECT_EQ(d.steal_some(got), 3u);
  EXPECT_EQ(got[2], &items[9]);
  EXPECT_TRUE(d.empty());
  EXPECT_TRUE(d.is_valid());
}

TEST(deque, the_last_that_thieves_may_take_at_once_are_not_popped) {
  int items[5];
  int_deque d(8, 3);
  for (int& i : items) d.push(&i);
  EXPECT_EQ(d.pop_beyond_thieves(), &items[4]);
  EXPECT_EQ(d.pop_beyond_thieves(), &items[3]);
  EXPECT_EQ(d.pop_beyond_thieves(), nullptr);
  EXPECT_EQ(d.size(), 3u);
  EXPECT_EQ(d.steal().item, &items[0]);
  EXPECT_EQ(d.pop_beyond_thieves(), nullptr);
  std::array<int*, 3> got{};
  EXPECT_EQ(d.steal_some(got), 2u);
  EXPECT_EQ(got[1], &items[2]);
  EXPECT_EQ(d.pop_beyond_thieves(), nullptr);
  EXPECT_TRUE(d.empty());
}

// One owner that pushes and pops in bursts, and thieves: every item exactly once.
struct stress {
  static constexpr std::size_t count = 2'000'000;
  static constexpr std::size_t thieves = 3;
  std::vector<int> items = std::vector<int>(count);
  std::vector<atomic<int>> taken = std::vector<atomic<int>>(count);
  int_deque d;

  const int most_stolen;

  explicit stress(int at_once = 1) : d(2, at_once), most_stolen(at_once) {}
  const int* pop() {
    if (most_stolen == 1) return d.pop();
    if (const int* got = d.pop_beyond_thieves()) return got;
    return d.steal().item;
  }
  std::size_t index_of(const int* i) const { return static_cast<std::size_t>(i - items.data()); }
  void take(const int* i) {
    EXPECT_EQ(*i, 1);  // what the owner wrote before it pushed
    taken[index_of(i)].fetch_add(1, std::memory_order_relaxed);
  }
  void own() {
    std::size_t next = 0;
    for (std::size_t burst = 1; next < count; burst = burst % 7 + 1) {
      for (std::size_t i = 0; i < 2 * burst && next < count; i++) {
        items[next] = 1;
        d.push(&items[next++]);
      }
      for (std::size_t i = 0; i < burst; i++)
        if (const int* got = pop()) take(got);
    }
    while (!d.empty())
      if (const int* got = pop()) take(got);
  }
  // steal(t) is what thief t does again and again; it yields after what was in vain.
  template <class Steal>
  void run(Steal&& steal) {
    atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < thieves; t++)
      threads.emplace_back([&, t] {
        while (!over.load(std::memory_order_acquire))
          if (const int* got = steal(t)) take(got);
          else std::this_thread::yield();
      });
    own();
    over.store(true, std::memory_order_release);
    for (auto& t : threads) t.join();
    for (std::size_t i = 0; i < count; i++) ASSERT_EQ(taken[i].load(std::memory_order_relaxed), 1) << "item " << i;
  }
};

TEST(deque_stress, every_item_is_taken_exactly_once) {
  stress s;
  s.run([&](std::size_t) { return s.d.steal().item; });
}

// Some take one, others as many as they may.
TEST(deque_stress, thieves_that_take_several_at_once) {
  stress s(5);
  s.run([&](std::size_t thief) -> const int* {
    std::array<int*, 8> some{};
    const std::size_t n = s.d.steal_some({some.data(), 3 * thief + 1});
    for (std::size_t i = 1; i < n; i++) s.take(some[i]);
    return n > 0 ? some[0] : nullptr;
  });
}

// Each thief wants its own items only, and none gets another's. They look at what is first before they try.
TEST(deque_stress, thieves_that_are_choosy) {
  stress s;
  s.run([&](std::size_t thief) -> const int* {
    const auto wants = [&](const int* i) { return i != nullptr && s.index_of(i) % stress::thieves == thief; };
    if (!wants(s.d.first())) return nullptr;
    const int* const got = s.d.steal(wants).item;
    EXPECT_TRUE(got == nullptr || wants(got));
    return got;
  });
}

}  // namespace
}  // namespace weir::sched
