// Offers of workers, as thieves see them.
#include "sched/offers.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weir::sched {
namespace {

TEST(offers, follow_the_worker) {
  offer_board b(130);  // more than two words
  for (const int w : {0, 63, 64, 129}) {
    EXPECT_FALSE(b.offers(w));
    b.offer(w);
    EXPECT_TRUE(b.offers(w));
    b.offer(w);
    EXPECT_TRUE(b.offers(w));
    b.idle(w);
    EXPECT_FALSE(b.offers(w));
    b.offer(w);
    EXPECT_TRUE(b.offers(w)) << "after it was idle";
  }
  EXPECT_FALSE(b.offers(1));
  EXPECT_FALSE(b.offers(65));
}

// Workers that share a word do not undo each other's offers.
TEST(offers, of_many_workers_at_once) {
  constexpr int workers = 6, rounds = 20'000;
  offer_board b(workers);
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; w++)
    threads.emplace_back([&b, w] {
      for (int i = 0; i < rounds; i++) {
        b.offer(w);
        EXPECT_TRUE(b.offers(w));
        b.idle(w);
        EXPECT_FALSE(b.offers(w));
      }
      if (w % 2 == 0) b.offer(w);
    });
  for (std::thread& t : threads) t.join();
  for (int w = 0; w < workers; w++) EXPECT_EQ(b.offers(w), w % 2 == 0);
}

}  // namespace
}  // namespace weir::sched
