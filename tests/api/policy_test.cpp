// Policies of a program's own: they are asked, believed where that makes sense, and refused in a sentence where not.
#include "tests/support/support.hpp"

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

namespace weir::test {
namespace {

constexpr const char* four_nodes = "nodes:4 cpus:1";

// Everything on one node.
class all_on final : public policy {
 public:
  explicit all_on(policy_parameters& p)
      : node_(static_cast<int>(p.count("node", 2, 0, 1000, "where all tasks run"))) {}
  double cost(const task_view&, int node) const override { return node == node_ ? 0 : 1e6; }

 private:
  const int node_;
};
const policy_registration<all_on> all_on_is_here("test-all-on");

class nonsense final : public policy {
 public:
  explicit nonsense(policy_parameters& p) : kind_(static_cast<int>(p.count("kind", 0, 0, 4, "of nonsense"))) {}
  wish place(const task_view& t, const asker& a) override {
    switch (kind_) {
      case 0: throw std::runtime_error("I do not know");
      case 1: throw 5;
      case 2: return 17;
      case 3: return -2;
      default: return policy::place(t, a);
    }
  }
  double cost(const task_view&, int) const override { return std::numeric_limits<double>::quiet_NaN(); }

 private:
  const int kind_;
};
const policy_registration<nonsense> nonsense_is_here("test-nonsense");

class twice final : public policy {};
const policy_registration<twice> once("test-twice"), again("test-twice");

// Remembers what it was told; one object at a time.
class watching final : public policy {
 public:
  static inline std::mutex lock;
  static inline std::multiset<std::string> done;
  static inline int idle = 0;

  void observe(const event& e) override {
    const std::lock_guard guard(lock);
    if (e.what == event::kind::task_done) done.insert(e.task->name());
    else idle++;
  }
};
const policy_registration<watching> watching_is_here("test-watching");

class robs_one final : public policy {
 public:
  explicit robs_one(policy_parameters& p) : victim_(static_cast<int>(p.count("victim", 1, 0, 1000, "whom all rob"))) {}
  std::vector<int> victims(int) const override { return {victim_}; }

 private:
  const int victim_;
};
const policy_registration<robs_one> robs_one_is_here("test-robs-one");

TEST(policy, of_a_program_places_tasks_where_they_cost_least) {
  watchdog dog(60);
  runtime rt({.workers = 4, .policy = "test-all-on:node=3", .machine = four_nodes});
  EXPECT_EQ(rt.policy(), "test-all-on");
  const auto d = rt.make_data<int>(4096);
  rt.spawn(out(d), [](auto) {});
  for (int i = 0; i < 100; i++) rt.spawn(in(d), [](auto) {});
  rt.wait();
  EXPECT_GT(rt.stats().pushes, 0u);
}

TEST(policy, is_found_by_name_and_lists_its_parameters) {
  const auto names = policy_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NE(std::find(names.begin(), names.end(), "test-all-on"), names.end());
  const auto parameters = policy_parameters_of("test-all-on");
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].name, "node");
  EXPECT_EQ(parameters[0].range, "0 to 1000");
  EXPECT_EQ(parameters[0].usual, "2");
  EXPECT_EQ(parameters[0].meaning, "where all tasks run");
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.policy = "test-all-on:node=-1"}); }),
                       "0 to 1000");
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.policy = "test-all-on:where=1"}); }),
                       "it takes: node");
}

TEST(policy, registered_twice_is_refused_when_it_is_chosen) {
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.policy = "test-twice"}); }),
                       "registered twice");
}

TEST(policy, that_answers_nonsense_is_told_so_once_and_nothing_is_lost) {
  watchdog dog(60);
  const char* const said[] = {"I do not know", "no std::exception", "wants node 17", "wants node -2", "is nan"};
  for (int kind = 0; kind < 5; kind++) {
    ::testing::internal::CaptureStderr();
    std::atomic<int> ran{0};
    {
      runtime rt({.workers = 4, .policy = "test-nonsense:kind=" + std::to_string(kind), .machine = four_nodes});
      const auto d = rt.make_data<int>(4096);
      rt.spawn(out(d), [](auto) {});
      for (int i = 0; i < 100; i++) rt.spawn(in(d), [&](auto) { ran++; });
      rt.wait();
    }
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(ran, 100);
    WEIR_EXPECT_CONTAINS(text, said[kind]);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }
}

