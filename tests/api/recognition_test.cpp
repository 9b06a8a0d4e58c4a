// Programs that iterate, under policies that recognise what they have placed: nothing is lost, done twice or too
// early.
#include "tests/support/support.hpp"

#include <array>
#include <cctype>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace weir::test {
namespace {

constexpr const char* several_nodes = "nodes:4 cpus:1";
constexpr std::size_t longs_per_block = 64;

// Tasks that each make a block of two others and what it was. Of data, or of memory of the program's own.
class iteration {
 public:
  struct step {
    std::size_t to, a, b;
    bool of_data;
  };
  iteration(std::mt19937_64& random, std::size_t blocks, std::size_t tasks) : random_(random), blocks_(blocks) {
    for (std::size_t i = 0; i < tasks; i++) steps_.push_back(any());
  }
  // Half of it is as before.
  void change() {
    for (step& s : steps_)
      if (random_() % 2 == 0) s = any();
    steps_.resize(steps_.size() - steps_.size() / 4);
  }
  const std::vector<step>& steps() const { return steps_; }

 private:
  step any() {
    const std::size_t to = random_() % blocks_, a = (to + 1 + random_() % (blocks_ - 2)) % blocks_;
    std::size_t b = (to + 1 + random_() % (blocks_ - 1)) % blocks_;
    if (b == a) b = (b + 1) % blocks_ == to ? (b + 2) % blocks_ : (b + 1) % blocks_;
    return {to, a, b, random_() % 2 == 0};
  }
  std::mt19937_64& random_;
  const std::size_t blocks_;
  std::vector<step> steps_;
};

long mixed(long was, long a, long b) { return (3 * was + a + 5 * b + 1) % 1000003; }

class blocks_of_a_program {
 public:
  blocks_of_a_program(runtime& rt, std::size_t n) : rt_(rt) {
    for (std::size_t i = 0; i < n; i++) {
      data_.push_back(rt.make_data(std::vector<long>{static_cast<long>(i)}));
      own_.push_back(std::make_unique<long[]>(longs_per_block));
      own_.back()[0] = static_cast<long>(2 * i);
      expected_data_.push_back(static_cast<long>(i));
      expected_own_.push_back(static_cast<long>(2 * i));
    }
  }
  void spawn(const iteration::step& s) {
    std::vector<long>& expected = s.of_data ? expected_data_ : expected_own_;
    expected[s.to] = mixed(expected[s.to], expected[s.a], expected[s.b]);
    const auto mix = [](auto a, auto b, auto to) { to[0] = mixed(to[0], a[0], b[0]); };
    if (s.of_data) rt_.spawn(in(data_[s.a]), in(data_[s.b]), inout(data_[s.to]), mix);
    else rt_.spawn(in(ref(memory(s.a))), in(ref(memory(s.b))), inout(ref(memory(s.to))), mix);
  }
  // Nobody uses it. Each of some blocks lies elsewhere then, some of them where others have been.
  void move_some(std::mt19937_64& random) {
    std::vector<std::pair<std::size_t, long>> moved;
    for (std::size_t i = 0; i < own_.size(); i++)
      if (random() % 3 == 0) moved.emplace_back(i, own_[i][0]);
    for (const auto& [i, value] : moved) own_[i].reset();
    for (const auto& [i, value] : moved) {
      own_[i] = std::make_unique<long[]>(longs_per_block);
      own_[i][0] = value;
    }
  }
  void check() const {
    for (std::size_t i = 0; i < data_.size(); i++) {
      ASSERT_EQ(data_[i].read()[0], expected_data_[i]) << i;
      ASSERT_EQ(own_[i][0], expected_own_[i]) << i;
    }
  }

