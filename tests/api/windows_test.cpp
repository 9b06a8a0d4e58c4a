// Windows: policies that see tasks together before any of them runs, and programs under them.
#include "tests/support/support.hpp"

#include <array>
#include <atomic>
#include <cctype>
#include <chrono>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace weir::test {
namespace {

constexpr const char* several_nodes = "nodes:4 cpus:1";

// What a window looked like, and where its tasks are to run. One object at a time.
class recording final : public policy {
 public:
  static inline std::mutex lock;
  static inline std::vector<std::string> names;
  static inline std::vector<task_window::link> links;
  static inline std::vector<task_window::bond> bonds;
  static inline std::vector<bool> cuts;
  static inline int kept_again = 0;
  static inline std::multiset<std::pair<int, int>> placed;  // as it was planned, and as the default of place() has it

  explicit recording(policy_parameters& p)
      : window_(p.count("window", 4, 2, 1'000'000, "tasks")), keep_(p.count("keep", 0, 0, 1000, "tasks")),
        waits_(p.count("waits", 0, 0, 1, "for creators") == 1) {}
  std::size_t window() const override { return window_; }
  bool waits_for_creators() const override { return waits_; }
  void created(task_window& w) override {
    const std::lock_guard guard(lock);
    for (std::size_t i = 0; i < w.size(); i++) {
      if (w.node(i) >= 0) kept_again++;
      else names.emplace_back(w.task(i).name());
      w.place(i, static_cast<int>(i) % machine().nodes);
    }
    links.insert(links.end(), w.links().begin(), w.links().end());
    bonds.insert(bonds.end(), w.bonds().begin(), w.bonds().end());
    cuts.push_back(w.is_cut());
    if (w.size() > keep_) w.keep_from(w.size() - keep_);
  }
  wish place(const task_view& t, const asker& a) override {
    const wish w = policy::place(t, a);
    const std::lock_guard guard(lock);
    if (t.planned() >= 0) placed.emplace(t.planned(), w.node);
    return w;
  }
  static void forget() {
    names.clear();
    links.clear();
    bonds.clear();
    cuts.clear();
    kept_again = 0;
    placed.clear();
  }

 private:
  const std::size_t window_, keep_;
  const bool waits_;
};
const policy_registration<recording> recording_is_here("test-recording");

class nonsense_of_windows final : public policy {
 public:
  explicit nonsense_of_windows(policy_parameters& p) : kind_(p.count("kind", 0, 0, 4, "of nonsense")) {}
  std::size_t window() const override { return kind_ == 3 ? ~std::size_t{0} : 5; }
  void created(task_window& w) override {
    switch (kind_) {
      case 0: throw std::runtime_error("I do not know");
      case 1: w.place(0, -7); break;
      case 2: w.place(w.size(), 0); break;
      case 3: w.keep_from(0); break;
      default:
        for (std::size_t i = 0; i < w.size(); i++) w.place(i, 1000);
    }
  }

