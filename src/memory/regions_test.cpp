// Where the program's own memory lies: what is asked, how often, what is written down, and what is told of ranges.
#include "memory/fake_backend.hpp"
#include "memory/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weir::memory {
namespace {

using by_node = std::map<int, std::uint64_t>;

// No memory is looked at: addresses will do.
constexpr std::uintptr_t base = std::uintptr_t{1} << 40;

by_node parts_of(const regions& r, std::uintptr_t first, std::uint64_t bytes) {
  by_node found;
  r.for_each_part(first, bytes, [&](std::uint64_t n, int node) { found[node] += n; });
  return found;
}

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

unsigned seed_of_test(const char* variable) {
  const char* given = std::getenv(variable);
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  std::printf("%s=%u\n", variable, seed);
  return seed;
}

// The time between two looks has passed.
void wait_for_look() { std::this_thread::sleep_for(std::chrono::nanoseconds(2 * regions::look_interval_ns)); }

TEST(regions, what_nobody_has_told_is_unknown) {
  fake_backend os;
  const regions r(os, {0, 1});
  EXPECT_EQ(parts_of(r, base, 100), (by_node{{place_unknown, 100}}));
  EXPECT_EQ(parts_of(r, base + 5, 10 * r.chunk_bytes()), (by_node{{place_unknown, 10 * r.chunk_bytes()}}));
  EXPECT_EQ(r.node_of(base), place_unknown);
  EXPECT_EQ(parts_of(r, ~std::uintptr_t{0} - 100, 50), (by_node{{place_unknown, 50}})) << "no address of a program";
  EXPECT_EQ(r.chunks(), 0u);
}

TEST(regions, with_one_node_nothing_is_asked_or_kept) {
  fake_backend os;
  regions r(os, {0});
  r.read({base, 1 << 20});
  r.written({base, 1 << 20}, 0);
  r.placed(base, 1 << 20, 0);
  wait_for_look();
  r.look_again();
  EXPECT_EQ(os.questions(), 0u);
  EXPECT_EQ(r.chunks(), 0u);
}

TEST(regions, a_range_is_told_by_node_to_the_byte) {
  fake_backend os;
  regions r(os, {0, 1, 2});
  const std::uint64_t page = r.page_bytes();
  r.placed(base, 2 * page, 1);
  r.placed(base + 2 * page, page, 2);
  EXPECT_EQ(parts_of(r, base + 10, page), (by_node{{1, page}}));
  EXPECT_EQ(parts_of(r, base + page + 10, 2 * page), (by_node{{1, page - 10}, {2, page}, {place_unknown, 10}}));
  EXPECT_EQ(parts_of(r, base, 0), (by_node{{1, 0}})) << "an empty range lies where it begins";
  int calls = 0;
  r.for_each_part(base, 2 * page, [&](std::uint64_t, int) { calls++; });
  EXPECT_EQ(calls, 1);
}

TEST(regions, a_large_range_of_one_node_is_told_once) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t bytes = 64 * r.chunk_bytes() + 12345;
  r.placed(base, bytes, 1);
  int calls = 0;
  r.for_each_part(base, bytes, [&](std::uint64_t n, int node) {
    calls++;
    EXPECT_EQ(n, bytes);
    EXPECT_EQ(node, 1);
  });
  EXPECT_EQ(calls, 1);
}

// More nodes than a walk remembers at a time: told in several parts, and every byte once.
TEST(regions, a_range_on_many_nodes_is_told_whole) {
  fake_backend os;
  std::vector<int> nodes(40);
  for (int n = 0; n < 40; n++) nodes[static_cast<std::size_t>(n)] = 2 * n;
  regions r(os, nodes);
  by_node expected;
  for (std::uint64_t p = 0; p < 1500; p++) {
    const int node = static_cast<int>(p * 7 % 40);
    r.placed(base + p * r.page_bytes(), r.page_bytes(), node);
    expected[node] += r.page_bytes();
  }
  EXPECT_EQ(parts_of(r, base, 1500 * r.page_bytes()), expected);
}

