// The private cache, the directory, and the caches that CPUs of a node share.
#include "cache.hpp"
#include "directory.hpp"
#include "shared_cache.hpp"

#include <gtest/gtest.h>

#include <list>
#include <random>

namespace weir::emulator {
namespace {

bool use(cache& c, std::uint32_t line, std::uint32_t version = 0) { return c.use(line, c.set_of(line), version); }

TEST(Cache, FindsWhatWasUsed) {
  cache c(64 << 10);
  EXPECT_EQ(c.sets(), 64u);
  EXPECT_FALSE(use(c, 0));
  EXPECT_TRUE(use(c, 0));
  EXPECT_FALSE(use(c, 64));   // same set
  EXPECT_TRUE(use(c, 0));
  EXPECT_TRUE(use(c, 64));
}

TEST(Cache, AnOlderVersionIsNoHit) {
  cache c(64 << 10);
  use(c, 5, 1);
  EXPECT_FALSE(use(c, 5, 2));
  EXPECT_TRUE(use(c, 5, 2));
  EXPECT_TRUE(c.use(5, c.set_of(5), 2, 3));   // a write of one's own
  EXPECT_TRUE(use(c, 5, 3));
}

TEST(Cache, ClearedItIsEmpty) {
  cache c(1 << 10);
  use(c, 7);
  c.clear();
  EXPECT_FALSE(use(c, 7));
}

// Against the definition: a list of lines, most recently used first.
TEST(Cache, ReplacesTheLeastRecentlyUsed) {
  constexpr unsigned seed = 20161;
  std::mt19937 random(seed);
  cache c(cache::ways * 64);
  ASSERT_EQ(c.sets(), 1u);
  std::list<std::uint32_t> expected;
  for (int i = 0; i < 20000; i++) {
    const std::uint32_t line = random() % 24;
    const auto at = std::find(expected.begin(), expected.end(), line);
    ASSERT_EQ(use(c, line), at != expected.end()) << "access " << i << " of seed " << seed;
    if (at != expected.end()) expected.erase(at);
    expected.push_front(line);
    if (expected.size() > cache::ways) expected.pop_back();
  }
}

TEST(Directory, TheOwnerWritesWithoutAsking) {
  directory d(8);
  EXPECT_FALSE(d.write(3, 1).owned);
  const auto again = d.write(3, 1);
  EXPECT_TRUE(again.owned);
  EXPECT_EQ(again.before, again.after);
}

TEST(Directory, AWriteMakesAllCopiesOld) {
  directory d(8);
  const auto copied = d.read(3, 2).after;
  EXPECT_FALSE(d.write(3, 1).owned);
  EXPECT_NE(d.read(3, 2).before, copied);
}

TEST(Directory, AReaderTakesTheOwnersRight) {
  directory d(8);
  d.write(3, 1);
  d.read(3, 1);
  EXPECT_TRUE(d.write(3, 1).owned);   // its own reads change nothing
  d.read(3, 2);
  EXPECT_FALSE(d.write(3, 1).owned);
}

TEST(Directory, LinesAreApart) {
  directory d(8);
  d.write(3, 1);
  EXPECT_EQ(d.read(4, 0).before, 0u);
  EXPECT_EQ(d.lines(), 8u);
}

class SharedCaches : public testing::Test {
 protected:
  directory::outcome read(std::uint32_t line, std::uint32_t cpu) { return directory_.read(line, cpu); }
  bool reads(int node, std::uint32_t line, std::uint32_t cpu) { return caches_.serve(node, line, directory_.read(line, cpu), false); }
  bool writes(int node, std::uint32_t line, std::uint32_t cpu) { return caches_.serve(node, line, directory_.write(line, cpu), true); }

  directory directory_{1024};
  shared_caches caches_{2, 64 << 10, 1024};
};

TEST_F(SharedCaches, ServeASecondReaderOfTheNode) {
  EXPECT_FALSE(reads(0, 9, 0));
  EXPECT_TRUE(reads(0, 9, 1));
  EXPECT_FALSE(reads(1, 9, 2));
}

TEST_F(SharedCaches, ServeWritesWithinTheNode) {
  EXPECT_FALSE(writes(0, 9, 0));
  EXPECT_TRUE(writes(0, 9, 1));
  EXPECT_TRUE(reads(0, 9, 0));
}

TEST_F(SharedCaches, AWriteOfAnotherNodeMakesTheCopyOld) {
  reads(0, 9, 0);
  EXPECT_FALSE(writes(1, 9, 2));
  EXPECT_FALSE(reads(0, 9, 0));
}

TEST_F(SharedCaches, AWriteMustTellOtherNodes) {
  writes(0, 9, 0);
  reads(1, 9, 2);
  EXPECT_FALSE(writes(0, 9, 0));
  EXPECT_TRUE(writes(0, 9, 1));
}

TEST_F(SharedCaches, ClearedTheyAreEmpty) {
  reads(0, 9, 0);
  caches_.clear();
  EXPECT_FALSE(reads(0, 9, 0));
}

TEST(SharedCachesOfNoSize, AreNone) { EXPECT_FALSE(shared_caches(2, 0, 1024).present()); }

}  // namespace
}  // namespace weir::emulator
