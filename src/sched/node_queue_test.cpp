// The container of a node: order, priorities, what does not fit, and many threads at both ends.
#include "sched/node_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weir::sched {
namespace {

TEST(node_queue, first_in_first_out_and_urgent_before_others) {
  node_queue q;
  std::vector<frame> frames(6);
  frames[3].priority = 1;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.pop(), nullptr);
  for (frame& f : frames) q.push(&f);
  EXPECT_FALSE(q.empty());
  EXPECT_TRUE(q.is_valid());
  for (std::size_t i : {3u, 0u, 1u, 2u, 4u, 5u}) EXPECT_EQ(q.pop(), &frames[i]);
  EXPECT_TRUE(q.empty());
}

TEST(node_queue, what_has_most_behind_it_comes_first) {
  node_queue q;
  std::vector<frame> frames(5);
  const std::int8_t priority[] = {-15, -2, 0, -2, 1};
  for (std::size_t i = 0; i < frames.size(); i++) frames[i].priority = priority[i];
  EXPECT_FALSE(q.anything_before(15));
  for (frame& f : frames) q.push(&f);
  EXPECT_EQ(q.size(), frames.size());
  for (const auto& [rank, next] : {std::pair(0, 4), std::pair(1, 2), std::pair(3, 1), std::pair(3, 3), std::pair(16, 0)}) {
    EXPECT_TRUE(q.anything_before(rank)) << next;
    EXPECT_EQ(q.pop(), &frames[static_cast<std::size_t>(next)]);
    EXPECT_FALSE(q.anything_before(-priority[next])) << next;
  }
  EXPECT_TRUE(q.empty());
  EXPECT_TRUE(q.is_valid());
}

TEST(node_queue, more_than_the_ring_holds_is_kept) {
  node_queue q;
  std::vector<frame> frames(10000);
  for (std::size_t i = 0; i < frames.size(); i++) frames[i].priority = i % 3 == 0 ? 1 : 0;
  for (frame& f : frames) q.push(&f);
  EXPECT_TRUE(q.is_valid());
  std::size_t urgent = 0, all = 0;
  while (frame* f = q.pop()) {
    all++;
    urgent += f->priority > 0 ? 1 : 0;
    f->priority = -1;  // each once
  }
  EXPECT_EQ(all, frames.size());
  EXPECT_EQ(urgent, (frames.size() + 2) / 3);
  EXPECT_TRUE(q.is_valid());
  for (const frame& f : frames) EXPECT_EQ(f.priority, -1);
  EXPECT_TRUE(q.empty());
}

TEST(node_queue_stress, every_task_arrives_exactly_once) {
  constexpr std::size_t per_producer = 20'000, producers = 3, consumers = 2;
  std::vector<frame> frames(producers * per_producer);
  std::vector<atomic<int>> taken(frames.size());
  atomic<std::size_t> left{frames.size()};
  node_queue q;
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < producers; p++)
    threads.emplace_back([&, p] {
      for (std::size_t i = 0; i < per_producer; i++) {
        frame& f = frames[p * per_producer + i];
        f.priority = i % 100 == 0 ? 1 : static_cast<std::int8_t>(-static_cast<int>(i % node_queue::ranks));
        q.push(&f);
      }
    });
  for (std::size_t c = 0; c < consumers; c++)
    threads.emplace_back([&] {
      while (left.load(std::memory_order_relaxed) > 0) {
        frame* f = q.pop();
        if (f == nullptr) {
          std::this_thread::yield();
          continue;
        }
        taken[static_cast<std::size_t>(f - frames.data())].fetch_add(1, std::memory_order_relaxed);
        left.fetch_sub(1, std::memory_order_relaxed);
      }
    });
  for (std::thread& t : threads) t.join();
  for (const auto& t : taken) ASSERT_EQ(t.load(std::memory_order_relaxed), 1);
  EXPECT_TRUE(q.empty());
}

}  // namespace
}  // namespace weir::sched