 private:
  std::span<long> memory(std::size_t i) { return {own_[i].get(), longs_per_block}; }
  runtime& rt_;
  std::vector<data<long>> data_;
  std::vector<std::unique_ptr<long[]>> own_;
  std::vector<long> expected_data_, expected_own_;
};

class recognising : public ::testing::TestWithParam<std::string> {};

TEST_P(recognising, changes_no_result_of_random_iterations) {
  for (std::uint64_t seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    runtime rt({.workers = 4, .policy = GetParam(), .machine = several_nodes});
    const std::size_t n = 4 + random() % 20;
    blocks_of_a_program blocks(rt, n);
    iteration each(random, n, 1 + random() % 100);
    for (int t = 0; t < 24; t++) {
      if (t == 12) each.change();
      for (const iteration::step& s : each.steps()) blocks.spawn(s);
      if (random() % 4 != 0) continue;
      rt.wait();
      blocks.move_some(random);
    }
    rt.wait();
    blocks.check();
    if (HasFatalFailure()) return;
  }
}

// Threads of the program, and tasks that create tasks.
TEST_P(recognising, takes_tasks_of_several_creators) {
  constexpr std::size_t creators = 3, blocks = 7;
  constexpr int times = 40;
  runtime rt({.workers = 4, .policy = GetParam(), .machine = several_nodes});
  std::vector<std::vector<long>> own(creators * blocks, std::vector<long>(longs_per_block, 0));
  const auto all = rt.make_data(std::vector<long>{0});
  const auto create = [&](std::size_t c, auto& where) {
    for (std::size_t b = 0; b < blocks; b++)
      where.spawn(inout(ref(own[c * blocks + b])), commutative(all), [](auto mine, auto sum) {
        mine[0]++;
        sum[0]++;
      });
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t c = 0; c < creators; c++)
      threads.emplace_back([&, c] {
        for (int t = 0; t < times; t++) create(c, rt);
      });
  }
  rt.wait();
  for (int t = 0; t < times; t++)
    for (std::size_t c = 0; c < creators; c++)
      rt.spawn([&, c] {
        scope inner(rt);
        create(c, inner);
        inner.wait();
      });
  rt.wait();
  for (const auto& block : own) EXPECT_EQ(block[0], 2 * times);
  EXPECT_EQ(all.read()[0], static_cast<long>(2 * times * creators * blocks));
}

// All tasks name one datum, and most nothing else.
TEST_P(recognising, takes_cliques) {
  runtime rt({.workers = 4, .policy = GetParam(), .machine = several_nodes});
  const auto sum = rt.make_data(std::vector<std::atomic<long>>(1));
  const auto one = rt.make_data(std::vector<long>{0});
  for (int t = 0; t < 20; t++) {
    for (int i = 0; i < 30; i++) rt.spawn(concurrent(sum), [](auto s) { s[0]++; });
    for (int i = 0; i < 10; i++) rt.spawn(in(sum), inout(one), [](auto s, auto v) { v[0] = s[0]; });
  }
  EXPECT_EQ(one.read()[0], 600);
}

