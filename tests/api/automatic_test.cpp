// The policy auto: which tasks wait for a plan, and what is said about it. The nodes are pretended: pages that the
// program has written itself lie on the first one.
#include "tests/support/support.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace weir::test {
namespace {

constexpr int workers_of_auto = 4;
constexpr std::size_t pages_of_auto = 64;

class array_of_pages {
 public:
  array_of_pages() : data_(static_cast<char*>(std::aligned_alloc(page_bytes(), pages_of_auto * page_bytes()))) {}
  ~array_of_pages() { std::free(data_); }
  array_of_pages(const array_of_pages&) = delete;
  array_of_pages& operator=(const array_of_pages&) = delete;
  std::span<char> page(std::size_t i) const { return {data_ + i * page_bytes(), page_bytes()}; }

 private:
  static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  char* const data_;
};

runtime_options pretended() { return {.workers = workers_of_auto, .policy = "auto", .machine = "nodes:4 cpus:1"}; }

void update_all(runtime& rt, const array_of_pages& a, int times) {
  for (int t = 0; t < times; t++)
    for (std::size_t p = 0; p < pages_of_auto; p++)
      rt.spawn(inout(ref(a.page(p))), [](auto x) {
        for (auto& c : x) c = static_cast<char>(c * 3 + 1);
      });
  rt.wait();
}

// What is read before a task has written it was written by the program, on the first node.
void lies_on_first_node(runtime& rt, const array_of_pages& a) {
  for (std::size_t p = 0; p < pages_of_auto; p++)
    rt.spawn({.affinity = require(0)}, in(ref(a.page(p))), [](auto) {});
  rt.wait();
}

TEST(auto_policy, is_the_default) {
  if (std::getenv("WEIR_POLICY") != nullptr) GTEST_SKIP() << "WEIR_POLICY is set";
  runtime rt({.workers = 1});
  EXPECT_EQ(rt.stats().policy, "auto");
}

TEST(auto_policy, plans_tasks_on_memory_of_one_node) {
  watchdog dog(60);
  runtime rt(pretended());
  const array_of_pages a;
  lies_on_first_node(rt, a);
  update_all(rt, a, 20);
  const statistics s = rt.stats();
  EXPECT_GE(s.windows, 1u);
  EXPECT_GE(s.window_tasks, 1u);
  EXPECT_NE(s.policy_explanation.find("node 0 had"), std::string::npos) << s.policy_explanation;
  EXPECT_NE(s.to_string().find("weir: chosen           " + s.policy_explanation.substr(0, 20)), std::string::npos)
      << s.to_string();
}

// Tasks on two of the four nodes cannot show that.
TEST(auto_policy, holds_back_two_tasks_at_most_on_memory_that_tasks_have_written) {
  watchdog dog(60);
  runtime rt(pretended());
  const array_of_pages a;
  for (std::size_t p = 0; p < pages_of_auto; p++)
    rt.spawn({.affinity = require(static_cast<int>(p) % workers_of_auto)}, out(ref(a.page(p))),
             [](auto x) { x[0] = 1; });
  rt.wait();
  update_all(rt, a, 20);
  EXPECT_LE(rt.stats().window_tasks, 2u) << rt.stats().policy_explanation;
  EXPECT_EQ(rt.stats().pages_moved, 0u);
}

TEST(auto_policy, holds_back_no_tasks_on_data) {
  watchdog dog(60);
  runtime rt(pretended());
  const auto d = rt.make_data(std::vector<int>(1024));
  for (int i = 0; i < 1000; i++) rt.spawn(inout(d), [](auto x) { x[0]++; });
  EXPECT_EQ(d.read()[0], 1000);
  EXPECT_EQ(rt.stats().windows, 0u);
  EXPECT_EQ(rt.stats().policy_explanation, "");
}

// Nothing else comes, and nobody waits: somebody with nothing to do has it placed.
TEST(auto_policy, a_task_alone_is_not_held_for_long) {
  watchdog dog(60);
  runtime rt(pretended());
  const array_of_pages a;
  lies_on_first_node(rt, a);
  std::atomic<bool> has_run{false};
  rt.spawn(inout(ref(a.page(0))), [&](auto) { has_run = true; });
  while (!has_run) std::this_thread::yield();
}

}  // namespace
}  // namespace weir::test
