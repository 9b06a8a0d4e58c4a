// The whole graph of a program, and the divisions that runs are compared with.
#include <bench/common/task_names.hpp>
#include <bench/partition/bound.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace weir::bench {
namespace {

configuration problem_of(const kernel& k, std::vector<std::size_t> size, std::vector<std::size_t> block,
                         int iterations) {
  configuration c = k.defaults;
  c.size = std::move(size);
  c.block = std::move(block);
  c.iterations = iterations;
  c.data_in = storage::own;
  c.init = first_touch::inside;
  check_configuration(k, c);
  return c;
}

TEST(task_names, have_the_number_of_the_task) {
  task_names names;
  EXPECT_STREQ(names.next("fill"), "fill#0");
  const char* const second = names.next("a#3");
  EXPECT_STREQ(second, "a#3#1");
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(task_names::number_in(second), 1u);
  for (const char* none : {"", "fill", "fill#", "fill#1x", "fill 1"})
    EXPECT_FALSE(task_names::number_in(none).has_value()) << none;
  EXPECT_STREQ(name_in(nullptr, "fill"), "fill");
}

// Each block is written, and then updated in each iteration by a task that reads two others.
TEST(whole_program, has_all_tasks_and_what_they_have_in_common) {
  const kernel& k = find_kernel("nstream");
  const whole_program p = see_all_of(k, problem_of(k, {256}, {64}, 2));
  constexpr std::uint64_t block_bytes = 64 * sizeof(double);
  ASSERT_EQ(p.bytes.size(), 4u + 2 * 4);
  for (std::size_t i = 0; i < p.bytes.size(); i++) EXPECT_EQ(p.bytes[i], 3 * block_bytes) << i;
  ASSERT_EQ(p.links.size(), 3u * 2 * 4);
  EXPECT_EQ(p.bytes_there, 0u);
  std::vector<std::uint64_t> used(p.bytes.size(), 0);
  for (const task_window::link& l : p.links) {
    EXPECT_LT(l.from, l.to);
    EXPECT_EQ(l.from % 4, l.to % 4);
    used[l.to] += l.bytes;
  }
  for (std::size_t i = 4; i < used.size(); i++) EXPECT_EQ(used[i], 4 * block_bytes) << i;
}

// In whatever order its tasks run.
TEST(whole_program, is_the_same_each_time) {
  for (const char* name : {"seidel-2d", "red-black", "jacobi-2d", "conjugate-gradient"}) {
    const kernel& k = find_kernel(name);
    const bool is_grid = std::string(name) == "conjugate-gradient";
    const configuration c = is_grid ? problem_of(k, {32, 32}, {4}, 3) : problem_of(k, {64, 64}, {16, 16}, 3);
    const whole_program a = see_all_of(k, c), b = see_all_of(k, c);
    EXPECT_EQ(a.bytes, b.bytes) << name;
    EXPECT_GT(a.links.size(), a.bytes.size()) << name;
    EXPECT_TRUE(std::ranges::equal(a.links, b.links, [](const auto& x, const auto& y) {
      return x.from == y.from && x.to == y.to && x.bytes == y.bytes;
    })) << name;
  }
}

TEST(offline_bound, is_below_what_careless_runs_send) {
  const kernel& k = find_kernel("jacobi-2d");
  const whole_program p = see_all_of(k, problem_of(k, {128, 128}, {16, 16}, 4));
  const policy_machine m = machine_seen({.workers = 4, .machine = "nodes:2 cpus:2"});
  ASSERT_EQ(m.nodes, 2);
  const offline_bound bound(p, m, {.imbalance = 0.05, .seeds = 2});
  ASSERT_FALSE(bound.divisions().empty());
  EXPECT_EQ(bound.divisions().front().bands, 1u);
  for (const offline_division& d : bound.divisions()) {
    EXPECT_GT(d.cut_bytes, 0);
    EXPECT_LE(d.cut_bytes, bound.all_bytes());
    EXPECT_LE(d.imbalance, 0.05 + 1e-9);
    EXPECT_LE(d.speed, 1);
  }
  const auto earliest =
      std::ranges::min_element(bound.divisions(), {}, [](const offline_division& d) { return d.length_ns; });
  EXPECT_LE(bound.best().length_ns, 1.03 * earliest->length_ns);
  std::vector<int> node(p.bytes.size(), 1);
  const bytes_between in_one = bound.of_run(node);
  EXPECT_EQ(in_one.cut_bytes, 0);
  EXPECT_DOUBLE_EQ(in_one.imbalance, 1);
  for (std::size_t i = 0; i < node.size(); i++) node[i] = static_cast<int>(i % 2);
  const bytes_between in_turn = bound.of_run(node);
  EXPECT_GT(in_turn.cut_bytes, 2 * bound.best().cut_bytes);
  EXPECT_LT(in_turn.speed, bound.best().speed);
}

}  // namespace
}  // namespace weir::bench
