// What every coarse string owes: no cycle, no dependence lost, each task once; and what the algorithms are for.
#include "graph/graph.hpp"

#include "tests/support/support.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>

namespace weir::graphs {
namespace {

using test::between;

struct test_graph {
  own_lists before;
  own_lists after;
  std::vector<float> weight;

  std::size_t tasks() const { return before.offset.size() - 1; }
  coarse_input input(std::vector<index>& order) const {
    if (!is_ascending(before.view(), tasks())) order = topological_order(before.view(), after.view(), tasks());
    return {before.view(), tasks(), weight, order};
  }
  aggregation aggregated(const std::string& coarse_string) const {
    std::vector<index> order;
    return aggregate(input(order), after.view(), parse_coarse_string(coarse_string));
  }
};

test_graph from(const std::vector<std::vector<index>>& before) {
  test_graph g;
  for (const auto& list : before) {
    g.before.item.insert(g.before.item.end(), list.begin(), list.end());
    g.before.offset.push_back(g.before.item.size());
  }
  g.after = transposed(g.before.view(), g.tasks());
  return g;
}

test_graph cube(index n) {
  std::vector<std::vector<index>> before;
  for (index z = 0; z < n; z++)
    for (index y = 0; y < n; y++)
      for (index x = 0; x < n; x++) {
        const index t = (z * n + y) * n + x;
        auto& b = before.emplace_back();
        if (z > 0) b.push_back(t - n * n);
        if (y > 0) b.push_back(t - n);
        if (x > 0) b.push_back(t - 1);
      }
  return from(before);
}

// Chains, grids, trees and noise, with edges named twice; numbered in a topological order or in any.
test_graph random_graph(std::mt19937_64& random) {
  const std::size_t tasks = between(random, 1, 400), most = between(random, 0, 4), near = between(random, 1, tasks);
  const std::size_t chains_percent = between(random, 0, 100);
  std::vector<index> name(tasks);
  std::iota(name.begin(), name.end(), 0u);
  if (between(random, 0, 1) == 1) std::shuffle(name.begin(), name.end(), random);
  std::vector<std::vector<index>> before(tasks);
  for (std::size_t i = 1; i < tasks; i++) {
    if (between(random, 1, 100) <= chains_percent) before[name[i]].push_back(name[i - 1]);
    else
      for (std::size_t n = between(random, 0, most); n > 0; n--) before[name[i]].push_back(name[between(random, i > near ? i - near : 0, i - 1)]);
  }
  test_graph g = from(before);
  if (between(random, 0, 1) == 1)
    for (std::size_t t = 0; t < tasks; t++) g.weight.push_back(static_cast<float>(between(random, 0, 1000)));
  return g;
}

std::string random_coarse_string(std::mt19937_64& random) {
  std::string text;
  for (std::size_t n = between(random, 1, 4); n > 0; n--) {
    const std::string parameter = "(" + std::to_string(between(random, 2, 40)) + ")";
    const std::string steps[] = {"S", "C", "C" + parameter, "D" + parameter, "F" + parameter, "F(1)", "T" + parameter};
    text += steps[between(random, 0, 6)];
  }
  return text;
}

std::vector<index> aggregate_of(const aggregation& a, std::size_t tasks) {
  std::vector<index> of(tasks, 0xffffffffu);
  for (index c = 0; c + 1 < a.members.offset.size(); c++)
    for (index t : a.members.view().of(c)) of[t] = c;
  return of;
}

void check(const test_graph& g, const aggregation& a) {
  const std::size_t count = a.members.offset.size() - 1;
  ASSERT_EQ(a.before.offset.size(), count + 1);
  std::vector<index> sorted = a.members.item;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted.size(), g.tasks());
  for (index t = 0; t < g.tasks(); t++) ASSERT_EQ(sorted[t], t) << "every task is in one aggregate";
  for (index c = 0; c < count; c++) ASSERT_FALSE(a.members.view().of(c).empty());
  const std::vector<index> of = aggregate_of(a, g.tasks());
  std::vector<std::size_t> place(g.tasks());
  for (std::size_t i = 0; i < a.members.item.size(); i++) place[a.members.item[i]] = i;
  std::set<std::pair<index, index>> needed, found;
  for (index t = 0; t < g.tasks(); t++)
    for (index b : g.before.view().of(t)) {
      if (of[b] == of[t]) ASSERT_LT(place[b], place[t]) << "members are in an order that keeps dependences";
      else needed.emplace(of[b], of[t]);
    }
  for (index c = 0; c < count; c++)
    for (index b : a.before.view().of(c)) ASSERT_TRUE(found.emplace(b, c).second) << "every edge is named once";
  ASSERT_EQ(found, needed);
  const own_lists after = transposed(a.before.view(), count);
  ASSERT_EQ(topological_order(a.before.view(), after.view(), count).size(), count) << "no cycle";
}

TEST(aggregate, keeps_every_dependence_and_makes_no_cycle) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(3000); i++) {
    const test_graph g = random_graph(random);
    const std::string coarse_string = random_coarse_string(random);
    check(g, g.aggregated(coarse_string));
    if (::testing::Test::HasFatalFailure()) FAIL() << "graph " << i << ", " << coarse_string;
  }
}