TEST(policy, observes_tasks_and_idle_workers) {
  watchdog dog(60);
  watching::done.clear();
  watching::idle = 0;
  {
    runtime rt({.workers = 2, .policy = "test-watching"});
    const auto d = rt.make_data(std::vector<int>(10, 0));
    for (int i = 0; i < 20; i++) rt.spawn({.name = i % 2 == 0 ? "even" : "odd"}, inout(d), [](auto) {});
    rt.wait();
  }
  EXPECT_EQ(watching::done.count("even"), 10u);
  EXPECT_EQ(watching::done.count("odd"), 10u);
  EXPECT_GT(watching::idle, 0);
}

// Where tasks wait in a container for each node a policy places them, too.
class on_last_node final : public policy {
 public:
  static inline std::atomic<int> asked{0};
  queues where_tasks_wait() const override { return queues::nodes; }
  double cost(const task_view&, int node) const override {
    asked++;
    return node == machine().nodes - 1 ? 0 : 1000;
  }
};
const policy_registration<on_last_node> on_last_node_is_here("test-on-last-node");

TEST(policy, places_tasks_in_containers_of_nodes) {
  watchdog dog(60);
  runtime rt({.workers = 4, .policy = "test-on-last-node", .machine = four_nodes});
  std::atomic<int> ran{0};
  const auto d = rt.make_data<int>(4096);
  on_last_node::asked = 0;
  rt.spawn(out(d), [](auto) {});
  for (int i = 0; i < 500; i++) rt.spawn(in(d), [&](auto) { ran++; });
  rt.wait();
  EXPECT_EQ(ran, 500);
  EXPECT_GE(on_last_node::asked, 501);
}

class places_in_one_queue final : public policy {
 public:
  queues where_tasks_wait() const override { return queues::central; }
  double cost(const task_view&, int) const override { return 1; }
};
const policy_registration<places_in_one_queue> places_in_one_queue_is_here("test-places-in-one-queue");

class robs_containers final : public policy {
 public:
  queues where_tasks_wait() const override { return queues::nodes; }
  std::vector<int> victims(int) const override { return {0}; }
};
const policy_registration<robs_containers> robs_containers_is_here("test-robs-containers");

TEST(policy, that_answers_what_nobody_asks_is_refused) {
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.policy = "test-places-in-one-queue"}); }),
                       "they all wait in one queue");
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] { runtime rt({.policy = "test-robs-containers"}); }),
                       "no queues of their own");
}

TEST(policy, that_observes_sees_tasks_that_their_creator_runs) {
  watchdog dog(60);
  watching::done.clear();
  {
    runtime rt({.workers = 1, .policy = "test-watching"});
    rt.run([&] {
      scope s(rt);
      for (int i = 0; i < 500; i++) s.spawn({.name = "child"}, [] {});
      s.wait();
    });
  }
  EXPECT_EQ(watching::done.count("child"), 500u);
}

TEST(policy, says_whom_to_rob) {
  watchdog dog(60);
  runtime rt({.workers = 4, .policy = "test-robs-one:victim=2", .machine = four_nodes});
  std::atomic<int> ran{0};
  rt.run([&] {
    scope s(rt);
    for (int i = 0; i < 1000; i++) s.spawn([&] { ran++; });
    s.wait();
  });
  EXPECT_EQ(ran, 1000);
  WEIR_EXPECT_CONTAINS(message_of<configuration_error>([] {
                         runtime r({.workers = 4, .policy = "test-robs-one:victim=4", .machine = four_nodes});
                       }),
                       "names worker 4; expected 0 to 3");
}

}  // namespace
}  // namespace weir::test