TEST(regions, the_system_is_asked_once) {
  fake_backend os;
  regions r(os, {10, 11});
  const std::uint64_t page = r.page_bytes();
  for (std::uint64_t p = 0; p < 64; p++) os.node_of_page[at(base + p * page)] = p < 32 ? 10 : 11;
  r.read({base, 64 * page});
  EXPECT_EQ(os.questions(), 1u);
  EXPECT_EQ(parts_of(r, base, 64 * page), (by_node{{0, 32 * page}, {1, 32 * page}}));
  for (std::uint64_t p = 0; p < 64; p++) {
    r.read({base + p * page, page});
    r.before_write({base + p * page, page}, false);
    r.written({base + p * page, page}, 0);
  }
  EXPECT_EQ(os.questions(), 1u);
}

TEST(regions, small_tasks_ask_for_their_neighbours) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t page = r.page_bytes();
  for (std::uint64_t p = 0; p < 512; p++) os.node_of_page[at(base + p * page)] = 1;
  for (std::uint64_t p = 0; p < 512; p++) r.read({base + p * page, 100});
  EXPECT_LE(os.questions(), 512u / 16);
  EXPECT_EQ(os.pages_asked(), 512u);
}

TEST(regions, a_tile_that_was_written_is_one_question) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t page = r.page_bytes(), stride = 3 * page / 2;
  for (std::uint64_t p = 0; p < 96; p++) os.node_of_page[at(base + p * page)] = p < 48 ? 0 : 1;
  r.written({base + 64, 64, stride, 64}, 0);
  EXPECT_EQ(os.questions(), 1u);
  EXPECT_EQ(os.pages_asked(), 64u) << "each row is on one page, and no two are on the same";
  for (std::uint64_t row = 0; row < 64; row++) EXPECT_EQ(r.node_of(base + 64 + row * stride), row < 32 ? 0 : 1) << row;
  // Rows that share pages, in two chunks.
  const std::uintptr_t end = base + 1024 * page;
  os.node_of_page[at(end - page)] = os.node_of_page[at(end)] = 1;
  r.written({end - page, 64, page / 4, 8}, 0);
  EXPECT_EQ(os.questions(), 2u);
  EXPECT_EQ(os.pages_asked(), 66u);
  EXPECT_EQ(parts_of(r, end - page, 2 * page), (by_node{{1, 2 * page}}));
}

// Of arrays that nobody has touched one look says so.
TEST(regions, what_is_new_costs_no_question_a_page) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t page = r.page_bytes();
  for (std::uint64_t p = 400; p < 512; p++) os.node_of_page[at(base + p * page)] = 1;
  for (std::uint64_t p = 0; p < 400; p++) r.before_write({base + p * page, page}, false);
  EXPECT_EQ(os.questions(), 1u);
  EXPECT_EQ(os.looks(), 1u);
  EXPECT_EQ(r.node_of(base + 399 * page), place_unknown);
  // Others ask, for the program may have made something there since.
  os.node_of_page[at(base + 100 * page)] = 1;
  os.node_of_page[at(base + 200 * page)] = 1;
  r.read({base + 100 * page, page});
  EXPECT_EQ(r.node_of(base + 100 * page), 1);
  r.before_write({base + 200 * page, page}, true);
  EXPECT_EQ(r.node_of(base + 200 * page), 1);
  os.node_of_page[at(base + 300 * page)] = 0;
  r.written({base + 300 * page, page}, 1);
  EXPECT_EQ(r.node_of(base + 300 * page), 0);
  // Nor is it presumed for longer than until a barrier.
  os.node_of_page[at(base + 350 * page)] = 1;
  r.before_write({base + 350 * page, page}, false);
  EXPECT_EQ(r.node_of(base + 350 * page), place_unknown);
  wait_for_look();
  r.look_again();
  r.before_write({base + 350 * page, page}, false);
  EXPECT_EQ(r.node_of(base + 350 * page), 1);
}