// Nothing waits for the last ones; what comes before something has at least as much behind it.
TEST(ranks, follow_the_heaviest_chain) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(300); i++) {
    const test_graph g = random_graph(random);
    const std::vector<float> even(g.tasks(), 1);
    for (const bool transposed_too : {false, true}) {
      const lists before = transposed_too ? g.after.view() : g.before.view();
      const lists after = transposed_too ? g.before.view() : g.after.view();
      const std::vector<std::uint8_t> ranks = ranks_of(before, after, g.weight.empty() ? even : g.weight);
      ASSERT_EQ(ranks.size(), g.tasks());
      if (!ranks.empty()) { ASSERT_EQ(*std::ranges::min_element(ranks), 0); }
      for (index t = 0; t < g.tasks(); t++) {
        ASSERT_LT(ranks[t], rank_classes);
        for (const index next : after.of(t)) ASSERT_LE(ranks[t], ranks[next]);
      }
    }
  }
  const test_graph chain = from({{}, {0}, {1}, {2}});
  EXPECT_EQ(ranks_of(chain.before.view(), chain.after.view(), std::vector<float>{1, 1, 1, 1}), (std::vector<std::uint8_t>{0, 4, 8, 12}));
  EXPECT_EQ(ranks_of(chain.before.view(), chain.after.view(), std::vector<float>{1, 0, 0, 7}), (std::vector<std::uint8_t>{0, 2, 2, 2}));
}

// A binary tree in postorder: children, then their parent.
std::vector<std::vector<index>> tree(int depth) {
  std::vector<std::vector<index>> before;
  const std::function<index(int)> add = [&](int below) {
    const std::vector<index> children = below == 0 ? std::vector<index>() : std::vector<index>{add(below - 1), add(below - 1)};
    before.push_back(children);
    return static_cast<index>(before.size() - 1);
  };
  add(depth);
  return before;
}

std::vector<std::size_t> sizes_of(const aggregation& a) {
  std::vector<std::size_t> sizes;
  for (index c = 0; c + 1 < a.members.offset.size(); c++) sizes.push_back(a.members.view().size(c));
  return sizes;
}

