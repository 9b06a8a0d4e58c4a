// Where policies send tasks that name memory of the program's own.
#include <gtest/gtest.h>

#include "place/test_task.hpp"

#include <cstdio>
#include <random>
#include <set>

namespace weir::place {
namespace {

using detail::access_mode;
using wish = policy::wish;
constexpr std::uintptr_t base = std::uintptr_t{1} << 40;

// Pages of a machine with four nodes that are pretended.
class own_memory : public testing::Test {
 protected:
  own_memory() { v.knowing(known); }
  range pages(std::uint64_t first, std::uint64_t count, access_mode mode) const {
    return {base + first * known.page_bytes(), count * known.page_bytes(), mode};
  }
  void lies_on(int node, std::uint64_t first, std::uint64_t count) {
    known.placed(base + first * known.page_bytes(), count * known.page_bytes(), node);
  }

  memory::regions known{os::pretended_memory(), {0, 1, 2, 3}};
  test_view v{machine::synthetic(4, 1)};
};

TEST_F(own_memory, is_followed_as_data_are) {
  lies_on(1, 0, 4);
  lies_on(2, 4, 8);
  for (const char* policy : {"local", "push-inputs", "push-weighted", "follow"}) {
    EXPECT_EQ(v.ask_wish(policy, {pages(0, 4, access_mode::in)}).node, 1) << policy;
    EXPECT_EQ(v.ask_wish(policy, {pages(0, 12, access_mode::in)}).node, 2) << policy;
    EXPECT_FALSE(v.ask_wish(policy, {pages(0, 12, access_mode::inout)}).initial) << policy;
  }
}

TEST_F(own_memory, that_is_written_stays_where_it_is) {
  lies_on(1, 0, 4);
  lies_on(2, 4, 5);
  for (const char* policy : {"local", "push-inputs", "push-outputs", "push-weighted", "follow"}) {
    EXPECT_EQ(v.ask_wish(policy, {pages(0, 4, access_mode::out)}),
              wish(1, false, v.ask_wish(policy, {pages(0, 4, access_mode::out)}).bytes))
        << policy;
    EXPECT_EQ(v.ask_wish(policy, {pages(0, 4, access_mode::out), pages(4, 5, access_mode::out)}).node, 2) << policy;
  }
  // Updated: read and written.
  for (const char* policy : {"local", "follow"})
    EXPECT_EQ(v.ask_wish(policy, {pages(0, 4, access_mode::inout), pages(4, 5, access_mode::in)}).node, 1) << policy;
}

TEST_F(own_memory, that_nobody_has_written_is_dealt_out) {
  for (const char* policy : {"local", "follow"}) {
    std::set<int> nodes;
    for (unsigned i = 0; i < 4; i++) {
      const wish w = v.ask_wish(policy, {pages(4 * i, 4, access_mode::out)});
      EXPECT_TRUE(w.initial) << policy;
      nodes.insert(w.node);
    }
    EXPECT_EQ(nodes.size(), 4u) << policy;
  }
}

TEST_F(own_memory, of_one_page_goes_to_one_node) {
  const std::uint64_t part = known.page_bytes() / 4;
  for (const char* policy : {"local", "follow"}) {
    std::set<int> nodes;
    for (unsigned page = 0; page < 4; page++) {
      std::set<int> of_page;
      for (unsigned i = 0; i < 4; i++) {
        const range r{base + page * known.page_bytes() + i * part, part, access_mode::out};
        of_page.insert(v.by(static_cast<int>(i)).ask_wish(policy, {r}).node);
      }
      EXPECT_EQ(of_page.size(), 1u) << policy << " page " << page;
      nodes.merge(of_page);
    }
    EXPECT_GT(nodes.size(), 1u) << policy;
    // Longer than pages: each begins on one of its own, whatever it shares with the next.
    nodes.clear();
    v.by(0);
    for (unsigned i = 0; i < 4; i++) {
      const range r{base + 100 * known.page_bytes() + i * 9 * part, 9 * part, access_mode::out};
      nodes.insert(v.ask_wish(policy, {r}).node);
    }
    EXPECT_EQ(nodes.size(), 4u) << policy;
  }
}

TEST_F(own_memory, each_thread_begins_with_another_node) {
  for (const char* policy : {"local", "follow"}) {
    std::set<int> nodes;
    for (unsigned i = 0; i < 4; i++)
      nodes.insert(v.by(static_cast<int>(i)).ask_wish(policy, {pages(16 * i, 4, access_mode::out)}).node);
    EXPECT_EQ(nodes.size(), 4u) << policy;
  }
}

// So pieces begin with it, whoever of its workers creates the tasks.
TEST_F(own_memory, each_worker_begins_with_a_go_of_its_node) {
  v.with_workers({0, 0, 0, 0, 1, 1, 1, 1});
  for (int worker = 0; worker < 8; worker++) {
    std::vector<int> nodes;
    for (unsigned i = 0; i < 4; i++)
      nodes.push_back(v.by(worker).ask_wish("local", {pages(64 * static_cast<unsigned>(worker) + 16 * i, 4,
                                                            access_mode::out)}).node);
    const int own = worker / 4;
    EXPECT_EQ(nodes, (std::vector<int>{own, own, 1 - own, 1 - own})) << worker;
  }
}

TEST_F(own_memory, tiles_of_the_same_short_rows_go_to_one_node) {
  const std::uint64_t page = known.page_bytes(), stride = page + page / 2, width = stride / 8;
  for (const char* policy : {"local", "follow"}) {
    std::set<int> nodes;
    for (unsigned row = 0; row < 4; row++) {
      std::set<int> of_row;
      for (unsigned column = 0; column < 8; column++) {
        const std::uintptr_t first = base + row * 32 * stride + column * width;
        of_row.insert(v.ask_wish(policy, {{first, 32 * width, access_mode::out, width, stride, base}}).node);
      }
      EXPECT_EQ(of_row.size(), 1u) << policy << " row " << row;
      nodes.merge(of_row);
    }
    EXPECT_EQ(nodes.size(), 4u) << policy;
    // Of long rows each tile has pages of its own.
    nodes.clear();
    for (unsigned column = 0; column < 4; column++) {
      const std::uintptr_t matrix = base + 4096 * page;
      nodes.insert(v.ask_wish(policy, {{matrix + column * 2 * page, 4 * 2 * page, access_mode::out, 2 * page, 8 * page,
                                        matrix}})
                       .node);
    }
    EXPECT_EQ(nodes.size(), 4u) << policy;
  }
}

TEST_F(own_memory, of_a_tile_lies_where_its_rows_do) {
  const std::uint64_t page = known.page_bytes(), stride = 8 * page;
  lies_on(1, 0, 8 * 64);
  for (unsigned row = 0; row < 64; row++) lies_on(2, 8 * row + 3, 1);
  const range tile{base + 3 * page + 64, 64 * 128, access_mode::in, 128, stride, base};
  for (const char* policy : {"local", "push-inputs", "push-weighted", "follow"})
    EXPECT_EQ(v.ask_wish(policy, {tile}).node, 2) << policy;
  // Half of each row on one node, and half on the other: all bytes are told.
  const range across{base + 4 * page - 333, 37 * 444, access_mode::inout, 444, stride, base};
  test_task t({}, {}, {across});
  std::map<int, std::uint64_t> read;
  const auto tell = [&](std::uint64_t bytes, int node) { read[node] += bytes; };
  flow::for_each_input(&known, t.get(), tell);
  EXPECT_EQ(read[1] + read[2], 37u * 444);
  EXPECT_NEAR(static_cast<double>(read[2]), 37 * 333, 37);
  const flow::user_places found(&known, t.get());
  std::map<int, std::uint64_t> again;
  found.for_each([&](std::uint64_t bytes, int node, bool reads, bool writes) {
    EXPECT_TRUE(reads && writes);
    again[node] += bytes;
  });
  EXPECT_EQ(again, read);
}

// What was found once is remembered: never beyond a change of what was known, whatever is named.
TEST_F(own_memory, is_found_where_it_is_by_then) {
  const char* const given = std::getenv("WEIR_OWN_MEMORY_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::stoul(given)) : std::random_device()();
  std::printf("WEIR_OWN_MEMORY_SEED=%u\n", seed);
  std::mt19937 random(seed);
  const std::uint64_t page = known.page_bytes(), stride = 3 * page / 2, pages_in_all = 3 * 512;
  lies_on(1, 0, pages_in_all);
  std::vector<range> named;
  for (unsigned i = 0; i < 40; i++) {
    const std::uintptr_t first = base + random() % 500 * page + random() % page;
    if (i % 2 == 0) named.push_back({first, 1 + random() % (400 * page), access_mode::in});
    else named.push_back({first, (1 + random() % 300) * 512, access_mode::inout, 512, stride, base});
  }
  using by_node = std::map<int, std::uint64_t>;
  for (int round = 0; round < 2000; round++) {
    test_task t({}, {}, {named[random() % named.size()]});
    by_node expected, found, noted;
    flow::for_each_input(&known, t.get(), [&](std::uint64_t bytes, int node) { expected[node] += bytes; });
    const bool any_unknown = expected.contains(detail::node_unknown);
    const flow::user_places places(&known, t.get());
    places.for_each([&](std::uint64_t bytes, int node, bool, bool) { found[node] += bytes; });
    // Pretended pages that somebody reads are on node 0; those that are to be written are nowhere yet.
    if (!any_unknown) {
      ASSERT_EQ(found, expected) << "round " << round;
    }
    flow::note_user_memory(known, t.get(), 3,
                           [&](std::uint64_t bytes, int node, bool, bool) { noted[node] += bytes; });
    ASSERT_FALSE(noted.contains(detail::node_unknown)) << "round " << round;
    expected.clear();
    flow::for_each_input(&known, t.get(), [&](std::uint64_t bytes, int node) { expected[node] += bytes; });
    ASSERT_EQ(noted, expected) << "round " << round;
    if (random() % 4 != 0) continue;
    const std::uint64_t from = random() % pages_in_all,
                        count = 1 + random() % (random() % 8 == 0 ? pages_in_all - from : 4);
    // Often all of them again, so that there is something to be remembered.
    if (random() % 3 == 0) lies_on(static_cast<int>(random() % 4), 0, pages_in_all);
    else lies_on(static_cast<int>(random() % 5) - 1, from, std::min(count, pages_in_all - from));
  }
}

TEST_F(own_memory, that_is_remembered_is_not_looked_up) {
  const std::uint64_t page = known.page_bytes(), stride = 8 * page;
  lies_on(1, 0, 64 * 8 - 8);
  const range tile{base + page, 63 * 128, access_mode::inout, 128, stride, base};
  const std::uint64_t name = memory::remembered::name(tile.first, tile.bytes, stride, 128);
  EXPECT_EQ(known.remembered_node(name), detail::node_unknown);
  test_task t({}, {}, {tile});
  const auto node_found = [&] {
    const flow::user_places found(&known, t.get());
    int on = detail::node_unknown;
    found.for_each([&](std::uint64_t bytes, int node, bool, bool) { on = bytes == tile.bytes ? node : on; });
    return on;
  };
  EXPECT_EQ(node_found(), 1);
  EXPECT_EQ(known.remembered_node(name), 1);
  known.remember(name, 3, known.changes());
  EXPECT_EQ(node_found(), 3) << "it is not looked up";
  lies_on(2, 64 * 8 - 1, 1);
  EXPECT_EQ(node_found(), 3) << "nothing that was known has changed";
  lies_on(3, 64 * 8 - 1, 1);
  EXPECT_EQ(node_found(), 1);
}

// Rows that are shorter than pages: all between the first and the last byte counts.
TEST_F(own_memory, of_a_tile_with_short_rows_lies_where_these_do) {
  const std::uint64_t page = known.page_bytes(), stride = page / 8;
  lies_on(1, 0, 4);
  lies_on(2, 4, 12);
  const range tile{base + 64, 128 * 64, access_mode::in, 64, stride, base};
  test_task t({}, {}, {tile});
  std::map<int, std::uint64_t> read;
  flow::for_each_input(&known, t.get(), [&](std::uint64_t bytes, int node) { read[node] += bytes; });
  EXPECT_EQ(read[1] + read[2], 128u * 64);
  EXPECT_NEAR(static_cast<double>(read[1]), 128 * 16, 64);
  EXPECT_NEAR(static_cast<double>(read[2]), 128 * 48, 64);
}

TEST_F(own_memory, a_few_pages_of_others_do_not_draw_what_is_new) {
  lies_on(3, 0, 1);
  EXPECT_TRUE(v.ask_wish("local", {pages(0, 8, access_mode::out)}).initial);
  EXPECT_TRUE(v.ask_wish("local", {pages(0, 8, access_mode::inout)}).initial);
  EXPECT_TRUE(v.ask_wish("local", {pages(0, 1, access_mode::in), pages(1, 7, access_mode::out)}).initial);
  EXPECT_TRUE(v.ask_wish("follow", {pages(0, 8, access_mode::out)}).initial);
  lies_on(3, 0, 5);
  EXPECT_EQ(v.ask_wish("local", {pages(0, 8, access_mode::out)}).node, 3);
  EXPECT_FALSE(v.ask_wish("local", {pages(0, 8, access_mode::out)}).initial);
}

TEST_F(own_memory, that_is_unknown_decides_nothing) {
  for (const std::string& policy : policy_names()) {
    if (!parse(policy).places) continue;
    const wish w = v.ask_wish(policy, {pages(0, 4, access_mode::in)});
    EXPECT_EQ(w.node, policy::here) << policy;
    EXPECT_FALSE(w.initial) << policy;
  }
}

TEST_F(own_memory, is_unknown_where_nobody_keeps_it) {
  test_view ignorant(machine::synthetic(4, 1));
  for (const char* policy : {"local", "push-inputs", "push-outputs", "push-weighted", "follow"})
    EXPECT_EQ(ignorant.ask_wish(policy, {pages(0, 4, access_mode::in)}).node, policy::here) << policy;
}

TEST_F(own_memory, is_seen_by_policies_of_programs) {
  lies_on(1, 0, 4);
  lies_on(2, 4, 1);
  test_task t({}, {}, {pages(0, 5, access_mode::inout), pages(5, 1, access_mode::out)});
  const task_view seen(*t.get(), &known);
  std::map<int, std::uint64_t> read, written;
  seen.for_each_input([&](const task_view::part& p) { read[p.node] += p.bytes; });
  seen.for_each_output([&](const task_view::part& p) { written[p.node] += p.bytes; });
  const std::uint64_t page = known.page_bytes();
  EXPECT_EQ(read, (std::map<int, std::uint64_t>{{1, 4 * page}, {2, page}}));
  EXPECT_EQ(written, (std::map<int, std::uint64_t>{{1, 4 * page}, {2, page}, {-1, page}}));
}

// ---------------------------------------------------------------- follow

TEST(follow, counts_outputs_as_well_as_inputs) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask("follow", {{4096, 2}}), 2);
  EXPECT_EQ(v.ask("follow", {{4096, 2}, {8192, 3}, {5000, 2}}), 2);
  EXPECT_EQ(v.ask("follow", {{4096, 2}, {2049, 3, true}}), 3) << "an update is read and written";
  EXPECT_EQ(v.ask("follow", {{1, 1}}), 1) << "however small";
}

TEST(follow, sizes_that_are_unknown_weigh_one_unit) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask("follow", {{0, 1}, {0, 2}, {0, 2}}), 2);
}

