// Millions of tasks on ranges of memory: what the runtime keeps of them must not grow with their number, and creators
// do not hinder each other. What a range holds is not touched, so any number is an address.
#include "tests/support/support.hpp"

#include <span>

#include <malloc.h>
#include <unistd.h>

namespace weir::test {
namespace {

using byte = unsigned char;

constexpr int patience_s = 240;
// A few hundred bytes for each task would be some hundred MiB.
constexpr std::size_t most_growth_bytes = std::size_t{64} << 20;

std::span<byte> at(std::uint64_t address, std::size_t bytes) {
  return {reinterpret_cast<byte*>(static_cast<std::uintptr_t>((std::uint64_t{1} << 44) + address)), bytes};
}

// 0 where the system does not say.
std::size_t resident_bytes() {
  std::FILE* f = std::fopen("/proc/self/statm", "r");
  if (f == nullptr) return 0;
  unsigned long long all = 0, resident = 0;
  const int found = std::fscanf(f, "%llu %llu", &all, &resident);
  std::fclose(f);
  return found == 2 ? resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Memory that was freed goes back to the system, so that a test does not live on what another one left.
void give_back_what_is_free() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

constexpr std::size_t block = 64;

class address_stress : public ::testing::Test {
 protected:
  // So few tasks at once that the memory they need is nothing beside what is measured.
  static constexpr std::size_t most_ahead = 4'000;

  // A task with these accesses.
  template <class... Accesses>
  void add(const Accesses&... accesses) {
    rt.spawn(accesses..., [this](auto...) { ran++; });
    for (created++; created > ran + most_ahead;) std::this_thread::yield();
  }
  // Calls spawn(i) for i from 0 on. What the process needs after the first fifth must be about what it needs in the
  // end. Sanitizers keep what is freed, so nothing is measured with them.
  template <class Spawn>
  void expect_flat_memory(Spawn&& spawn, std::size_t calls = effort(1'250'000)) {
    give_back_what_is_free();
    for (std::size_t i = 0; i < calls / 5; i++) spawn(i);
    const std::size_t before = resident_bytes();
    for (std::size_t i = calls / 5; i < calls; i++) spawn(i);
    const std::size_t after = resident_bytes();
    const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    std::printf("%zu tasks, resident: %.1f MiB after a fifth, %.1f MiB at last\n", created, mib(before), mib(after));
    if (!sanitized) { EXPECT_LT(after, before + most_growth_bytes); }
  }
  void TearDown() override {
    rt.wait();
    EXPECT_EQ(ran, created);
  }

  watchdog dog{patience_s, "tasks on addresses"};
  std::size_t created = 0;
  std::atomic<std::size_t> ran{0};
  runtime rt{{.workers = 4}};
};

TEST_F(address_stress, ever_new_addresses_with_waits) {
  expect_flat_memory([&](std::size_t i) {
    add(out(ref(at(i * block, block))));
    if (i % 10'000 == 0) rt.wait();
  });
}

TEST_F(address_stress, ever_new_addresses) {
  expect_flat_memory([&](std::size_t i) { add(out(ref(at(i * block, block)))); });
}

// Each task reads what the one before has written, and the edge of its own.
TEST_F(address_stress, a_chain_over_ever_new_addresses) {
  expect_flat_memory([&](std::size_t i) {
    add(in(ref(at(i * block, block + 8))), out(ref(at((i + 1) * block, block))));
  });
}

TEST_F(address_stress, ever_new_addresses_of_a_task) {
  rt.run([&] { expect_flat_memory([&](std::size_t i) { add(inout(ref(at(i * block, block)))); }); });
}

// Of any length, with any distance between them, so that new ones lie within old ones now and then.
TEST_F(address_stress, ever_new_ranges_at_random) {
  std::mt19937_64 random(new_seed());
  expect_flat_memory([&](std::size_t i) {
    const std::size_t first = i * 50 + between(random, 0, 2000), bytes = between(random, 1, 300);
    if (i % 3 == 0) add(in(ref(at(first, bytes))));
    else add(inout(ref(at(first, bytes))));
  });
}

// Of one matrix that is as long as one likes: each task names a tile, reads the one above, and skips some rows.
tile<byte> tile_at(std::uint64_t number, std::size_t apart) {
  constexpr std::size_t stride = 4096, tiles_in_row = 16, rows = 8, width = 100;
  return {at(0, 1).data(), stride, number / tiles_in_row * apart, rows, number % tiles_in_row * width, width};
}

TEST_F(address_stress, ever_new_tiles) {
  expect_flat_memory([&](std::size_t i) { add(inout(ref(tile_at(i, 8)))); });
}
TEST_F(address_stress, ever_new_tiles_that_overlap_those_above) {
  expect_flat_memory([&](std::size_t i) { add(in(ref(tile_at(i, 5))), out(ref(tile_at(i + 16, 5)))); },
                     effort(400'000));
}
TEST_F(address_stress, ever_new_tiles_far_from_each_other) {
  expect_flat_memory([&](std::size_t i) { add(inout(ref(tile_at(i, 30)))); });
}

// Matrices of any stride, one behind the other, two tiles of each.
TEST_F(address_stress, tiles_of_ever_new_matrices) {
  std::mt19937_64 random(new_seed());
  expect_flat_memory([&](std::size_t i) {
    const std::size_t stride = between(random, 10, 80);
    byte* const matrix = at(i * 1000, 1).data();
    add(out(ref(tile(matrix, stride, 0, 10, 0, stride / 2))));
    add(in(ref(tile(matrix, stride, 2, 8, stride / 4, stride / 2))));
  }, effort(400'000));
}

// The same memory as matrices of different strides, and as plain ranges.
TEST_F(address_stress, tiles_of_any_stride) {
  std::mt19937_64 random(new_seed());
  expect_flat_memory([&](std::size_t) {
    const std::size_t stride = 16 * between(random, 1, 3), rows = between(random, 1, 8), row = between(random, 0, 20);
    const std::size_t column = between(random, 0, stride - 8), kind = between(random, 0, 3);
    const auto part = ref(tile(at(0, 1).data(), stride, row, rows, column, between(random, 1, 8)));
    if (kind == 0) add(in(part));
    else if (kind == 1) add(in(ref(at(between(random, 0, 1000), 20))));
    else add(inout(part));
  }, effort(200'000));
}

TEST_F(address_stress, the_same_blocks_again_and_again) {
  expect_flat_memory([&](std::size_t i) {
    const std::size_t k = i % 256;
    add(in(ref(at((k + 1) % 256 * block, block))), inout(ref(at(k * block, block))));
  });
}

TEST_F(address_stress, blocks_and_their_halos) {
  expect_flat_memory([&](std::size_t i) {
    const std::size_t k = 1 + i % 100;
    add(in(ref(at(k * block - 8, block + 16))), out(ref(at((200 + k) * block, block))));
    add(in(ref(at((200 + k) * block, block))), inout(ref(at(k * block, block))));
  }, effort(400'000));
}

TEST_F(address_stress, a_table_that_all_read) {
  expect_flat_memory([&](std::size_t i) { add(in(ref(at(0, 4096))), out(ref(at(8192 + i % 64 * block, block)))); });
}

// Ranges of any length anywhere in a page: its bytes fall into pieces that nobody names alone.
TEST_F(address_stress, ranges_at_random) {
  std::mt19937_64 random(new_seed());
  expect_flat_memory([&](std::size_t) {
    const std::size_t first = between(random, 0, 4000), bytes = between(random, 1, 40);
    if (between(random, 0, 1) == 0) add(in(ref(at(first, bytes))));
    else add(inout(ref(at(first, bytes))));
  }, effort(400'000));
}

// What several creators do to the same words: an update that is not alone loses counts.
void count_in_words(runtime& rt, std::span<std::uint64_t> words, std::uint64_t seed, std::size_t tasks,
                    std::vector<std::atomic<std::uint64_t>>& expected) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < tasks; i++) {
    const std::size_t length = between(random, 1, between(random, 0, 20) == 0 ? words.size() : 4);
    const std::size_t first = between(random, 0, words.size() - length);
    const std::size_t looked = between(random, 0, words.size() - 1);
    for (std::size_t w = first; w < first + length; w++) expected[w].fetch_add(1, std::memory_order_relaxed);
    const std::span<const std::uint64_t> look = words.subspan(looked, 1);
    rt.spawn(inout(ref(words.subspan(first, length))), in(ref(look)), [](auto updated, auto read) {
      const std::uint64_t before = read[0];
      for (std::uint64_t& w : updated) w++;
      const bool own = read.data() >= updated.data() && read.data() < updated.data() + updated.size();
      EXPECT_EQ(read[0], before + (own ? 1 : 0));
    });
  }
}

void count_by_creators(std::size_t creators, bool in_tasks, std::size_t tasks) {
  const std::uint64_t seed = new_seed();
  runtime rt({.workers = 4});
  std::vector<std::uint64_t> words(48);
  std::vector<std::atomic<std::uint64_t>> expected(words.size());
  const auto create = [&](std::size_t c) { count_in_words(rt, words, mix(seed, c), tasks, expected); };
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c < creators; c++) {
    if (in_tasks) rt.spawn([&create, c] { create(c); });
    else threads.emplace_back([&create, c] { create(c); });
  }
  for (std::thread& t : threads) t.join();
  rt.wait();
  for (std::size_t w = 0; w < words.size(); w++) EXPECT_EQ(words[w], expected[w]) << "word " << w;
}

TEST(address_creators, threads_on_overlapping_ranges) {
  watchdog dog(patience_s, "threads that create on the same ranges");
  count_by_creators(4, false, effort(400'000));
}
TEST(address_creators, tasks_on_overlapping_ranges) {
  watchdog dog(patience_s, "tasks that create on the same ranges");
  count_by_creators(4, true, effort(400'000));
}

}  // namespace
}  // namespace weir::test