 private:
  const std::uint64_t kind_;
};
const policy_registration<nonsense_of_windows> nonsense_of_windows_is_here("test-nonsense-of-windows");

// Each step adds its neighbours to each element; what comes out does not depend on who runs what.
std::vector<long> steps_by(runtime& rt, int width, int steps) {
  std::vector<data<long>> cells;
  for (int i = 0; i < width; i++) cells.push_back(rt.make_data(std::vector<long>{i}));
  for (int t = 0; t < steps; t++)
    for (int i = 0; i < width; i++) {
      const auto& left = cells[static_cast<std::size_t>((i + width - 1) % width)];
      const auto& mine = cells[static_cast<std::size_t>(i)];
      rt.spawn(in(left), inout(mine), [](auto from, auto to) { to[0] = (to[0] + from[0]) % 1000003; });
    }
  std::vector<long> all;
  for (const auto& c : cells) all.push_back(c.read()[0]);
  return all;
}

class window_policies : public ::testing::TestWithParam<std::string> {};

TEST_P(window_policies, change_no_result) {
  const std::vector<long> expected = [] {
    runtime rt({.workers = 1, .policy = "steal"});
    return steps_by(rt, 13, 40);
  }();
  runtime rt({.workers = 4, .policy = GetParam(), .machine = several_nodes});
  EXPECT_EQ(steps_by(rt, 13, 40), expected);
  rt.wait();
  EXPECT_GT(rt.stats().windows, 0u);
  EXPECT_LE(rt.stats().window_tasks, 13u * 40);
  WEIR_EXPECT_CONTAINS(rt.stats().to_string(), "windows");
}

// Parallel loops of children, in tasks that wait for them, and memory of the program's own.
TEST_P(window_policies, hold_in_nested_tasks_and_own_memory) {
  runtime rt({.workers = 4, .policy = GetParam(), .machine = several_nodes});
  std::vector<std::vector<int>> blocks(6, std::vector<int>(1000, 0));
  for (int t = 0; t < 5; t++)
    for (auto& b : blocks)
      rt.spawn(inout(ref(b)), [&rt](auto block) {
        scope inner(rt, dependences::own);
        for (std::size_t part = 0; part < 4; part++) {
          const auto piece = block.subspan(250 * part, 250);
          inner.spawn(inout(ref(piece)), [](auto p) {
            for (int& x : p) x++;
          });
        }
        inner.wait();
      });
  rt.wait();
  for (const auto& b : blocks)
    for (const int x : b) ASSERT_EQ(x, 5);
}

TEST_P(window_policies, let_tasks_run_while_their_creator_is_busy) {
  runtime rt({.workers = 2, .policy = GetParam(), .machine = "nodes:2 cpus:1"});
  const auto d = rt.make_data(std::vector<int>(16));
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; i++) rt.spawn(inout(d), [&](auto) { ran++; });
  while (ran < 3) std::this_thread::yield();  // it waits for nothing that the runtime knows of
  EXPECT_EQ(ran, 3);
}

TEST_P(window_policies, survive_failures_and_cancelled_scopes) {
  runtime rt({.workers = 3, .policy = GetParam(), .machine = "nodes:3 cpus:1"});
  for (int round = 0; round < 20; round++) {
    const auto d = rt.make_data(std::vector<int>{0});
    scope s(rt);
    for (int i = 0; i < 30; i++)
      s.spawn(inout(d), [i](auto v) {
        if (i == 7) throw std::runtime_error("seven");
        v[0]++;
      });
    EXPECT_THROW(s.wait(), std::runtime_error);
  }
  EXPECT_NO_THROW(rt.wait());
}

TEST_P(window_policies, take_tasks_of_several_creators) {
  runtime rt({.workers = 4, .policy = GetParam(), .machine = several_nodes});
  std::vector<data<int>> of_creator;
  for (int c = 0; c < 3; c++) of_creator.push_back(rt.make_data(std::vector<int>{0}));
  const auto all = rt.make_data(std::vector<int>{0});
  {
    std::vector<std::jthread> creators;
    for (int c = 0; c < 3; c++)
      creators.emplace_back([&, c] {
        for (int i = 0; i < 300; i++)
          rt.spawn(inout(of_creator[static_cast<std::size_t>(c)]), commutative(all), [](auto mine, auto sum) {
            mine[0]++;
            sum[0]++;
          });
      });
  }
  for (const auto& d : of_creator) EXPECT_EQ(d.read()[0], 300);
  EXPECT_EQ(all.read()[0], 900);
}