INSTANTIATE_TEST_SUITE_P(windows, recognising,
                         ::testing::Values("partition-window", "partition-window:window=2",
                                           "partition-window:window=16", "partition-window:window=7,overlap=6",
                                           "partition-window:window=50,overlap=0,effort=1000",
                                           "partition-window:recognise=off,window=16"),
                         [](const auto& i) {
                           std::string name = i.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

// ---------------------------------------------------------------------------------------------- what is recognised

// Returns what was counted, of so many iterations with an end.
statistics of_iterations(const std::string& policy, int times) {
  runtime rt({.workers = 4, .policy = policy, .machine = several_nodes});
  std::vector<data<long>> blocks;
  for (int i = 0; i < 32; i++) blocks.push_back(rt.make_data(std::vector<long>{i}));
  for (int t = 0; t < times; t++) {
    for (std::size_t i = 0; i < 32; i++)
      rt.spawn(in(blocks[(i + 1) % 32]), inout(blocks[i]), [](auto from, auto to) { to[0] += from[0]; });
    rt.wait();
  }
  return rt.stats();
}

TEST(recognised_tasks, are_all_of_the_second_iteration_and_later_ones) {
  const statistics s = of_iterations("partition-window:window=40", 5);
  EXPECT_EQ(s.window_tasks, 32u);
  EXPECT_EQ(s.recognised_tasks, 4u * 32);
  WEIR_EXPECT_CONTAINS(s.to_string(), "and 128 recognised");
}

TEST(recognised_tasks, are_none_unless_the_policy_wants_that) {
  const statistics s = of_iterations("partition-window:window=40,recognise=off", 5);
  EXPECT_EQ(s.window_tasks, 5u * 32);
  EXPECT_EQ(s.recognised_tasks, 0u);
}

// All iterations are there before anybody can make a plan: that is of the first one.
TEST(recognised_tasks, are_all_but_the_first_iteration_of_a_window_that_is_late) {
  runtime rt({.workers = 4, .policy = "partition-window", .machine = several_nodes});
  std::vector<data<long>> blocks;
  for (int i = 0; i < 32; i++) blocks.push_back(rt.make_data(std::vector<long>{i}));
  std::atomic<bool> all_are_there{false};
  std::atomic<int> busy{0};
  for (int i = 0; i < 4; i++)
    rt.spawn([&] {
      busy++;
      while (!all_are_there) std::this_thread::yield();
    });
  while (busy < 4) std::this_thread::yield();
  for (int t = 0; t < 20; t++)
    for (std::size_t i = 0; i < 32; i++)
      rt.spawn(in(blocks[(i + 1) % 32]), inout(blocks[i]), [](auto from, auto to) { to[0] += from[0]; });
  all_are_there = true;
  rt.wait();
  EXPECT_EQ(rt.stats().window_tasks, 32u);
  EXPECT_EQ(rt.stats().recognised_tasks, 19u * 32);
}

// Places tasks on the node of their name, and remembers where that lies which the task "reads" has in common with
// others.
class by_name final : public policy {
 public:
  static inline std::vector<int> nodes;
  static inline std::atomic<bool> has_seen_it{false};
  std::size_t window() const override { return 4; }
  bool recognises() const override { return true; }
  void created(task_window& w) override {
    for (std::size_t i = 0; i < w.size(); i++) {
      const std::string_view name = w.task(i).name();
      w.place(i, name.size() == 1 ? name[0] - '0' : 0);
      if (name != "reads") continue;
      for (const task_window::bond& b : w.bonds())
        if (b.task == i) nodes.push_back(b.node);
      has_seen_it = true;
    }
  }
};
const policy_registration<by_name> by_name_is_here("test-recognising");

// As if these had been placed in its own window: where they will write, though they have not run.
TEST(recognised_tasks, draw_those_that_come_after_them) {
  by_name::nodes.clear();
  by_name::has_seen_it = false;
  runtime rt({.workers = 4, .policy = "test-recognising", .machine = several_nodes});
  const auto gate = rt.make_data(std::vector<char>(8));
  constexpr std::array<const char*, 4> names{"0", "1", "2", "3"};
  std::vector<data<char>> all;
  for (int i = 0; i < 4; i++) all.push_back(rt.make_data<char>(100));
  const auto write = [&] {
    for (std::size_t i = 0; i < 4; i++)
      rt.spawn({.name = names[i]}, in(gate), out(all[i]), [](auto, auto) {});
  };
  write();
  rt.wait();
  rt.spawn(inout(gate), [](auto) {
    while (!by_name::has_seen_it) std::this_thread::yield();
  });
  write();
  rt.spawn({.name = "reads"}, in(all[2]), in(all[3]), [](auto, auto) {});
  rt.wait();
  EXPECT_EQ(by_name::nodes, (std::vector<int>{2, 3}));
  EXPECT_EQ(rt.stats().recognised_tasks, 4u);
}

}  // namespace
}  // namespace weir::test
