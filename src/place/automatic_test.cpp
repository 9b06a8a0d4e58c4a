// When auto asks tasks to wait for a plan, and when it does not.
#include <gtest/gtest.h>

#include "place/concentration.hpp"
#include "place/test_task.hpp"

#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weir::place {
namespace {

using detail::access_mode;

TEST(concentration, is_uneven_when_half_lies_on_one_node_too_many) {
  concentration c({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_FALSE(c.is_uneven()) << "of nothing";
  for (int n = 0; n < 8; n++) c.add(100, n);
  EXPECT_FALSE(c.is_uneven());
  c.add(100, 3);
  EXPECT_FALSE(c.is_uneven());
  c.add(300, 3);
  EXPECT_FALSE(c.is_uneven()) << "others would read little from there";
  EXPECT_EQ(c.most().node, 3);
  EXPECT_DOUBLE_EQ(c.most().of_all, 500.0 / 1200);
  c.add(1000, 3);
  EXPECT_TRUE(c.is_uneven());
}

TEST(concentration, is_uneven_when_half_of_the_nodes_have_all) {
  concentration c(std::vector<double>(24, 1));
  for (int n = 0; n < 12; n++) c.add(100, n);
  EXPECT_TRUE(c.is_uneven());
  c.add(100, 12);
  EXPECT_FALSE(c.is_uneven());
}

TEST(concentration, what_has_no_place_yet_will_be_spread) {
  concentration c({1, 1, 1, 1});
  c.add(100, 1);
  EXPECT_TRUE(c.is_uneven());
  c.add_unplaced(100);
  EXPECT_FALSE(c.is_uneven());
  EXPECT_EQ(c.most().node, 1);
  c.forget();
  c.add(100, 2);
  EXPECT_TRUE(c.is_uneven());
}

TEST(concentration, of_two_nodes_is_most_of_it) {
  concentration c({1, 1});
  c.add(70, 0);
  c.add(30, 1);
  EXPECT_FALSE(c.is_uneven());
  c.add(100, 0);
  EXPECT_TRUE(c.is_uneven());
}

TEST(concentration, counts_workers) {
  concentration c({3, 1});
  c.add(75, 0);
  c.add(25, 1);
  EXPECT_FALSE(c.is_uneven());
  c.add(150, 1);
  EXPECT_TRUE(c.is_uneven());
}

class choosing : public testing::Test {
 protected:
  choosing() {
    lasting_1_ms.note(detail::task_length::long_, 1'000'000);
    lasting_6_us.note(detail::task_length::short_, 6'000);
    asked.object->begin(v.seen());
  }
  static constexpr std::uintptr_t array = std::uintptr_t{1} << 40;
  std::uint64_t page() const { return known.page_bytes(); }
  std::unique_ptr<test_task> updates(std::uint64_t page_number) {
    return std::make_unique<test_task>(std::vector<part>{}, std::vector<part>{},
                                       std::vector<range>{{array + page_number * page(), page(), access_mode::inout}});
  }
  void lies(std::uint64_t first_page, std::uint64_t pages, int node) {
    known.placed(array + first_page * page(), pages * page(), node);
  }
  bool joins(test_task& t) { return asked.object->joins(task_view(*t.get(), &known)); }
  // Tasks that update pages 0 to 63.
  void all_join() {
    for (std::uint64_t p = 0; p < 64; p++) {
      tasks.push_back(updates(p));
      EXPECT_TRUE(joins(*tasks.back()));
      frames.push_back(tasks.back()->of_function(lasting_1_ms).get());
    }
  }
  void is_placed(test_task& t) {
    asked.object->place(task_view(*t.get(), &known), {0, 0, nullptr});
  }

  memory::regions known{os::pretended_memory(), {0, 1, 2, 3}};
  test_view v{machine::synthetic(4, 1)};
  detail::task_ops lasting_1_ms{nullptr, nullptr}, lasting_6_us{nullptr, nullptr};
  chosen asked = parse("auto");
  std::vector<std::unique_ptr<test_task>> tasks;
  std::vector<flow::frame*> frames;
};

TEST_F(choosing, tasks_on_memory_of_one_node_are_seen_together) {
  lies(0, 64, 2);
  EXPECT_GT(asked.object->window(), 0u);
  for (std::uint64_t p = 0; p < 64; p++) EXPECT_TRUE(joins(*updates(p)));
  EXPECT_EQ(asked.object->explanation(), "");
}

TEST_F(choosing, memory_that_lies_well_is_left_alone) {
  for (int n = 0; n < 4; n++) lies(16 * static_cast<std::uint64_t>(n), 16, n);
  std::uint64_t joined = 0;
  while (joined < 64 && joins(*updates(joined))) joined++;
  EXPECT_LE(joined, 40u) << "two and a half nodes are seen by then";
  EXPECT_EQ(asked.object->window(), 0u);
  EXPECT_NE(asked.object->explanation().find("follow their data"), std::string::npos) << asked.object->explanation();
  for (std::uint64_t p = 0; p < 64; p++) EXPECT_FALSE(joins(*updates(p)));
}

TEST_F(choosing, what_is_new_waits_for_nothing) {
  for (std::uint64_t p = 0; p < 64; p++) EXPECT_FALSE(joins(*updates(p)));
  test_task on_data({{1 << 20, 1}}, {{1 << 20, detail::node_unknown}});
  EXPECT_FALSE(joins(on_data));
  // Tasks that make data may share pages, so that some have a place already.
  lies(0, 64, 2);
  for (std::uint64_t p = 0; p < 64; p++) {
    test_task fills({}, {}, {{array + p * page(), page(), access_mode::out}});
    EXPECT_FALSE(joins(fills));
  }
  test_task mostly_new({}, {}, {{array, page(), access_mode::in}, {array + (1 << 24), 8 * page(), access_mode::out}});
  EXPECT_FALSE(joins(mostly_new));
}

TEST_F(choosing, says_what_it_has_planned) {
  lies(0, 64, 2);
  all_join();
  task_window w = window_of(v, known, frames, false);
  asked.object->created(w);
  std::vector<int> tasks_of_node(4, 0);
  for (std::size_t i = 0; i < w.size(); i++) tasks_of_node.at(static_cast<std::size_t>(w.node(i)))++;
  EXPECT_EQ(tasks_of_node, (std::vector<int>{16, 16, 16, 16}));
  EXPECT_TRUE(w.moves_memory());
  EXPECT_EQ(asked.object->window(), 0u) << "what comes follows";
  EXPECT_EQ(asked.object->explanation(),
            "node 2 had 100 % of the memory that tasks name: 64 tasks were planned together, their memory moves");
}

TEST_F(choosing, a_window_that_names_nothing_with_a_place_is_judged_by_what_was_seen) {
  lies(0, 64, 2);
  all_join();
  lies(0, 64, memory::place_unknown);
  task_window w = window_of(v, known, frames, false);
  ASSERT_TRUE(w.bonds().empty());
  asked.object->created(w);
  EXPECT_EQ(asked.object->explanation().find("follow their data"), std::string::npos) << asked.object->explanation();
}

TEST_F(choosing, a_window_that_lies_well_by_now_is_let_go) {
  lies(0, 64, 2);
  all_join();
  for (int n = 0; n < 4; n++) lies(16 * static_cast<std::uint64_t>(n), 16, n);
  task_window w = window_of(v, known, frames, false);
  asked.object->created(w);
  EXPECT_EQ(asked.object->window(), 0u);
  EXPECT_NE(asked.object->explanation().find("follow their data"), std::string::npos) << asked.object->explanation();
  for (std::size_t i = 0; i < w.size(); i++) EXPECT_LT(w.node(i), 0);
}

TEST_F(choosing, who_creates_while_a_window_is_judged_is_not_confused) {
  lies(0, 64, 2);
  all_join();
  const std::unique_ptr<test_task> later = updates(0);
  for (int i = 0; i < 300; i++) {
    asked = parse("auto");
    asked.object->begin(v.seen());
    for (const auto& t : tasks) EXPECT_TRUE(joins(*t));
    std::thread creates([&] { while (joins(*later)) {} });
    task_window w = window_of(v, known, frames, false);
    asked.object->created(w);
    creates.join();
    ASSERT_EQ(asked.object->explanation().find("follow their data"), std::string::npos)
        << asked.object->explanation();
  }
}

// As if the creator had been interrupted: what is used again is not in the first window.
TEST_F(choosing, few_tasks_that_leave_memory_are_no_verdict) {
  lies(0, 16, 2);
  const auto shown = [&](std::uint64_t count) {
    std::vector<std::unique_ptr<test_task>> few;
    std::vector<flow::frame*> of_few;
    for (std::uint64_t i = 0; i < count; i++) {
      few.push_back(updates(i % 16));
      EXPECT_TRUE(joins(*few.back()));
      of_few.push_back(few.back()->of_function(lasting_6_us).get());
    }
    task_window w = window_of(v, known, of_few, true);
    asked.object->created(w);
    return w.moves_memory();
  };
  EXPECT_FALSE(shown(20));
  EXPECT_GT(asked.object->window(), 0u);
  EXPECT_TRUE(shown(64));
  EXPECT_EQ(asked.object->window(), 0u);
}

// Twice as many tasks each time.
TEST_F(choosing, looks_again_when_tasks_use_other_memory_of_one_node) {
  for (int n = 0; n < 4; n++) lies(n == 0 ? 0 : 100 + static_cast<std::uint64_t>(n), 1, n);
  lies(200, 64, 1);
  std::vector<int> tasks_until_it_looks;
  for (int phase = 0; phase < 3; phase++) {
    EXPECT_TRUE(joins(*updates(0)));
    for (const std::uint64_t p : {101, 102, 103}) static_cast<void>(joins(*updates(p)));
    ASSERT_EQ(asked.object->window(), 0u);
    int asked_about = 0;
    while (asked.object->window() == 0 && asked_about < 100'000) {
      is_placed(*updates(200 + static_cast<std::uint64_t>(asked_about % 64)));
      asked_about++;
    }
    tasks_until_it_looks.push_back(asked_about);
  }
  EXPECT_LT(tasks_until_it_looks[2], 100'000);
  EXPECT_GT(tasks_until_it_looks[1], tasks_until_it_looks[0] * 3 / 2);
  EXPECT_GT(tasks_until_it_looks[2], tasks_until_it_looks[1] * 3 / 2);
}

TEST_F(choosing, does_not_look_again_while_tasks_use_what_is_spread) {
  for (int n = 0; n < 4; n++) lies(static_cast<std::uint64_t>(n), 1, n);
  for (std::uint64_t p = 0; p < 4; p++) static_cast<void>(joins(*updates(p)));
  ASSERT_EQ(asked.object->window(), 0u);
  for (int i = 0; i < 20'000; i++) is_placed(*updates(static_cast<std::uint64_t>(i % 4)));
  EXPECT_EQ(asked.object->window(), 0u);
}

}  // namespace
}  // namespace weir::place