TEST(aggregate, subtrees_are_the_largest_ones_that_fit) {
  const test_graph g = from(tree(4));  // 31 tasks
  using sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes_of(g.aggregated("T(31)")), sizes{31});
  EXPECT_EQ(sizes_of(g.aggregated("T(16)")), (sizes{15, 15, 1}));
  EXPECT_EQ(sizes_of(g.aggregated("T(7)")), (sizes{7, 7, 1, 7, 7, 1, 1}));
  EXPECT_EQ(sizes_of(g.aggregated("T(2)")).size(), 31u);
  // Parts that nothing joins stay apart; the three tasks of a separator stay alone.
  std::vector<std::vector<index>> parts;
  for (index first : {0u, 16u})
    for (index i = 0; i < 16; i++) parts.push_back(i == 0 ? std::vector<index>() : std::vector<index>{first + i - 1});
  EXPECT_EQ(sizes_of(from(parts).aggregated("T(16)")), (sizes{16, 16}));
  for (index i = 0; i < 3; i++) parts.push_back({15, i == 0 ? 31 : 31 + i});
  EXPECT_EQ(sizes_of(from(parts).aggregated("T(16)")), (sizes{16, 16, 1, 1, 1}));
  EXPECT_EQ(sizes_of(from(parts).aggregated("T(16)F(1)")), (sizes{32, 1, 1, 1}));
}

// Whatever the graph: ranges of its order, none too large, which wait for nothing outside, and single tasks.
TEST(aggregate, subtrees_are_ranges) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(200); i++) {
    const test_graph g = random_graph(random);
    const std::size_t most = between(random, 2, 60);
    std::vector<index> order;
    const coarse_input in = g.input(order);
    const partition p = aggregate_subtrees(in, most);
    std::vector<std::size_t> size(p.count, 0), outside(p.count, 0);
    for (std::size_t at = 0; at < g.tasks(); at++) {
      const index of = p.of[in.at(at)];
      if (at > 0) {
        ASSERT_LE(of - p.of[in.at(at - 1)], 1u);
      }
      size[of]++;
      for (index b : g.before.view().of(in.at(at))) outside[of] += p.of[b] != of ? 1 : 0;
    }
    for (std::size_t a = 0; a < p.count; a++) ASSERT_LE(size[a], outside[a] > 0 ? 1 : most);
  }
}

TEST(aggregate, sequences_are_merged_whole_and_nothing_else_is) {
  const test_graph g = from({{}, {0}, {1}, {2, 0}, {2}, {4}, {5}});
  EXPECT_EQ(aggregate_of(g.aggregated("S"), 7), (std::vector<index>{0, 1, 1, 2, 3, 3, 3}));
  std::vector<std::vector<index>> chain(1);
  for (index t = 1; t < 100; t++) chain.push_back({t - 1});
  EXPECT_EQ(from(chain).aggregated("S").members.offset.size(), 2u);
}

TEST(aggregate, fronts_have_as_many_aggregates_as_allowed_and_balance_weights) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(200); i++) {
    test_graph g = random_graph(random);
    if (g.weight.empty()) g.weight.assign(g.tasks(), 1);
    const std::size_t most = between(random, 1, 20);
    const aggregation a = g.aggregated("F(" + std::to_string(most) + ")");
    std::vector<index> order, level(g.tasks(), 0);
    const coarse_input in = g.input(order);
    for (std::size_t k = 0; k < g.tasks(); k++)
      for (index b : g.before.view().of(in.at(k))) level[in.at(k)] = std::max(level[in.at(k)], level[b] + 1);
    std::vector<double> all(g.tasks(), 0), heaviest_task(g.tasks(), 0), heaviest(g.tasks(), 0);
    std::vector<std::size_t> aggregates(g.tasks(), 0), tasks(g.tasks(), 0);
    for (index t = 0; t < g.tasks(); t++) {
      all[level[t]] += in.weight_of(t);
      heaviest_task[level[t]] = std::max(heaviest_task[level[t]], in.weight_of(t));
      tasks[level[t]]++;
    }
    for (index c = 0; c + 1 < a.members.offset.size(); c++) {
      const index l = level[a.members.view().of(c)[0]];
      double weight = 0;
      for (index t : a.members.view().of(c)) {
        ASSERT_EQ(level[t], l);
        weight += in.weight_of(t);
      }
      aggregates[l]++;
      heaviest[l] = std::max(heaviest[l], weight);
    }
    for (std::size_t l = 0; l < g.tasks(); l++) {
      ASSERT_LE(aggregates[l], most);
      ASSERT_LE(heaviest[l], all[l] / static_cast<double>(std::min(most, std::max<std::size_t>(tasks[l], 1))) + heaviest_task[l] + 1e-9);
    }
  }
}