TEST(regions, a_new_page_is_where_the_system_put_it) {
  fake_backend os;
  regions r(os, {0, 1});
  r.before_write({base, 3 * r.page_bytes()}, false);
  EXPECT_EQ(os.questions(), 1u);
  r.before_write({base, 3 * r.page_bytes()}, false);
  EXPECT_EQ(os.questions(), 1u) << "it is absent, and nobody has written it since";
  os.node_of_page[at(base)] = 1;  // node 0 was full
  os.node_of_page[at(base + r.page_bytes())] = 0;
  r.written({base, 3 * r.page_bytes()}, 0);
  EXPECT_EQ(r.node_of(base), 1);
  EXPECT_EQ(r.node_of(base + r.page_bytes()), 0);
  EXPECT_EQ(r.node_of(base + 2 * r.page_bytes()), place_unknown) << "the task has left it alone";
}

TEST(regions, where_the_system_does_not_tell_the_writer_decides) {
  fake_backend os;
  os.tells_nodes = false;
  regions r(os, {0, 1});
  r.read({base, 100});
  EXPECT_EQ(r.node_of(base), place_unknown);
  r.written({base, 100}, 1);
  EXPECT_EQ(r.node_of(base), 1);
  r.written({base, 2 * r.page_bytes()}, 0);
  EXPECT_EQ(r.node_of(base), 1) << "first touch";
  EXPECT_EQ(r.node_of(base + r.page_bytes()), 0);
  EXPECT_EQ(os.questions(), 1u) << "it is not asked again";
}

TEST(regions, pretended_nodes_are_of_the_first_task_that_writes) {
  regions r(os::pretended_memory(), {0, 1, 2});
  r.before_write({base, 100}, false);
  EXPECT_EQ(r.node_of(base), place_unknown);
  r.written({base, 100}, 2);
  r.written({base, 100}, 1);
  r.read({base, 100});
  EXPECT_EQ(r.node_of(base), 2);
  r.read({base + r.page_bytes(), 100});
  EXPECT_EQ(r.node_of(base + r.page_bytes()), 0) << "the program wrote it, whose threads are on the first node";
}

TEST(regions, a_barrier_finds_what_has_moved) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t page = r.page_bytes();
  for (std::uint64_t p = 0; p < 40; p++) os.node_of_page[at(base + p * page)] = 0;
  r.read({base, 40 * page});
  wait_for_look();
  r.look_again();
  EXPECT_EQ(r.node_of(base), 0) << "nothing has moved";
  const std::size_t before = os.pages_asked();
  for (auto& [p, node] : os.node_of_page) node = 1;
  wait_for_look();
  r.look_again();
  EXPECT_EQ(r.node_of(base), place_unknown);
  EXPECT_LE(os.pages_asked() - before, regions::pages_looked_at);
  r.read({base, 40 * page});
  EXPECT_EQ(parts_of(r, base, 40 * page), (by_node{{1, 40 * page}}));
}

TEST(regions, barriers_in_a_row_cost_one_question) {
  fake_backend os;
  regions r(os, {0, 1});
  os.node_of_page[at(base)] = 0;
  r.read({base, 1});
  wait_for_look();
  const std::size_t before = os.questions();
  const auto begin = os::now_ns();
  for (int i = 0; i < 1000; i++) r.look_again();
  const auto looks = (os::now_ns() - begin) / regions::look_interval_ns + 1;
  EXPECT_GE(os.questions(), before + 1);
  EXPECT_LE(os.questions(), before + 1 + looks);
}

// Memory that was absent when a task read it may have been written by the program itself since.
TEST(regions, absent_pages_are_asked_about_again_after_a_barrier) {
  fake_backend os;
  regions r(os, {0, 1});
  r.read({base, 1});
  os.node_of_page[at(base)] = 1;
  r.read({base, 1});
  EXPECT_EQ(r.node_of(base), place_unknown);
  wait_for_look();
  r.look_again();
  r.read({base, 1});
  EXPECT_EQ(r.node_of(base), 1);
}

TEST(regions, hear_of_pages_that_were_moved) {
  fake_backend os;
  regions r(os, {20, 21}), pretended(os::pretended_memory(), {0, 1});
  const std::uint64_t page = r.page_bytes();
  tell_all_regions(at(base), 10 * page, 21);
  EXPECT_EQ(parts_of(r, base, 10 * page), (by_node{{1, 10 * page}}));
  tell_all_regions(at(base), 5 * page, place_unknown);
  EXPECT_EQ(parts_of(r, base, 10 * page), (by_node{{place_unknown, 5 * page}, {1, 5 * page}}));
  EXPECT_EQ(pretended.node_of(base), place_unknown) << "nothing has moved between nodes that are not there";
}

