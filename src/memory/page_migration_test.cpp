// When pages of the program's own memory move, where to, and what that costs beside what one node for good does.
#include "memory/fake_backend.hpp"
#include "memory/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weir::memory {
namespace {

constexpr std::uintptr_t chunk_begin = std::uintptr_t{1} << 40;  // of a chunk; no memory is looked at

unsigned seed_of_test() {
  const char* given = std::getenv("WEIR_MIGRATION_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  std::printf("WEIR_MIGRATION_SEED=%u\n", seed);
  return seed;
}

// Nodes whose system numbers are 10 and up. All pages lie on the first one.
class migrating : public testing::Test {
 protected:
  static constexpr int nodes = 4;
  static constexpr double local_ns = 100, remote_ns = 200;

  migrating() { choose(migration::when::at_once); }
  static std::vector<double> line_ns() {
    std::vector<double> ns(nodes * nodes, remote_ns);
    for (std::size_t n = 0; n < nodes; n++) ns[n * nodes + n] = local_ns;
    return ns;
  }
  static std::vector<int> os_nodes() { return {10, 11, 12, 13}; }
  void choose(migration::when w) {
    moves = std::make_unique<migration>(known, os, os_nodes(), line_ns(), line_ns(), w);
  }
  void has_pages(std::size_t n) {
    for (std::size_t p = 0; p < n; p++) os.node_of_page[address(p)] = 10;
    known.read({chunk_begin, n * page});
  }
  static const void* address(std::size_t p) {
    return reinterpret_cast<const void*>(chunk_begin + p * os::page_bytes());
  }
  // A task on a node updates pages.
  void use(int node, std::size_t first, std::size_t n) { use_bytes(node, first * page, n * page); }
  void use_bytes(int node, std::size_t first, std::size_t bytes) {
    std::vector<misplaced_page> due;
    moves->used({chunk_begin + first, bytes}, node, {true, true}, due);
    moves->task_begins(due);
  }
  int node_of(std::size_t p) const { return known.node_of(chunk_begin + p * page); }
  // Uses by this node until a page has moved.
  int uses_until_moved(int node, std::size_t first, std::size_t n) {
    for (int uses = 1; uses < 1000; uses++) {
      use(node, first, n);
      if (node_of(first) == node) return uses;
    }
    return -1;
  }

  fake_backend os;
  regions known{os, os_nodes()};
  std::unique_ptr<migration> moves;
  const std::size_t page = known.page_bytes();
};

TEST_F(migrating, what_is_used_at_home_is_left_alone) {
  has_pages(600);
  for (int i = 0; i < 100; i++) use(0, 0, 600);
  EXPECT_EQ(os.moves(), 0u);
  EXPECT_FALSE(known.any_debts());
}

TEST_F(migrating, pages_move_when_they_have_cost_what_it_takes) {
  has_pages(600);
  const tariff t(nodes, line_ns(), line_ns(), page);
  const auto rent = static_cast<double>(t.rent(2, 0, {true, true}, page));
  const auto least = static_cast<int>(static_cast<double>(t.price(2, 0)) / rent);
  const int uses = uses_until_moved(2, 0, 600);
  EXPECT_GE(uses, least);
  EXPECT_LE(uses, least + 2);
  EXPECT_EQ(os.moves(), 1u) << "all at once";
  for (std::size_t p = 0; p < 600; p++) {
    EXPECT_EQ(node_of(p), 2) << p;
    EXPECT_EQ(os.node_of_page[address(p)], 12) << p;
  }
  const migration::counts c = moves->so_far();
  EXPECT_EQ(c.pages, 600u);
  EXPECT_EQ(c.refused, 0u);
  EXPECT_GE(c.debts_ns, 600 * t.price(2, 0));
  for (int i = 0; i < 100; i++) use(2, 0, 600);
  EXPECT_EQ(os.moves(), 1u);
}

TEST_F(migrating, a_part_of_a_page_counts_as_what_it_is) {
  has_pages(2);
  const tariff t(nodes, line_ns(), line_ns(), page);
  int uses = 0;
  while (node_of(0) == 0 && uses < 100'000) {
    use_bytes(1, 64, 128);
    uses++;
  }
  EXPECT_GE(static_cast<std::uint64_t>(uses) * t.rent(1, 0, {true, true}, 128), t.price(1, 0));
  EXPECT_EQ(node_of(1), 0);
}

TEST_F(migrating, few_pages_wait_until_a_call_pays) {
  has_pages(1);
  const tariff t(nodes, line_ns(), line_ns(), page);
  const auto rent = static_cast<double>(t.rent(1, 0, {true, true}, page));
  EXPECT_GE(uses_until_moved(1, 0, 1) * rent, static_cast<double>(t.price(1, 0) + tariff::call_ns));
}

TEST_F(migrating, most_of_the_debt_decides_where_to) {
  has_pages(64);
  for (int i = 0; i < 1000 && node_of(0) == 0; i++) use(i % 3 == 0 ? 1 : 3, 0, 64);
  EXPECT_EQ(node_of(0), 3);
}

TEST_F(migrating, whoever_uses_it_at_home_pays_off) {
  has_pages(64);
  for (int i = 0; i < 1000; i++) {
    use(1, 0, 64);
    use(0, 0, 64);
    use(2, 0, 64);
    use(0, 0, 64);
  }
  EXPECT_EQ(os.moves(), 0u);
}

TEST_F(migrating, at_barriers_all_go_together) {
  choose(migration::when::at_barriers);
  has_pages(1300);
  for (int i = 0; i < 100; i++) {
    use(1, 0, 400);
    use(2, 400, 900);
  }
  EXPECT_EQ(os.moves(), 0u);
  moves->barrier();
  EXPECT_EQ(os.moves(), 2u) << "1024 pages a call";
  for (std::size_t p = 0; p < 1300; p++) EXPECT_EQ(node_of(p), p < 400 ? 1 : 2) << p;
  moves->barrier();
  EXPECT_EQ(os.moves(), 2u);
}

TEST_F(migrating, a_system_that_refuses_is_asked_once) {
  for (const int error : {EPERM, ENOSYS}) {
    choose(migration::when::at_once);
    os.refuses_to_move = error;
    has_pages(64);
    const std::size_t before = os.moves();
    for (int i = 0; i < 100; i++) use(1, 0, 64);
    EXPECT_EQ(os.moves(), before + 1);
    EXPECT_TRUE(moves->is_off());
    EXPECT_EQ(node_of(0), 0);
    EXPECT_EQ(moves->so_far().pages, 0u);
  }
}

TEST_F(migrating, pages_that_are_gone_are_forgotten) {
  has_pages(64);
  for (std::size_t p = 0; p < 32; p++) os.fate_of_page[address(p)] = p % 2 == 0 ? ENOENT : EFAULT;
  for (int i = 0; i < 100 && node_of(63) == 0; i++) use(1, 0, 64);
  for (std::size_t p = 0; p < 64; p++) EXPECT_EQ(node_of(p), p < 32 ? place_unknown : 1) << p;
  EXPECT_EQ(moves->so_far().pages, 32u);
  EXPECT_EQ(moves->so_far().refused, 32u);
}

// Shared with another process.
TEST_F(migrating, pages_that_never_move_are_tried_once) {
  has_pages(64);
  for (std::size_t p = 0; p < 64; p++) os.fate_of_page[address(p)] = EACCES;
  for (int i = 0; i < 100; i++) {
    use(1, 0, 64);
    known.read({chunk_begin, 64 * page});
  }
  EXPECT_EQ(os.moves(), 1u);
  EXPECT_EQ(node_of(0), 0);
}

TEST_F(migrating, pages_that_are_held_are_tried_again_after_as_much_use) {
  has_pages(64);
  const int uses = uses_until_moved(1, 0, 64);
  has_pages(0);
  for (std::size_t p = 0; p < 64; p++) os.fate_of_page[address(p)] = EBUSY;
  const std::size_t before = os.moves();
  for (int i = 0; i < 10 * uses; i++) {
    use(2, 0, 64);
    known.read({chunk_begin, 64 * page});
  }
  EXPECT_GE(os.moves(), before + 1);
  EXPECT_LE(os.moves(), before + 11);
  os.fate_of_page.clear();
  EXPECT_GT(uses_until_moved(2, 0, 64), 0);
}

TEST_F(migrating, a_huge_page_moves_as_a_whole_and_costs_as_much) {
  os.huge_pages = true;
  has_pages(regions::pages_per_chunk);
  const int first = uses_until_moved(1, 0, 16);
  known.read({chunk_begin, regions::pages_per_chunk * page});
  for (std::size_t p = 0; p < regions::pages_per_chunk; p++) EXPECT_EQ(node_of(p), 1) << p;
  const int again = uses_until_moved(2, 0, 16);
  EXPECT_GE(again, 16 * first) << "32 times as much is copied as these use";
  known.read({chunk_begin, regions::pages_per_chunk * page});
  EXPECT_EQ(node_of(511), 2);
}

TEST_F(migrating, what_others_move_owes_nothing) {
  has_pages(64);
  const int uses = uses_until_moved(1, 0, 64);
  for (int i = 0; i + 1 < uses; i++) use(2, 0, 64);
  tell_all_regions(address(0), 64 * page, 13);
  use(2, 0, 64);
  EXPECT_EQ(node_of(0), 3);
}

TEST_F(migrating, other_runtimes_hear_of_it) {
  regions others(os, os_nodes());
  has_pages(64);
  others.read({chunk_begin, 64 * page});
  EXPECT_EQ(others.node_of(chunk_begin), 0);
  uses_until_moved(1, 0, 64);
  EXPECT_EQ(others.node_of(chunk_begin), 1);
}

TEST(migration, between_pretended_nodes_is_written_down) {
  const std::vector<double> ns{100, 200, 200, 100};
  regions known(os::pretended_memory(), {0, 1});
  migration moves(known, os::pretended_memory(), {0, 1}, ns, ns, migration::when::at_once);
  known.read({chunk_begin, 64 * known.page_bytes()});
  for (int i = 0; i < 100; i++) {
    std::vector<misplaced_page> due;
    moves.used({chunk_begin, 64 * known.page_bytes()}, 1, {true, false}, due);
    moves.task_begins(due);
  }
  EXPECT_EQ(known.node_of(chunk_begin), 1);
  EXPECT_EQ(moves.so_far().pages, 64u);
}

// What uses by these nodes cost where the page lies on the best node from the beginning. A use from elsewhere costs 1.
double cost_on_best_node(const std::vector<int>& uses, int nodes) {
  std::vector<double> at(static_cast<std::size_t>(nodes));
  for (const int by : uses)
    for (std::size_t n = 0; n < at.size(); n++) at[n] += static_cast<int>(n) == by ? 0 : 1;
  return *std::min_element(at.begin(), at.end());
}

struct page_with_debt {
  std::uint64_t price;
  debt owed{};
  int home = 0;
  double rent = 0, moves = 0;

  void use(int by) {
    if (by == home) return owed.take_away(1);
    rent += 1;
    owed.add(by, 1);
    if (!owed.pays(price) || owed.node() == home) return;
    moves += static_cast<double>(price);
    home = owed.node();
    owed.has_moved();
  }
};

// Moves never cost more than the uses from elsewhere did before; and all together is some times what the best node
// would have cost, and what a page pays until it comes to rest: nodes that use it alone for a while, all at random,
// with weights, and one that always uses it from where it is not.
TEST(debts, cost_at_most_some_times_what_the_best_node_does) {
  std::mt19937 random(seed_of_test());
  double worst = 0;
  for (int round = 0; round < 3000; round++) {
    const int nodes = 2 + static_cast<int>(random() % 7), shape = round % 4;
    const std::uint64_t price = 1 + random() % 20, longest = 1 + random() % 40;
    page_with_debt page{.price = price};
    std::vector<int> uses;
    int by = 0;
    while (uses.size() < 1000) {
      const int other = static_cast<int>(random() % static_cast<unsigned>(nodes));
      if (shape == 0) by = random() % longest == 0 ? other : by;
      if (shape == 1) by = other;
      if (shape == 2) by = random() % 10 < 6 ? 1 : other;
      if (shape == 3) by = page.home != other ? other : (other + 1) % nodes;
      uses.push_back(by);
      page.use(by);
    }
    ASSERT_LE(page.moves, page.rent) << "round " << round;
    const double best = cost_on_best_node(uses, nodes);
    const double beyond = page.rent + page.moves - 2.0 * (1 << debt::most_moves) * static_cast<double>(price);
    worst = std::max(worst, best > 0 ? beyond / best : beyond);
    ASSERT_LE(beyond, 5 * best) << "round " << round << ": " << nodes << " nodes, price " << price;
  }
  std::printf("at worst %.2f times the best\n", worst);
}

// Threads use the same pages from different nodes: what is written down of them is a node, and what has moved is
// counted once.
TEST_F(migrating, threads_at_once) {
  const unsigned seed = seed_of_test();
  has_pages(1024);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; t++)
    all.emplace_back([&, t] {
      std::mt19937 random(seed + static_cast<unsigned>(t));
      for (int i = 0; i < 2000; i++) use(t, random() % 900, 1 + random() % 100);
    });
  for (std::thread& t : all) t.join();
  known.read({chunk_begin, 1024 * page});
  for (std::size_t p = 0; p < 1024; p++) {
    ASSERT_GE(node_of(p), 0) << p;
    ASSERT_LT(node_of(p), nodes) << p;
  }
  EXPECT_EQ(moves->so_far().refused, 0u);
}

}  // namespace
}  // namespace weir::memory