TEST(aggregate, depth_fronts_prefer_tasks_with_more_predecessors_inside) {
  // A grid of 4 x 4: blocks of 2 x 2, though they are not next to each other in any list.
  std::vector<std::vector<index>> before;
  for (index y = 0; y < 4; y++)
    for (index x = 0; x < 4; x++) {
      auto& b = before.emplace_back();
      if (y > 0) b.push_back(4 * (y - 1) + x);
      if (x > 0) b.push_back(4 * y + x - 1);
    }
  const std::vector<index> of = aggregate_of(from(before).aggregated("D(4)"), 16);
  for (index y = 0; y < 4; y++)
    for (index x = 0; x < 4; x++) {
      EXPECT_EQ(of[4 * y + x], of[4 * (y / 2 * 2) + x / 2 * 2]) << x << ", " << y;
      if (x % 2 == 0 && x > 0) { EXPECT_NE(of[4 * y + x], of[4 * y + x - 1]); }
    }
}

TEST(aggregate, depth_fronts_are_never_larger_than_allowed) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(200); i++) {
    const test_graph g = random_graph(random);
    const std::size_t most = between(random, 2, 50);
    for (const char* algorithm : {"D(", "C("}) {
      const aggregation a = g.aggregated(algorithm + std::to_string(most) + ")");
      for (index c = 0; c + 1 < a.members.offset.size(); c++) ASSERT_LE(a.members.view().size(c), most);
    }
  }
}

// Rossignon et al., PDSEC 2013, section IV.A: CD(4) makes 2500 aggregates of the million tasks of a cube.
TEST(aggregate, a_cube_becomes_rows_and_then_blocks_of_four_rows) {
  const index n = 20;
  const test_graph g = cube(n);
  const aggregation rows = g.aggregated("C");
  ASSERT_EQ(rows.members.offset.size() - 1, n * n);
  for (index c = 0; c < n * n; c++)
    for (index k = 0; k < n; k++) EXPECT_EQ(rows.members.view().of(c)[k], c * n + k);
  EXPECT_EQ(rows.before.item.size(), 2u * n * (n - 1));
  const aggregation blocks = g.aggregated("CD(4)");
  EXPECT_EQ(blocks.members.offset.size() - 1, n * n / 4);
  for (index c = 0; c < n * n / 4; c++) EXPECT_EQ(blocks.members.view().size(c), 4 * n);
}

// Two chains that cross: a1 -> a2, b1 -> b2, a1 -> b2, b1 -> a2. Merging both would make a cycle.
TEST(aggregate, continuations_that_would_make_a_cycle_are_left) {
  const test_graph g = from({{}, {}, {1, 0}, {0, 2}});
  check(g, g.aggregated("C"));
  const test_graph crossing = from({{}, {}, {0, 1}, {0, 1}});
  check(crossing, crossing.aggregated("C"));
}

// Saved aggregations -------------------------------------------------------------------------------------------------

class saved : public ::testing::Test {
 protected:
  saved() { std::filesystem::create_directories(folder_); }
  ~saved() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ / name; }

  // A graph in bulk with its arrays.
  struct bulk_graph {
    test_graph arrays;
    std::unique_ptr<detail::graph_state> state;
  };
  static bulk_graph in_bulk(test_graph g) {
    bulk_graph b{std::move(g), nullptr};
    const std::span<const std::size_t> offset(b.arrays.before.offset);
    b.state = std::make_unique<detail::graph_state>(bulk_tasks{offset.first(offset.size() - 1), offset.last(offset.size() - 1), b.arrays.before.item});
    return b;
  }
  static detail::coarse_state coarse_of(const bulk_graph& g, const std::string& string) { return {*g.state, string, g.arrays.aggregated(string)}; }
  static std::string contents_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string contents_of(const detail::coarse_state& c) const {
    c.save(path("saved"));
    return contents_of(path("saved"));
  }

 private:
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("weir-saved-" + std::to_string(std::random_device{}()));
};