// An answer that was remembered holds until a page that was known has another place, or none.
TEST(regions, remember_until_what_was_known_has_changed) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t page = r.page_bytes(), name = remembered::name(base, 8 * page);
  r.placed(base, 8 * page, 1);
  r.remember(name, 1, r.changes());
  EXPECT_EQ(r.remembered_node(name), 1);
  os.node_of_page[at(base + 100 * page)] = 0;
  r.read({base + 100 * page, page});
  r.placed(base, 8 * page, 1);
  r.placed(base + 8 * page, 8 * page, 0);
  r.placed(base + 200 * page, page, place_unknown);
  EXPECT_EQ(r.remembered_node(name), 1) << "it has become known where others lie, and nothing else";
  r.placed(base + 3 * page, page, 0);
  EXPECT_EQ(r.remembered_node(name), place_unknown);
  r.remember(name, 1, r.changes());
  r.placed(base + 3 * page, page, place_unknown);
  EXPECT_EQ(r.remembered_node(name), place_unknown);
  const std::uint64_t before = r.changes();
  r.placed(base + 4 * page, page, 0);
  r.remember(name, 1, before);
  EXPECT_EQ(r.remembered_node(name), place_unknown) << "what was looked up before it changed";
}

TEST(regions, remember_nothing_of_what_a_barrier_has_forgotten) {
  fake_backend os;
  regions r(os, {0, 1});
  const std::uint64_t page = r.page_bytes(), name = remembered::name(base, 8 * page);
  for (std::uint64_t p = 0; p < 8; p++) os.node_of_page[at(base + p * page)] = 0;
  r.read({base, 8 * page});
  r.remember(name, 0, r.changes());
  wait_for_look();
  r.look_again();
  EXPECT_EQ(r.remembered_node(name), 0) << "nothing has moved";
  for (auto& [p, node] : os.node_of_page) node = 1;  // freed, and allocated again
  wait_for_look();
  r.look_again();
  EXPECT_EQ(r.remembered_node(name), place_unknown);
}

TEST(regions, remember_nothing_of_pages_that_were_moved) {
  fake_backend os;
  regions r(os, {10, 11});
  const std::uint64_t page = r.page_bytes(), name = remembered::name(base, 8 * page);
  const std::vector<misplaced_page> one{{base + 2 * page, 0, 1, 1000}};
  for (const int became : {11, -ENOENT}) {
    r.placed(base, 8 * page, 0);
    r.remember(name, 0, r.changes());
    EXPECT_EQ(r.have_moved(one, std::vector<int>{became}), became == 11 ? 1u : 0u);
    EXPECT_EQ(r.remembered_node(name), place_unknown) << became;
  }
  r.remember(name, 0, r.changes());
  tell_all_regions(at(base + page), page, 11);
  EXPECT_EQ(r.remembered_node(name), place_unknown);
}

// Against a map of pages; with more nodes than a chunk's summary has room for, too.
class random_regions : public testing::TestWithParam<int> {};
TEST_P(random_regions, ranges_are_told_as_they_were_placed) {
  std::mt19937 random(seed_of_test("WEIR_REGIONS_SEED"));
  fake_backend os;
  const unsigned nodes = static_cast<unsigned>(GetParam());
  std::vector<int> os_nodes(nodes);
  std::iota(os_nodes.begin(), os_nodes.end(), 0);
  regions r(os, os_nodes);
  const std::uint64_t page = r.page_bytes(), pages = 4 * regions::pages_per_chunk;
  std::vector<int> expected(pages, place_unknown);
  for (int round = 0; round < 2000; round++) {
    const std::uint64_t first = random() % pages,
                        count = 1 + random() % std::min<std::uint64_t>(pages - first, round % 10 == 0 ? pages : 20);
    const int node = static_cast<int>(random() % (nodes + 1)) - 1;
    r.placed(base + first * page, count * page, node);
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first), count, node);
    const std::uint64_t from = random() % (pages * page), bytes = random() % (pages * page - from);
    by_node told = parts_of(r, base + from, bytes), wanted;
    for (std::uint64_t a = from; a < from + bytes;) {
      const std::uint64_t next = std::min(from + bytes, (a / page + 1) * page);
      wanted[expected[a / page]] += next - a;
      a = next;
    }
    if (bytes != 0) {
      ASSERT_EQ(told, wanted) << "round " << round << ", " << from << " + " << bytes;
    }
    wanted.clear();
    const std::uint64_t chunk = random() % 4 * regions::pages_per_chunk;
    for (std::uint64_t p = chunk; p < chunk + regions::pages_per_chunk; p++) wanted[expected[p]] += page;
    ASSERT_EQ(parts_of(r, base + chunk * page, r.chunk_bytes()), wanted) << "round " << round << ", by its summary";
  }
}
INSTANTIATE_TEST_SUITE_P(nodes, random_regions, testing::Values(2, 5, 15, 16, 17, 40));

