// What `auto` chooses: by a prediction that is right where it can be computed by hand, and never what loses.
#include "graph/graph.hpp"

#include "tests/support/support.hpp"

#include <weir/error.hpp>

#include <numeric>

namespace weir::graphs {
namespace {

own_lists lists_of(const std::vector<std::vector<index>>& before) {
  own_lists l;
  for (const auto& b : before) {
    l.item.insert(l.item.end(), b.begin(), b.end());
    l.offset.push_back(l.item.size());
  }
  return l;
}

aggregation singles(const own_lists& before, std::size_t tasks) {
  aggregation a;
  for (index t = 0; t < tasks; t++) {
    a.members.item.push_back(t);
    a.members.offset.push_back(t + 1u);
  }
  a.before = before;
  return a;
}

TEST(automatic, predictions_are_those_of_a_greedy_scheduler) {
  // 0 -> 1, 2, 3 -> 4
  const own_lists before = lists_of({{}, {0}, {0}, {0}, {1, 2, 3}});
  const std::vector<float> weight{1, 2, 3, 4, 1};
  const coarse_input in{before.view(), 5, weight, {}};
  run_costs c{.workers = 1, .task_ns = 10, .manage_ns = 0, .jump_ns = 0, .handed_on_ns = 0};
  const aggregation a = singles(before, 5);
  EXPECT_DOUBLE_EQ(predicted_ns(in, a, c), 110);
  EXPECT_DOUBLE_EQ(sequential_ns(in, c), 110);
  c.workers = 2;  // 10; then 20 and 30 side by side, 40 after the first; 10
  EXPECT_DOUBLE_EQ(predicted_ns(in, a, c), 10 + 20 + 40 + 10);
  c.workers = 3;
  EXPECT_DOUBLE_EQ(predicted_ns(in, a, c), 10 + 40 + 10);
  c.manage_ns = 5;
  EXPECT_DOUBLE_EQ(predicted_ns(in, a, c), 15 + 45 + 15);
  c.handed_on_ns = 1;
  EXPECT_DOUBLE_EQ(predicted_ns(in, a, c), 15 + 46 + 18);
}

TEST(automatic, everything_in_one_is_one) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(100); i++) {
    std::vector<std::vector<index>> before(test::between(random, 1, 200));
    for (index t = 1; t < before.size(); t++)
      for (std::size_t n = test::between(random, 0, 3); n > 0; n--) before[t].push_back(static_cast<index>(test::between(random, 0, t - 1)));
    const own_lists lists = lists_of(before), after = transposed(lists.view(), before.size());
    const aggregation a = aggregate({lists.view(), before.size()}, after.view(), parse_coarse_string(everything_in_one));
    ASSERT_EQ(a.members.offset.size(), 2u);
  }
}

// A grid of side x side.
own_lists grid(index side) {
  std::vector<std::vector<index>> before;
  for (index t = 0; t < side * side; t++) {
    auto& b = before.emplace_back();
    if (t >= side) b.push_back(t - side);
    if (t % side > 0) b.push_back(t - 1);
  }
  return lists_of(before);
}

std::string chosen(const own_lists& before, const run_costs& costs) {
  const std::size_t tasks = before.offset.size() - 1;
  const own_lists after = transposed(before.view(), tasks);
  const std::vector<candidate> all = candidates({before.view(), tasks}, after.view(), costs, 100);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const candidate& a, const candidate& b) { return a.predicted_ns < b.predicted_ns; }));
  EXPECT_LE(all.front().predicted_ns, sequential_ns({before.view(), tasks}, costs) + costs.manage_ns);
  return all.front().coarse_string;
}

TEST(automatic, what_cannot_win_stays_in_one_piece) {
  std::vector<std::vector<index>> chain(1);
  for (index t = 1; t < 5000; t++) chain.push_back({t - 1});
  const run_costs costs{.workers = 4, .task_ns = 50, .manage_ns = 300};
  for (const own_lists& before : {lists_of(chain), grid(10)}) {
    const std::size_t tasks = before.offset.size() - 1;
    const std::string text = chosen(before, costs);
    EXPECT_EQ(aggregate({before.view(), tasks}, transposed(before.view(), tasks).view(), parse_coarse_string(text)).members.offset.size(), 2u) << text;
  }
}