TEST(follow, tasks_that_only_write_go_to_the_nodes_in_turn) {
  test_view v(machine::synthetic(3, 2));
  v.with("stride=2");
  std::vector<int> nodes;
  test_task t({}, {{4096, detail::node_unknown}});
  for (int i = 0; i < 8; i++) nodes.push_back(v.ask("follow", t.get()));
  EXPECT_EQ(nodes, (std::vector<int>{0, 0, 1, 1, 2, 2, 0, 0}));
  EXPECT_TRUE(v.ask_wish("follow", t.get()).initial);
}

TEST(follow, chance_decides_between_equals_and_repeats_with_its_seed) {
  test_view v(machine::synthetic(4, 1));
  const auto choices = [&](const std::string& parameters) {
    v.with(parameters);
    std::string all;
    for (int i = 0; i < 64; i++) all += std::to_string(v.ask("follow", {{4096, 1}, {4096, 3}, {64, 2}}));
    return all;
  };
  const std::string one = choices("seed=1"), two = choices("seed=2");
  EXPECT_EQ(one, choices("seed=1"));
  EXPECT_NE(one, two);
  for (const std::string& all : {one, two}) {
    EXPECT_EQ(all.find_first_not_of("13"), std::string::npos) << all;
    EXPECT_NE(all.find('1'), std::string::npos) << all;
    EXPECT_NE(all.find('3'), std::string::npos) << all;
  }
}

TEST(follow, memory_of_a_node_without_workers_is_served_by_a_near_one) {
  test_view v(machine::synthetic(4, 1));
  v.without_worker(2);
  const int node = v.ask("follow", {{4096, 2}});
  EXPECT_TRUE(node >= 0 && v.has_worker(node)) << node;
  EXPECT_EQ(v.ask("follow", {{4096, 2}, {8192, 3}}), 3);
}

}  // namespace
}  // namespace weir::place