// Threads write and read the same chunks at once: what they are told adds up, and names only nodes that somebody
// wrote.
TEST(regions, threads_at_once) {
  const unsigned seed = seed_of_test("WEIR_REGIONS_SEED");
  fake_backend os;
  os.tells_nodes = false;
  regions r(os, {0, 1, 2, 3});
  const std::uint64_t page = r.page_bytes(), pages = 3 * regions::pages_per_chunk;
  atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; t++)
    all.emplace_back([&, t] {
      std::mt19937 random(seed + static_cast<unsigned>(t));
      for (int round = 0; round < 3000; round++) {
        const std::uint64_t first = random() % pages,
                            count = 1 + random() % std::min<std::uint64_t>(pages - first, 40);
        // Each page has one node that it may be on.
        for (std::uint64_t p = first; p < first + count; p++)
          r.written({base + p * page, page}, static_cast<int>(p % 4));
        std::uint64_t sum = 0;
        r.for_each_part(base, pages * page, [&](std::uint64_t n, int node) {
          sum += n;
          if (node < place_unknown || node > 3) wrong.fetch_add(1, std::memory_order_relaxed);
        });
        const bool right = sum == pages * page && r.node_of(base + first * page) == static_cast<int>(first % 4);
        if (!right) wrong.fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(wrong.load(std::memory_order_relaxed), 0u);
  r.written({base, pages * page}, 0);  // what nobody has written
  EXPECT_EQ(parts_of(r, base, pages * page).count(place_unknown), 0u);
}

// Each thread moves a range of its own, and all remember where all of them lie: no thread is told of where its own has
// been before.
TEST(regions, threads_remember_while_others_move) {
  const unsigned seed = seed_of_test("WEIR_REGIONS_SEED");
  fake_backend os;
  regions r(os, {0, 1, 2, 3});
  constexpr unsigned threads = 4;
  const std::uint64_t bytes = 16 * r.page_bytes();
  const auto first = [&](std::uint64_t i) { return base + i * bytes; };
  const auto name = [&](std::uint64_t i) { return remembered::name(first(i), bytes); };
  atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; t++)
    all.emplace_back([&, t] {
      std::mt19937 random(seed + t);
      int mine = place_unknown;
      for (int round = 0; round < 20'000; round++) {
        if (random() % 8 == 0) r.placed(first(t), bytes, mine = static_cast<int>(random() % 5) - 1);
        const int told = r.remembered_node(name(t));
        if (told != place_unknown && told != mine) wrong.fetch_add(1, std::memory_order_relaxed);
        const std::uint64_t i = random() % threads, since = r.changes();
        const by_node found = parts_of(r, first(i), bytes);
        if (found.size() == 1 && found.begin()->first >= 0) r.remember(name(i), found.begin()->first, since);
      }
    });
  for (std::thread& t : all) t.join();
  EXPECT_EQ(wrong.load(std::memory_order_relaxed), 0u);
  r.placed(first(0), bytes, 2);
  r.remember(name(0), 2, r.changes());
  EXPECT_EQ(r.remembered_node(name(0)), 2);
}

}  // namespace
}  // namespace weir::memory