TEST(automatic, what_can_win_is_cut) {
  const own_lists wide = grid(300);
  const run_costs costs{.workers = 4, .task_ns = 50, .manage_ns = 300};
  const coarse_input in{wide.view(), 90000};
  const own_lists after = transposed(wide.view(), in.tasks);
  const std::vector<candidate> all = candidates(in, after.view(), costs, 1);
  EXPECT_LT(all.front().predicted_ns, 0.5 * sequential_ns(in, costs)) << all.front().coarse_string;
  EXPECT_LE(all.size(), 2u);
}

TEST(automatic, parts_of_planes_are_tried) {
  constexpr index side = 40;
  std::vector<std::vector<index>> before;
  for (index t = 0; t < side * side * side; t++) {
    auto& b = before.emplace_back();
    if (t >= side * side) b.push_back(t - side * side);
    if (t / side % side > 0) b.push_back(t - side);
    if (t % side > 0) b.push_back(t - 1);
  }
  const own_lists cube = lists_of(before), after = transposed(cube.view(), before.size());
  const std::vector<candidate> all = candidates({cube.view(), before.size()}, after.view(), {.workers = 2, .task_ns = 10, .manage_ns = 300, .jump_ns = 25}, 6);
  EXPECT_TRUE(std::ranges::any_of(all, [](const candidate& c) { return c.coarse_string == "CC(5)"; }));
}

TEST(automatic, empty_graphs_are_fine) { EXPECT_FALSE(chosen(own_lists(), {.workers = 4}).empty()); }

// Through the public interface -----------------------------------------------------------------------------------------

TEST(automatic, keeps_results_with_and_without_a_trial) {
  const own_lists lists = grid(60);
  graph g(lists.offset, lists.item);
  runtime rt({.workers = 3});
  std::vector<std::uint32_t> paths(g.tasks());
  const auto body = [&](graph::task_id t) {
    std::uint32_t sum = 1;
    for (std::size_t e = lists.offset[t]; e < lists.offset[t + 1]; e++) sum += paths[lists.item[e]];
    paths[t] = sum;
  };
  for (graph::task_id t = 0; t < g.tasks(); t++) body(t);
  const std::vector<std::uint32_t> expected = paths;
  const auto check = [&](coarse_graph c) {
    EXPECT_NO_THROW(parse_coarse_string(c.algorithms())) << c.algorithms();
    std::fill(paths.begin(), paths.end(), 0);
    c.run(rt, body);
    EXPECT_EQ(paths, expected) << c.algorithms();
  };
  check(aggregate(g, "auto", rt));
  check(aggregate(g, "auto", rt, 1000.0));
  check(aggregate(g, "auto", rt, body));
  std::vector<coarse_graph> several = aggregate_candidates(g, rt, body, 3);
  EXPECT_GE(several.size(), 1u);
  EXPECT_LE(several.size(), 3u);
  for (coarse_graph& c : several) check(std::move(c));
  check(aggregate(g, "CD(4)", rt, body));
  const std::vector<float> costs(g.tasks(), 3000);
  const graph with_costs(lists.offset, lists.item, costs);
  check(aggregate(with_costs, "auto", rt));
}

TEST(automatic, mistakes_are_refused) {
  const own_lists lists = grid(3);
  const graph g(lists.offset, lists.item);
  runtime rt({.workers = 1});
  WEIR_EXPECT_CONTAINS(test::message_of<configuration_error>([&] { aggregate(g, "auto"); }), "auto depends on the runtime");
  WEIR_EXPECT_CONTAINS(test::message_of<usage_error>([&] { aggregate(g, "auto", rt, -1.0); }), "a task cannot cost -1");
  WEIR_EXPECT_CONTAINS(test::message_of<usage_error>([&] { aggregate_candidates(g, rt, [](graph::task_id) {}, 0); }), "expected 1 or more");
  WEIR_EXPECT_CONTAINS(test::message_of<configuration_error>([&] { aggregate(g, "autos", rt); }), "there is no algorithm 'a'");
  // A body that throws: its failure, and nothing hangs.
  WEIR_EXPECT_CONTAINS(test::message_of<std::runtime_error>([&] { aggregate(g, "auto", rt, [](graph::task_id) { throw std::runtime_error("no luck"); }); }), "no luck");
  coarse_graph c = aggregate(g, "S");
  c.run(rt, [](graph::task_id) {});
}

}  // namespace
}  // namespace weir::graphs
