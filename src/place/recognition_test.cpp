// Which tasks are taken for the same, and what a record of placed ones knows.
#include <gtest/gtest.h>

#include "place/recognition.hpp"
#include "place/test_task.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weir::place {
namespace {

using detail::access_mode;
using range_list = std::vector<range>;
constexpr std::uintptr_t own_memory = std::uintptr_t{1} << 40;

const detail::task_ops one_function{nullptr, nullptr}, another_function{nullptr, nullptr};

std::uint64_t signature_on(const range_list& own, const detail::task_ops& function = one_function) {
  return signature_of(*test_task({}, {}, own).of_function(function).get());
}

TEST(signature, is_of_the_function_and_what_it_names) {
  const range_list usual{{own_memory, 800, access_mode::in}, {own_memory + 800, 800, access_mode::out}};
  const std::vector<range_list> others{
      {{own_memory + 8, 800, access_mode::in}, {own_memory + 800, 800, access_mode::out}},
      {{own_memory, 808, access_mode::in}, {own_memory + 800, 800, access_mode::out}},
      {{own_memory, 800, access_mode::inout}, {own_memory + 800, 800, access_mode::out}},
      {{own_memory + 800, 800, access_mode::out}, {own_memory, 800, access_mode::in}},
      {{own_memory, 800, access_mode::in}},
      {{own_memory, 800, access_mode::in},
       {own_memory + 800, 800, access_mode::out},
       {own_memory, 800, access_mode::in}},
      {{own_memory, 800, access_mode::in, 80, 8000, own_memory}, {own_memory + 800, 800, access_mode::out}},
      {{own_memory, 800, access_mode::in, 80, 8008, own_memory}, {own_memory + 800, 800, access_mode::out}},
  };
  EXPECT_EQ(signature_on(usual), signature_on(usual));
  EXPECT_NE(signature_on(usual), signature_on(usual, another_function));
  std::vector<std::uint64_t> all{signature_on(usual)};
  for (const range_list& own : others) {
    for (const std::uint64_t s : all) EXPECT_NE(signature_on(own), s) << all.size();
    all.push_back(signature_on(own));
  }
}

TEST(signature, is_of_data_and_parts_of_them) {
  detail::datum a, b;
  const auto of = [](detail::datum& read, std::uint64_t offset, detail::datum& written) {
    test_task t({{80, 0}}, {{80, 0}});
    t.of_function(one_function);
    t.get()->access_at(0)->wanted = &read;
    t.get()->access_at(0)->set_place(offset, 0);
    t.get()->version_at(0)->owner = &written;
    return signature_of(*t.get());
  };
  EXPECT_EQ(of(a, 0, b), of(a, 0, b));
  EXPECT_NE(of(a, 0, b), of(b, 0, b));
  EXPECT_NE(of(a, 0, b), of(a, 0, a));
  EXPECT_NE(of(a, 0, b), of(a, 8, b));
}

// Blocks of an array, as tasks of a stencil name them: no two are taken for the same.
TEST(signature, tells_blocks_apart) {
  test_task t({}, {},
              {{own_memory, 512, access_mode::in},
               {own_memory, 512, access_mode::in},
               {own_memory, 512, access_mode::out}});
  t.of_function(one_function);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < 100'000; i++) {
    t.get()->access_at(0)->set_place(own_memory + 512 * i, 0);
    t.get()->access_at(1)->set_place(own_memory + 512 * (i + 1), 0);
    t.get()->access_at(2)->set_place(own_memory + 512 * (i + 100'000), 0);
    all.push_back(signature_of(*t.get()));
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

// Signatures that look like hashes.
std::uint64_t signature(std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15u >> 16 << 16; }
int node_by(std::uint64_t i) { return static_cast<int>(i * i % 7); }

TEST(recognition, knows_nothing_at_first) {
  const recognition r;
  recognition::reader by;
  EXPECT_EQ(r.place_of(signature(1), by), -1);
  EXPECT_EQ(by.signature, signature(1));
}

TEST(recognition, knows_what_comes_again_in_any_order) {
  recognition r;
  for (std::uint64_t i = 0; i < 20'000; i++) r.add(signature(i), node_by(i));  // it grows
  recognition::reader by, backwards;
  for (int again = 0; again < 2; again++)
    for (std::uint64_t i = 0; i < 20'000; i++) {
      ASSERT_EQ(r.place_of(signature(i), by), node_by(i)) << i;
      ASSERT_EQ(r.place_of(signature(19'999 - i), backwards), node_by(19'999 - i)) << i;
    }
  EXPECT_EQ(r.place_of(signature(20'000), by), -1);
}

// Tasks that name one datum alone, as of a reduction: whoever looks for them has all nodes, in turn.
TEST(recognition, tells_tasks_that_are_alike_apart_by_where_they_are_expected) {
  recognition r;
  constexpr std::uint64_t alike = 64, others = 5;
  for (std::uint64_t i = 0; i < others; i++) r.add(signature(i), 0);
  for (std::uint64_t i = 0; i < alike; i++) r.add(signature(1000), static_cast<int>(i % 4));
  recognition::reader in_order, from_nowhere;
  for (int again = 0; again < 3; again++) {
    for (std::uint64_t i = 0; i < others; i++) ASSERT_EQ(r.place_of(signature(i), in_order), 0);
    for (std::uint64_t i = 0; i < alike; i++)
      ASSERT_EQ(r.place_of(signature(1000), in_order), static_cast<int>(i % 4)) << i;
  }
  from_nowhere.next = 3000;
  EXPECT_EQ(r.place_of(signature(1000), from_nowhere), -1);  // where nothing says which one it is
  for (std::uint64_t i = 1; i < alike; i++)
    ASSERT_EQ(r.place_of(signature(1000), from_nowhere), static_cast<int>(i % 4)) << i;
}

TEST(recognition, forgives_tasks_left_out_and_new_ones) {
  recognition r;
  for (std::uint64_t i = 0; i < 100; i++) {
    r.add(signature(i), node_by(i));
    r.add(signature(7777), static_cast<int>(i % 3));
  }
  recognition::reader by;
  for (std::uint64_t i = 0; i < 100; i++) {
    if (i % 3 != 0) {
      ASSERT_EQ(r.place_of(signature(i), by), node_by(i)) << i;
    }
    ASSERT_EQ(r.place_of(signature(100'000 + i), by), -1) << i;
    if (i > 0) {
      ASSERT_EQ(r.place_of(signature(7777), by), static_cast<int>(i % 3)) << i;
    }
  }
}

TEST(recognition, has_a_task_where_it_was_placed_last) {
  recognition r;
  const std::uint32_t at = r.add(signature(1), 2);
  r.add(signature(2), 3);
  r.amend(at, signature(1), 5);
  recognition::reader by;
  EXPECT_EQ(r.place_of(signature(1), by), 5);
  EXPECT_EQ(r.place_of(signature(2), by), 3);
}

TEST(recognition, forgets_the_oldest) {
  constexpr std::uint64_t most = 1024;
  recognition r(most);
  constexpr std::uint64_t tasks = 100'000;
  for (std::uint64_t i = 0; i < tasks; i++) {
    const std::uint32_t at = r.add(signature(i), node_by(i));
    if (i % 100 == 99) r.amend(at - most, signature(i - most), 0);  // it is not there any more
  }
  recognition::reader by;
  for (std::uint64_t i = 0; i < tasks - most; i++) ASSERT_EQ(r.place_of(signature(i), by), -1) << i;
  for (std::uint64_t i = tasks - most; i < tasks; i++) ASSERT_EQ(r.place_of(signature(i), by), node_by(i)) << i;
}

// The same against a list of all: what is answered is right, and what is recent is known.
TEST(recognition, holds_in_random_programs) {
  for (std::uint64_t seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    rng random(seed);
    const std::uint64_t most = std::uint64_t{1024} << random.below(3), different = 1 + random.below(8192);
    recognition r(most);
    std::vector<std::uint64_t> added;
    recognition::reader readers[3];
    for (int step = 0; step < 20'000; step++) {
      const std::uint64_t task = random.below(static_cast<std::uint32_t>(different));
      const int node = r.place_of(signature(task), readers[random.below(3)]);
      if (node >= 0) {
        ASSERT_EQ(node, node_by(task)) << step;
      } else {
        const std::size_t recent = std::min<std::size_t>(added.size(), most);
        ASSERT_EQ(std::count(added.end() - static_cast<std::ptrdiff_t>(recent), added.end(), task), 0) << step;
        r.add(signature(task), node_by(task));
        added.push_back(task);
      }
    }
  }
}

TEST(recognition, is_read_while_it_grows_and_forgets) {
  recognition r(8192);
  atomic<bool> over{false};
  std::vector<std::thread> readers;
  atomic<std::uint64_t> wrong{0}, found{0};
  for (std::uint64_t t = 0; t < 2; t++)
    readers.emplace_back([&, t] {
      recognition::reader by;
      for (std::uint64_t i = t; !over.load(std::memory_order_relaxed); i++) {
        const int node = r.place_of(signature(i % 10'000), by);
        if (node >= 0 && node != node_by(i % 10'000)) wrong.fetch_add(1, std::memory_order_relaxed);
        if (node >= 0) found.fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (int again = 0; again < 5 || found.load(std::memory_order_relaxed) < 1000; again++)
    for (std::uint64_t i = 0; i < 10'000; i++) r.add(signature(i), node_by(i));
  over.store(true, std::memory_order_relaxed);
  for (std::thread& t : readers) t.join();
  EXPECT_EQ(wrong.load(std::memory_order_relaxed), 0u);
}

}  // namespace
}  // namespace weir::place