INSTANTIATE_TEST_SUITE_P(windows, window_policies,
                         ::testing::Values("partition-follow", "partition-follow:window=2",
                                           "partition-propagate:window=16", "partition-window:window=16",
                                           "partition-window:window=7,overlap=6", "partition-window:effort=1000",
                                           "test-recording:window=5,keep=3", "test-recording:window=100000",
                                           "test-nonsense-of-windows:kind=0", "test-nonsense-of-windows:kind=1",
                                           "test-nonsense-of-windows:kind=2", "test-nonsense-of-windows:kind=3",
                                           "test-nonsense-of-windows:kind=4"),
                         [](const auto& i) {
                           std::string name = i.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

// ------------------------------------------------------------------------------------------- what a policy sees

// As long as this lives all workers run a task, so nobody cuts a window short because it has nothing else to do.
class everybody_is_busy {
 public:
  explicit everybody_is_busy(runtime& rt) {
    for (int w = 0; w < rt.workers(); w++)
      rt.spawn([this] {
        started_++;
        while (!over_) std::this_thread::yield();
        ended_++;
      });
    while (started_ < rt.workers()) std::this_thread::yield();
  }
  ~everybody_is_busy() {
    over_ = true;
    while (ended_ < started_) std::this_thread::yield();
  }

 private:
  std::atomic<int> started_{0}, ended_{0};
  std::atomic<bool> over_{false};
};

class window_of_a_policy : public ::testing::Test {
 protected:
  void SetUp() override { recording::forget(); }
};

TEST_F(window_of_a_policy, has_tasks_in_order_and_what_they_have_in_common) {
  runtime rt({.workers = 2, .policy = "test-recording:window=4", .machine = "nodes:2 cpus:1"});
  const auto a = rt.make_data<int>(100), b = rt.make_data<int>(50);
  {
    const everybody_is_busy meanwhile(rt);
    rt.spawn({.name = "writes a"}, out(a), [](auto) {});
    rt.spawn({.name = "writes b"}, out(b), [](auto) {});
    rt.spawn({.name = "reads both"}, in(a), in(b.first(10)), [](auto, auto) {});
    rt.spawn({.name = "updates a"}, inout(a), [](auto) {});
  }
  rt.wait();
  const std::lock_guard guard(recording::lock);
  EXPECT_EQ(recording::names, (std::vector<std::string>{"writes a", "writes b", "reads both", "updates a"}));
  std::vector<std::array<std::uint64_t, 3>> links;
  for (const auto& l : recording::links) links.push_back({l.from, l.to, l.bytes});
  EXPECT_EQ(links, (std::vector<std::array<std::uint64_t, 3>>{{0, 2, 400}, {1, 2, 40}, {0, 3, 800}}));
}

// However long nobody creates any, and however many workers have nothing to do.
TEST_F(window_of_a_policy, waits_for_its_creator_if_it_says_so) {
  runtime rt({.workers = 2, .policy = "test-recording:window=1000,waits=1", .machine = "nodes:2 cpus:1"});
  const auto a = rt.make_data(std::vector<int>{0});
  for (int i = 0; i < 20; i++) {
    rt.spawn(inout(a), [](auto v) { v[0]++; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  rt.wait();
  EXPECT_EQ(a.read()[0], 20);
  const std::lock_guard guard(recording::lock);
  EXPECT_EQ(recording::names.size(), 20u);
  EXPECT_EQ(recording::cuts.size(), 1u);
}

TEST_F(window_of_a_policy, knows_of_tasks_and_data_that_are_placed) {
  runtime rt({.workers = 4, .policy = "test-recording:window=2", .machine = several_nodes});
  const auto a = rt.make_data<int>(100);
  rt.spawn({.affinity = require(3)}, out(a), [](auto) {});  // placed by the program: it is in no window
  rt.wait();
  recording::forget();
  rt.spawn(in(a), [](auto) {});
  rt.wait();
  const std::lock_guard guard(recording::lock);
  ASSERT_EQ(recording::bonds.size(), 1u);
  EXPECT_EQ(recording::bonds[0].node, 3);
  EXPECT_EQ(recording::bonds[0].bytes, 400u);
}

// A range that others have named in halves consists of these: who comes later, and names one of them, sees where the
// task was placed that will write it.
TEST_F(window_of_a_policy, knows_who_will_write_a_part_of_a_range) {
  constexpr std::size_t half = 100;
  std::vector<long> memory(2 * half);
  const std::span<long> whole(memory), first = whole.first(half), second = whole.last(half);
  runtime rt({.workers = 4, .policy = "test-recording:window=4,waits=1", .machine = several_nodes});
  const auto gate = rt.make_data(std::vector<char>(1));
  const auto until_seen = [](std::size_t tasks) {
    for (bool seen = false; !seen; std::this_thread::yield()) {
      const std::lock_guard guard(recording::lock);
      seen = recording::names.size() == tasks;
    }
  };
  rt.spawn(inout(gate), [&](auto) { until_seen(8); });
  for (const std::span<long> part : {first, second, whole}) rt.spawn(in(gate), inout(ref(part)), [](auto, auto) {});
  until_seen(4);
  for (const std::span<long> part : {first, second, first, second})
    rt.spawn(in(ref(std::span<const long>(part))), [](auto) {});
  rt.wait();
  const std::lock_guard guard(recording::lock);
  std::vector<int> nodes;
  for (const task_window::bond& b : recording::bonds)
    if (b.bytes == half * sizeof(long)) nodes.push_back(b.node);
  EXPECT_EQ(nodes, (std::vector<int>{3, 3, 3, 3}));
}

TEST_F(window_of_a_policy, places_tasks_where_it_says) {
  runtime rt({.workers = 4, .policy = "test-recording:window=4", .machine = several_nodes});
  std::vector<data<char>> all;
  for (int i = 0; i < 4; i++) all.push_back(rt.make_data<char>(100));
  {
    const everybody_is_busy meanwhile(rt);
    for (const auto& d : all) rt.spawn(out(d), [](auto) {});
  }
  rt.wait();
  const std::lock_guard guard(recording::lock);
  EXPECT_EQ(recording::placed, (std::multiset<std::pair<int, int>>{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
}

TEST_F(window_of_a_policy, may_keep_tasks_for_the_next_one) {
  runtime rt({.workers = 2, .policy = "test-recording:window=10,keep=4", .machine = "nodes:2 cpus:1"});
  const auto d = rt.make_data(std::vector<int>{0});
  rt.run([&] {
    for (int i = 0; i < 100; i++) rt.spawn(inout(d), [](auto v) { v[0]++; });
  });
  EXPECT_EQ(d.read()[0], 100);
  const std::lock_guard guard(recording::lock);
  EXPECT_EQ(recording::names.size(), 100u);  // each is new once
  EXPECT_EQ(rt.stats().window_tasks, 100u);
}

TEST_F(window_of_a_policy, is_not_made_on_one_node) {
  runtime rt({.workers = 2, .policy = "test-recording", .machine = "nodes:1 cpus:2"});
  const auto d = rt.make_data(std::vector<int>{0});
  for (int i = 0; i < 10; i++) rt.spawn(inout(d), [](auto v) { v[0]++; });
  EXPECT_EQ(d.read()[0], 10);
  EXPECT_EQ(rt.stats().windows, 0u);
}

TEST(window_parameters, that_make_no_sense_are_refused) {
  const auto refused = [](const std::string& policy) {
    return message_of<configuration_error>([&] { runtime({.workers = 1, .policy = policy}); });
  };
  WEIR_EXPECT_CONTAINS(refused("partition-window:window=0"), "window=0: expected a number, 2 to");
  WEIR_EXPECT_CONTAINS(refused("partition-window:window=100,overlap=100"), "overlap=100: expected a number, 0 to 99");
  WEIR_EXPECT_CONTAINS(refused("partition-follow:overlap=1"), "unknown parameter \"overlap\"");
  WEIR_EXPECT_CONTAINS(refused("partition-follow:imbalance=-1"), "imbalance=-1: expected a number, 0 to");
  WEIR_EXPECT_CONTAINS(refused("partition-follow:with=pencil"), "with=pencil: expected one of built-in");
}

}  // namespace
}  // namespace weir::test
