// The arithmetic of comparisons: which rival is chosen on which repeats, ratios, their means and intervals.
#include <tools/eval/comparison.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace weir::tools;
using json = nlohmann::ordered_json;
using contenders = std::map<std::string, repeats>;

TEST(comparison, mean_and_interval) {
  EXPECT_DOUBLE_EQ(geometric_mean({}).mean, 1);
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}).mean, 4);
  EXPECT_FALSE(geometric_mean({2, 8}).low.has_value());
  // Logarithms -1, 0, 1: their standard deviation is 1, and Student's t with two degrees of freedom 4.303.
  const estimate e = geometric_mean({std::exp(-1.0), 1, std::exp(1.0)});
  EXPECT_NEAR(e.mean, 1, 1e-12);
  EXPECT_NEAR(std::log(*e.high), 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(std::log(*e.low), -4.303 / std::sqrt(3.0), 1e-9);
  const estimate same = geometric_mean({1.5, 1.5, 1.5, 1.5, 1.5});
  EXPECT_NEAR(*same.low, 1.5, 1e-9);
  EXPECT_NEAR(*same.high, 1.5, 1e-9);
}

// "even" wins in even repeats, and so is compared with in odd ones, where it is slow.
TEST(comparison, a_rival_is_not_compared_where_it_was_chosen) {
  const contenders times = {{"own", {{1, 10}, {2, 10}, {3, 10}, {4, 10}}},
                            {"even", {{1, 40}, {2, 5}, {3, 40}, {4, 5}}},
                            {"odd", {{1, 5}, {2, 20}, {3, 5}, {4, 20}}}};
  const auto cell = compare_cell("c", times, "own", {"even", "odd"});
  ASSERT_TRUE(cell);
  EXPECT_DOUBLE_EQ(cell->ratios.at(1), 10.0 / 40);
  EXPECT_DOUBLE_EQ(cell->ratios.at(2), 10.0 / 20);
  EXPECT_DOUBLE_EQ(cell->ratios.at(3), 10.0 / 40);
  EXPECT_DOUBLE_EQ(cell->medians.at("own"), 10);
  EXPECT_EQ(cell->rival, "odd");
  EXPECT_DOUBLE_EQ(cell->medians.at("odd"), 12.5);
}

TEST(comparison, repeats_that_are_missing) {
  EXPECT_FALSE(compare_cell("c", {{"own", {{1, 1}, {2, 1}}}}, "own", {"rival"}));
  EXPECT_FALSE(compare_cell("c", {{"rival", {{1, 1}, {2, 1}}}}, "own", {"rival"}));
  // Nothing to choose on in the other half.
  EXPECT_FALSE(compare_cell("c", {{"own", {{1, 1}, {3, 1}}}, {"rival", {{1, 1}, {3, 1}}}}, "own", {"rival"}));
  const contenders times = {{"own", {{1, 2}, {2, 2}, {3, 2}}}, {"rival", {{2, 1}, {3, 1}}}};
  const auto cell = compare_cell("c", times, "own", {"rival"});
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->ratios, (std::map<int, double>{{2, 2}, {3, 2}}));
}

json plan() {
  return json::parse(R"([{"title": "a comparison", "cell": "{shape} {data}", "contender": "{by}", "repeat": "{repeat}",
                          "value": "ms", "without": {"run": 0}, "subject": "own",
                          "rivals": ["one", "two", "absent"]}])");
}

json line(const std::string& shape, const std::string& by, int repeat, int run, double ms) {
  return {{"shape", shape}, {"data", "near"}, {"by", by}, {"repeat", repeat}, {"run", run}, {"ms", ms}};
}

std::vector<json> lines() {
  std::vector<json> all;
  for (int repeat = 1; repeat <= 4; repeat++) {
    for (const double ms : {0.9, 1.1}) all.push_back(line("even", "own", repeat, 1, ms));
    all.push_back(line("even", "own", repeat, 0, 100));
    all.push_back(line("even", "one", repeat, 1, 1));
    all.push_back(line("even", "two", repeat, 1, 2));
    all.push_back(line("slow", "own", repeat, 1, 4));
    all.push_back(line("slow", "one", repeat, 1, 8));
    all.push_back(line("slow", "two", repeat, 1, 1));
  }
  return all;
}

TEST(comparison, from_lines) {
  const auto all = comparisons_of(plan(), lines());
  ASSERT_EQ(all.size(), 1u);
  const comparison& c = all[0];
  EXPECT_EQ(c.rivals, (std::vector<std::string>{"one", "two"}));
  ASSERT_EQ(c.cells.size(), 2u);
  EXPECT_EQ(c.cells[0].name, "even near");
  EXPECT_NEAR(c.cells[0].ratio.mean, 1, 1e-12);  // what warms up is left out, and of two runs it is the median
  EXPECT_EQ(c.cells[0].rival, "one");
  EXPECT_NEAR(c.cells[1].ratio.mean, 4, 1e-12);
  EXPECT_EQ(c.cells[1].rival, "two");
  EXPECT_NEAR(c.overall.mean, 2, 1e-12);
  EXPECT_NEAR(*c.overall.low, 2, 1e-9);
  EXPECT_EQ(c.above(1.05), 1u);
  EXPECT_EQ(c.wholly_above(1.05), 1u);
  EXPECT_EQ(c.above(4.5), 0u);
  EXPECT_TRUE(comparisons_of(plan(), {}).empty());
}

TEST(comparison, a_cell_whose_interval_is_not_wholly_above) {
  std::vector<json> all;
  const double times[] = {1, 3, 1, 3};
  for (int repeat = 1; repeat <= 4; repeat++) {
    all.push_back(line("wide", "own", repeat, 1, times[repeat - 1]));
    all.push_back(line("wide", "one", repeat, 1, 1));
  }
  const auto c = comparisons_of(plan(), all).at(0);
  EXPECT_EQ(c.above(1.15), 1u);
  EXPECT_EQ(c.wholly_above(1.05), 0u);
}

TEST(comparison, table_and_json) {
  const comparison c = comparisons_of(plan(), lines()).at(0);
  const std::string text = comparison_text(c);
  for (const char* part : {"a comparison", "even near", "4.00 [4.00, 4.00]", "best rival",
                           "geometric mean of 2 cells: 2.00", "above 1.05: 1, of these 1 with the whole interval",
                           "above 1.15: 1"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  const json j = comparison_json(c);
  EXPECT_EQ(j["cells"].size(), 2u);
  EXPECT_EQ(j["cells"][1]["medians"], json({{"one", 8.0}, {"own", 4.0}, {"two", 1.0}}));
  EXPECT_EQ(j["above"][0], json({{"limit", 1.05}, {"cells", 1}, {"wholly", 1}}));
}

}  // namespace
