// Records by address against a map, and the table's promises: exact look-up, cuts, records at rest that give way.
#include "flow/flow.hpp"
#include "flow/range_table.hpp"
#include "os/os.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

namespace weir::flow {
namespace {

std::uint64_t new_seed() {
  const char* const given = std::getenv("WEIR_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed: WEIR_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

class index_test : public ::testing::Test {
 protected:
  void add(std::uintptr_t first, std::uint64_t size) {
    auto r = std::make_unique<range_record>();
    r->begin(first, size, nullptr);
    index.reserve(1);
    index.add(r.get());
    expected.emplace(first, std::move(r));
  }
  void remove(std::map<std::uintptr_t, std::unique_ptr<range_record>>::iterator at) {
    index.remove(at->second.get());
    expected.erase(at);
  }
  // What find() says, and all that come then.
  void expect_from(std::uintptr_t address) {
    auto at = expected.upper_bound(address);
    if (at != expected.begin() && std::prev(at)->second->end() > address) --at;
    auto p = index.find(address);
    for (int n = 0; n < 5 && at != expected.end(); n++, ++at, p.advance()) ASSERT_EQ(p.record(), at->second.get());
    if (at == expected.end()) { ASSERT_EQ(p.record(), nullptr); }
  }
  void TearDown() override {
    EXPECT_TRUE(index.is_valid());
    while (!expected.empty()) remove(expected.begin());
    EXPECT_EQ(index.size(), 0u);
  }

  std::map<std::uintptr_t, std::unique_ptr<range_record>> expected;
  range_index index;
};

TEST_F(index_test, is_empty_at_first) {
  EXPECT_EQ(index.find(0).record(), nullptr);
  EXPECT_TRUE(index.is_valid());
}

TEST_F(index_test, finds_what_ends_behind_an_address) {
  add(10, 10), add(20, 5), add(40, 1);
  for (std::uintptr_t a : {0, 9, 10, 19, 20, 24, 25, 39, 40, 41, 1000}) expect_from(a);
}

// In ascending, descending and random order, with a leaf and a branch that get full.
TEST_F(index_test, ascending) {
  for (std::uintptr_t i = 0; i < 5000; i++) add(i * 8, 8);
  for (std::uintptr_t i = 0; i < 5000; i += 7) expect_from(i * 8 + 3);
}
TEST_F(index_test, descending) {
  for (std::uintptr_t i = 5000; i-- > 0;) add(i * 8, 4);
  for (std::uintptr_t i = 0; i < 5000; i += 7) expect_from(i * 8 + 5);
}
// A window that moves on: leaves go where it has been.
TEST_F(index_test, moving_on) {
  for (std::uintptr_t i = 0; i < 20'000; i++) {
    add(i * 64, 64);
    if (expected.size() > 100) remove(expected.begin());
  }
  expect_from(0);
}

TEST_F(index_test, as_a_map) {
  std::mt19937_64 random(new_seed());
  for (int step = 0; step < 60'000; step++) {
    const bool grows = step / 10'000 % 2 == 0;
    const std::uintptr_t slot = random() % 3000;
    const auto at = expected.find(slot * 16);
    if (at == expected.end() && (grows || random() % 4 == 0)) add(slot * 16, 1 + random() % 16);
    else if (at != expected.end() && (!grows || random() % 4 == 0)) remove(at);
    if (step % 16 == 0) expect_from(random() % 50'000);
    if (step % 5000 == 0) { ASSERT_TRUE(index.is_valid()) << "step " << step; }
  }
}

class table_test : public ::testing::Test {
 protected:
  table_test() : all(os::pretended_memory(), {0}, allocation::deferred), table(all.runtime, traced) {}
  ~table_test() override { forget_everything(); }
  void forget_everything() {
    const visit here(c);
    table.forget(c, true);
  }
  void cover(std::uintptr_t first, std::uint64_t size, std::uint32_t task = 1) {
    const visit here(c);
    table.cover(c, first, size, task);
  }
  std::vector<std::uintptr_t> bounds(std::uintptr_t first, std::uint64_t size) {
    std::vector<std::uintptr_t> b;
    table.for_each_part(first, size, [&](const range_record& r) { b.push_back(r.first); });
    return b;
  }
  using list = std::vector<std::uintptr_t>;

  const bool traced = false;
  shared all;
  context c{all, 0, 1, true};
  range_table table;
};

TEST_F(table_test, finds_exact_repeats_only) {
  EXPECT_EQ(table.find(64, 64).record, nullptr);
  cover(64, 64);
  range_record* const r = table.find(64, 64).record;
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->first, 64u);
  EXPECT_EQ(r->end(), 128u);
  EXPECT_EQ(table.find(64, 32).record, nullptr);
  EXPECT_EQ(table.find(65, 64).record, nullptr);
}

TEST_F(table_test, cuts_what_the_same_task_names) {
  cover(0, 100, 1);
  cover(50, 100, 1);
  EXPECT_EQ(bounds(0, 200), (list{0, 50, 100}));
  EXPECT_NE(table.find(0, 50).record, nullptr);
  EXPECT_EQ(table.find(0, 100).record, nullptr);
}

TEST_F(table_test, what_is_in_use_is_cut_and_the_rest_gives_way) {
  cover(0, 100, 1);
  cover(200, 10, 1);
  cover(50, 200, 2);
  EXPECT_EQ(bounds(0, 300), (list{0, 50, 100, 200, 210}));
  for (int i = 0; i < 100; i++) table.tick();
  cover(50, 200, 3);
  EXPECT_EQ(bounds(0, 300), (list{0, 50}));
  EXPECT_EQ(table.find(50, 200).record->state.bytes, 200u);
}

TEST_F(table_test, notes_the_parts_of_a_range_until_one_changes) {
  cover(0, 10, 1), cover(10, 10, 1);
  {
    const visit here(c);
    table.note_parts(c, 0, 20, 1);
  }
  range_parts* const parts = table.find(0, 20).parts;
  ASSERT_NE(parts, nullptr);
  EXPECT_EQ(parts->all.size(), 2u);
  EXPECT_TRUE(table.is_up_to_date(*parts));
  cover(5, 10, 1);
  EXPECT_FALSE(table.is_up_to_date(*parts));
}

// As many records as tasks are left, however many ranges there were.
TEST_F(table_test, overwrites_what_is_at_rest) {
  for (std::uintptr_t i = 0; i < 100'000; i++) cover(i * 64, 64, static_cast<std::uint32_t>(i + 1));
  std::size_t known = 0;
  for (std::uintptr_t i = 0; i < 100'000; i++) known += table.find(i * 64, 64).record != nullptr ? 1 : 0;
  EXPECT_GT(known, 0u);
  EXPECT_LT(known, 10'000u);
  EXPECT_TRUE(table.is_valid());
}

TEST_F(table_test, is_unused_when_everything_was_forgotten) {
  for (std::uintptr_t i = 0; i < 1000; i++) cover(i * 24, 24, 1);
  EXPECT_FALSE(table.is_unused());
  forget_everything();
  EXPECT_TRUE(table.is_unused());
}

// Ranges at random, some of which are kept by their task's number: the records are those of a map of bytes to cuts.
TEST_F(table_test, random_ranges) {
  std::mt19937_64 random(new_seed());
  constexpr std::uintptr_t space = 300;
  for (int round = 0; round < 300; round++) {
    forget_everything();
    std::vector<bool> is_known(space), is_cut(space + 1);
    for (int n = 0; n < 12; n++) {
      const std::uintptr_t first = random() % space, size = 1 + random() % (space - first);
      cover(first, size, 7);
      is_cut[first] = is_cut[first + size] = true;
      for (std::uintptr_t b = first; b < first + size; b++) {
        if (b > first && is_known[b] != is_known[b - 1]) is_cut[b] = true;
      }
      for (std::uintptr_t b = first; b < first + size; b++) is_known[b] = true;
    }
    std::uintptr_t end = 0;
    table.for_each_part(0, space, [&](const range_record& r) {
      EXPECT_TRUE(is_cut[r.first] || r.first != end);
      EXPECT_TRUE(is_cut[r.end()]);
      for (std::uintptr_t b = end; b < r.first; b++) EXPECT_FALSE(is_known[b]);
      for (std::uintptr_t b = r.first; b < r.end(); b++) EXPECT_TRUE(is_known[b] && (b == r.first || !is_cut[b]));
      end = r.end();
    });
    for (std::uintptr_t b = end; b < space; b++) EXPECT_FALSE(is_known[b]);
    ASSERT_TRUE(table.is_valid());
  }
}

}  // namespace
}  // namespace weir::flow
