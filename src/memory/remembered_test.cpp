// What is remembered of where ranges and tiles lie: for how long, how much of it, and by many threads.
#include "memory/fake_backend.hpp"
#include "memory/remembered.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weir::memory {
namespace {

constexpr std::uintptr_t first_of_all = std::uintptr_t{1} << 40;
std::uint64_t name_of(std::uint64_t i) { return remembered::name(first_of_all + 4096 * i, 8192); }

TEST(remembered, is_what_was_kept_at_that_time) {
  fake_backend os;
  {
    remembered r(os);
    r.keep(name_of(0), 3, 1);
    EXPECT_EQ(r.find(name_of(0), 1), place_unknown) << "there is no chunk yet, and no table";
    EXPECT_EQ(os.mapped(), 0u);
    r.grow(1);
    EXPECT_EQ(r.find(name_of(0), 1), place_unknown);
    r.keep(name_of(0), 3, 1);
    r.keep(name_of(1), 0, 1);
    EXPECT_EQ(r.find(name_of(0), 1), 3);
    EXPECT_EQ(r.find(name_of(1), 1), 0);
    EXPECT_EQ(r.find(name_of(2), 1), place_unknown);
    EXPECT_EQ(r.find(name_of(0), 2), place_unknown) << "it is out of date";
    r.keep(name_of(0), 7, 2);
    EXPECT_EQ(r.find(name_of(0), 2), 7);
    EXPECT_EQ(r.find(name_of(0), 1), place_unknown);
  }
  EXPECT_EQ(os.mapped(), 0u);
  EXPECT_EQ(os.wrong_unmaps(), 0);
}

TEST(remembered, ranges_and_tiles_have_names_of_their_own) {
  const std::uint64_t tile = remembered::name(first_of_all, 4096, 1024, 64);
  EXPECT_NE(tile, remembered::name(first_of_all, 4096));
  EXPECT_NE(tile, remembered::name(first_of_all + 64, 4096, 1024, 64));
  EXPECT_NE(tile, remembered::name(first_of_all, 8192, 1024, 64));
  EXPECT_NE(tile, remembered::name(first_of_all, 4096, 2048, 64));
  EXPECT_NE(tile, remembered::name(first_of_all, 4096, 1024, 128));
}

TEST(remembered, without_memory_nothing_is) {
  fake_backend os;
  os.bytes_left = 0;
  remembered r(os);
  r.grow(1);
  r.keep(name_of(0), 3, 1);
  EXPECT_EQ(r.find(name_of(0), 1), place_unknown);
}

// As many as tiles of 32 KiB are there, of which four have a place to choose from; newer ones take that of others.
TEST(remembered, is_as_much_as_there_is_memory) {
  fake_backend os;
  remembered r(os);
  for (const std::size_t chunks : {1, 3, 100}) {
    r.grow(chunks);
    const std::uint64_t time = 1 + chunks, tiles = 64 * chunks;
    for (std::uint64_t i = 0; i < tiles; i++) r.keep(name_of(i), static_cast<int>(i % 5), time);
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < tiles; i++)
      if (const int node = r.find(name_of(i), time); node != place_unknown) {
        EXPECT_EQ(node, static_cast<int>(i % 5));
        found++;
      }
    EXPECT_GT(found, tiles * 9 / 10) << chunks;
    for (std::uint64_t i = 0; i < 100 * tiles; i++) r.keep(name_of(i), static_cast<int>(i % 5), time);
    EXPECT_EQ(r.find(name_of(100 * tiles - 1), time), static_cast<int>((100 * tiles - 1) % 5));
  }
}

// Many names for few places: who finds one is told what was said of it, at this time, and by nobody else.
TEST(remembered, threads_at_once) {
  const char* const given = std::getenv("WEIR_REMEMBERED_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  std::printf("WEIR_REMEMBERED_SEED=%u\n", seed);
  fake_backend os;
  remembered r(os);
  r.grow(1);
  atomic<std::uint64_t> wrong{0}, found{0}, ready{0};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < 4; t++)
    all.emplace_back([&, t] {
      std::mt19937 random(seed + t);
      ready.fetch_add(1, std::memory_order_relaxed);
      while (ready.load(std::memory_order_relaxed) < 4) std::this_thread::yield();
      for (int round = 0; round < 100'000; round++) {
        const std::uint64_t i = random() % 1000, time = 1 + random() % 2;
        const int said = static_cast<int>((i + time) % 1000), told = r.find(name_of(i), time);
        if (told == place_unknown) r.keep(name_of(i), said, time);
        else (told == said ? found : wrong).fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(wrong.load(std::memory_order_relaxed), 0u);
  EXPECT_GT(found.load(std::memory_order_relaxed), 0u);
}

}  // namespace
}  // namespace weir::memory