TEST_F(saved, comes_back_as_it_was) {
  std::mt19937_64 random(test::new_seed());
  for (std::size_t i = 0; i < test::effort(200); i++) {
    const bulk_graph g = in_bulk(random_graph(random));
    const detail::coarse_state c = coarse_of(g, random_coarse_string(random));
    c.save(path("file"));
    const auto back = detail::coarse_state::load(path("file"), *g.state);
    EXPECT_EQ(back->algorithms, c.algorithms);
    EXPECT_EQ(back->members.item, c.members.item);
    EXPECT_EQ(back->members.offset, c.members.offset);
    ASSERT_EQ(back->aggregates.edges(), c.aggregates.edges());
    check(g.arrays, {back->members, {std::vector<std::size_t>(back->aggregates.before().begin, back->aggregates.before().begin + back->aggregates.tasks() + 1),
                                     std::vector<index>(back->aggregates.before().item, back->aggregates.before().item + back->aggregates.edges())}});
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST_F(saved, belongs_to_one_graph) {
  const bulk_graph g = in_bulk(cube(4)), other = in_bulk(from(std::vector<std::vector<index>>(64)));
  const std::string file = path("file");
  coarse_of(g, "CD(4)").save(file);
  EXPECT_EQ(contents_of(file).size(), std::string("weir aggregation 1\ngraph 64 144 0123456789abcdef\nalgorithms CD(4)\naggregates 4\n").size() + 4 * (4 + 64));
  const std::string message = test::message_of<error>([&] { detail::coarse_state::load(file, *other.state); });
  WEIR_EXPECT_CONTAINS(message, file + ": made from another graph: its tasks, edges and fingerprint are 64 144 ");
  WEIR_EXPECT_CONTAINS(message, "those of this one 64 0 ");
  // One edge that leads elsewhere.
  test_graph bent = cube(4);
  bent.before.item.back() = 0;
  const bulk_graph almost = in_bulk(from([&] {
    std::vector<std::vector<index>> lists;
    for (index t = 0; t < 64; t++) lists.emplace_back(bent.before.view().of(t).begin(), bent.before.view().of(t).end());
    return lists;
  }()));
  WEIR_EXPECT_CONTAINS(test::message_of<error>([&] { detail::coarse_state::load(file, *almost.state); }), "made from another graph");
}

TEST_F(saved, damage_is_named) {
  const bulk_graph g = in_bulk(from({{}, {0}, {}, {2}}));
  const std::string whole = contents_of(coarse_of(g, "S"));
  const auto refusal = [&](const std::string& contents) { return test::message_of<error>([&] { detail::coarse_state::parse(contents, "FILE", *g.state); }); };
  const std::size_t numbers = whole.size() - 4 * (2 + 4);
  EXPECT_EQ(refusal(""), "FILE: byte 0: expected \"weir aggregation 1\"");
  EXPECT_EQ(refusal("something else\n"), "FILE: not a saved aggregation; expected \"weir aggregation 1\" in the first line");
  WEIR_EXPECT_CONTAINS(refusal(whole.substr(0, 30)), "expected \"graph TASKS EDGES FINGERPRINT\"");
  WEIR_EXPECT_CONTAINS(refusal(whole.substr(0, whole.size() - 1)), "23 bytes are left, expected 24 for 2 aggregates of 4 tasks");
  WEIR_EXPECT_CONTAINS(refusal(whole + "x"), "25 bytes are left, expected 24");
  const auto with = [&](std::size_t number, char value) {
    std::string changed = whole;
    changed[numbers + 4 * number] = value;
    return refusal(changed);
  };
  WEIR_EXPECT_CONTAINS(with(0, 0), "aggregate 0 has no tasks");
  WEIR_EXPECT_CONTAINS(with(0, 3), "the aggregates have 5 tasks together, the graph 4");
  WEIR_EXPECT_CONTAINS(with(2, 9), "there is no task 9, the graph has 4");
  WEIR_EXPECT_CONTAINS(with(2, 1), "task 1 is in two places");
  std::string swapped = whole;
  std::swap(swapped[numbers + 8], swapped[numbers + 12]);
  WEIR_EXPECT_CONTAINS(refusal(swapped), "aggregate 0 has task 1 before task 0, on which it depends");
  std::string crossed = whole;  // {0, 3} and {2, 1}
  std::swap(crossed[numbers + 12], crossed[numbers + 20]);
  WEIR_EXPECT_CONTAINS(refusal(crossed), "the aggregates make a cycle of 2 tasks: aggregate ");
  std::string string = whole;
  string[whole.find("algorithms ") + 11] = 'Q';
  WEIR_EXPECT_CONTAINS(refusal(string), "there is no algorithm 'Q'");
  WEIR_EXPECT_CONTAINS(test::message_of<error>([&] { detail::coarse_state::load(path("nothing"), *g.state); }), "nothing: cannot be read: No such file");
  WEIR_EXPECT_CONTAINS(test::message_of<error>([&] { coarse_of(g, "S").save(path("no/folder")); }), "no/folder: cannot be written: No such file");
}

// Whatever a file holds: it is refused, or what it says is an aggregation of the graph.
TEST_F(saved, any_damage_is_refused_or_harmless) {
  std::mt19937_64 random(test::new_seed());
  std::size_t harmless = 0;
  const bulk_graph g = in_bulk(cube(3));
  const std::string good = contents_of(coarse_of(g, "CD(2)"));
  for (std::size_t i = 0; i < test::effort(20000); i++) {
    std::string contents = good;
    for (std::size_t n = between(random, 1, 4); n > 0; n--) {
      const std::size_t at = between(random, 0, contents.size() - 1), numbers = contents.size() - std::min<std::size_t>(contents.size(), 108);
      switch (between(random, 0, 4)) {
        case 0: contents[at] = static_cast<char>(between(random, 0, 255)); break;
        case 1: contents.erase(at, between(random, 1, 8)); break;
        case 2: contents.insert(at, between(random, 1, 8), static_cast<char>(between(random, 0, 255))); break;
        case 3: contents[std::max(at, numbers)] = static_cast<char>(between(random, 0, 27)); break;
        default:  // two numbers change places
          if (contents.size() > numbers + 8) {
            const std::size_t last = (contents.size() - numbers) / 4 - 1;
            const auto number = [&] { return contents.begin() + static_cast<std::ptrdiff_t>(numbers + 4 * between(random, 0, last)); };
            const auto one = number();
            if (const auto other = number(); other != one) std::swap_ranges(one, one + 4, other);
          }
      }
      if (contents.empty()) contents = "w";
    }
    try {
      const auto c = detail::coarse_state::parse(contents, "FILE", *g.state);
      harmless++;
      check(g.arrays, {c->members, {std::vector<std::size_t>(c->aggregates.before().begin, c->aggregates.before().begin + c->aggregates.tasks() + 1),
                                    std::vector<index>(c->aggregates.before().item, c->aggregates.before().item + c->aggregates.edges())}});
      ASSERT_FALSE(HasFatalFailure()) << "file " << i;
    } catch (const error& e) {
      ASSERT_FALSE(std::string(e.what()).empty());
    }
  }
  std::printf("%zu files were good in spite of the damage\n", harmless);
}

}  // namespace
}  // namespace weir::graphs
