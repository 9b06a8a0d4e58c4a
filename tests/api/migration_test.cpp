// Memory of the program's own that is moved to the tasks which use it. The nodes are pretended: pages that the program
// has written itself lie on the first one, and move in what is written down.
#include "tests/support/support.hpp"

#include <memory>
#include <vector>

#include <unistd.h>

namespace weir::test {
namespace {

constexpr int node_count = 4;
constexpr const char* four_nodes = "nodes:4 cpus:1";
constexpr std::size_t page_count = 64, uses = 20;

class own_array {
 public:
  own_array() : data_(static_cast<char*>(std::aligned_alloc(page_bytes(), bytes()))) {}
  ~own_array() { std::free(data_); }
  own_array(const own_array&) = delete;
  own_array& operator=(const own_array&) = delete;
  static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  static std::size_t bytes() { return page_count * page_bytes(); }
  std::span<char> all() const { return {data_, bytes()}; }

 private:
  char* const data_;
};

task_options required_on(int node) { return {.affinity = require(node)}; }

// One after the other, in a scope.
void use_on(runtime& rt, const own_array& a, int node, std::size_t times = uses) {
  scope s(rt);
  for (std::size_t i = 0; i < times; i++) s.spawn(required_on(node), inout(ref(a.all())), [](auto x) { x[0]++; });
  s.wait();
}

// What is read before a task has written it was written by the program, on the first node.
void begins_on_first_node(runtime& rt, const own_array& a) {
  rt.spawn(required_on(0), in(ref(a.all())), [](auto) {});
  rt.wait();
}

std::uint64_t read_at_home(runtime& rt, const own_array& a, int node) {
  const std::uint64_t before = rt.stats().read_local();
  rt.spawn(required_on(node), in(ref(a.all())), [](auto) {});
  rt.wait();
  return rt.stats().read_local() - before;
}

// Those that have the parameter.
std::vector<std::string> policies_that_can_move() {
  std::vector<std::string> all;
  for (const std::string& name : policy_names())
    for (const policy_parameters::description& d : policy_parameters_of(name))
      if (d.name == "migrate") all.push_back(name);
  return all;
}

TEST(migration, comes_with_policies_that_follow_memory) {
  EXPECT_EQ(policies_that_can_move(),
            (std::vector<std::string>{"auto", "follow", "local", "partition-follow", "partition-propagate",
                                      "partition-window"}));
}

// Those that see windows move nothing before they have found that it pays.
bool sees_windows(const std::string& policy) { return policy == "auto" || policy.starts_with("partition-"); }
std::vector<std::string> policies_that_move_at_once() {
  std::vector<std::string> all = policies_that_can_move();
  std::erase_if(all, sees_windows);
  return all;
}

// Each part of the array again and again, by tasks that are worth to be spread.
void use_in_parts(runtime& rt, const own_array& a) {
  constexpr std::size_t parts = 16;
  for (std::size_t use = 0; use < uses; use++)
    for (std::size_t p = 0; p < parts; p++)
      rt.spawn(inout(ref(a.all().subspan(p * a.bytes() / parts, a.bytes() / parts))), [](auto x) {
        for (int again = 0; again < 50; again++)
          for (auto& c : x) c = static_cast<char>(c * 3 + again);
      });
  rt.wait();
}

TEST(migration, moves_what_tasks_use_to_where_they_run) {
  for (const std::string& policy : policies_that_move_at_once()) {
    watchdog dog(60);
    runtime rt({.workers = node_count, .policy = policy + ":migrate=auto", .machine = four_nodes});
    const own_array a;
    begins_on_first_node(rt, a);
    use_on(rt, a, 2);
    const statistics s = rt.stats();
    EXPECT_EQ(s.pages_moved, page_count) << policy;
    EXPECT_EQ(s.pages_refused, 0u) << policy;
    EXPECT_GT(s.lost_before_moving_ns, 0u) << policy;
    EXPECT_EQ(read_at_home(rt, a, 2), a.bytes()) << policy;
    rt.reset_statistics();
    EXPECT_EQ(rt.stats().pages_moved, 0u);
  }
}

TEST(migration, begins_when_a_plan_wants_it) {
  for (const std::string& policy : policies_that_can_move()) {
    if (!sees_windows(policy)) continue;
    watchdog dog(60);
    runtime rt({.workers = node_count, .policy = policy, .machine = four_nodes});
    const own_array a;
    begins_on_first_node(rt, a);
    // All of it lies on one node. Who creates the tasks may be interrupted so often that each window has but a few.
    while (rt.stats().pages_moved == 0) use_in_parts(rt, a);
    use_on(rt, a, 2, 100 * uses);
    EXPECT_EQ(read_at_home(rt, a, 2), a.bytes()) << policy;
    EXPECT_GE(rt.stats().pages_moved, page_count) << policy << ": " << rt.stats().policy_explanation;
  }
}

TEST(migration, leaves_alone_what_was_placed_by_a_plan) {
  for (const std::string& policy : policies_that_can_move()) {
    if (!sees_windows(policy)) continue;
    watchdog dog(60);
    runtime rt({.workers = node_count, .policy = policy, .machine = four_nodes});
    const own_array a;
    for (std::size_t p = 0; p < page_count; p++)
      rt.spawn(out(ref(a.all().subspan(p * a.page_bytes(), a.page_bytes()))), [](auto x) { x[0] = 1; });
    rt.wait();
    use_on(rt, a, 2);
    EXPECT_EQ(rt.stats().pages_moved, 0u) << policy;
  }
}

TEST(migration, is_left_for_barriers) {
  for (const std::string& policy : policies_that_move_at_once()) {
    watchdog dog(60);
    runtime rt({.workers = node_count, .policy = policy + ":migrate=barrier", .machine = four_nodes});
    const own_array a;
    begins_on_first_node(rt, a);
    use_on(rt, a, 1);
    EXPECT_EQ(rt.stats().pages_moved, 0u) << policy;
    rt.wait();
    EXPECT_EQ(rt.stats().pages_moved, page_count) << policy;
    EXPECT_EQ(read_at_home(rt, a, 1), a.bytes()) << policy;
  }
}

TEST(migration, off_moves_nothing) {
  for (const std::string& policy : policies_that_can_move()) {
    runtime rt({.workers = node_count, .policy = policy + ":migrate=off", .machine = four_nodes});
    const own_array a;
    begins_on_first_node(rt, a);
    use_on(rt, a, 1);
    rt.wait();
    EXPECT_EQ(rt.stats().pages_moved, 0u) << policy;
    EXPECT_EQ(read_at_home(rt, a, 1), 0u) << policy;
  }
}

TEST(migration, does_nothing_on_one_node) {
  runtime rt({.workers = 2, .policy = "partition-follow", .machine = "nodes:1 cpus:2"});
  const own_array a;
  use_on(rt, a, 0);
  rt.wait();
  EXPECT_EQ(rt.stats().pages_moved, 0u);
}

TEST(migration, is_said_in_the_statistics) {
  runtime rt({.workers = node_count, .policy = "follow:migrate=auto", .machine = four_nodes});
  EXPECT_EQ(rt.stats().to_string().find("pages moved"), std::string::npos);
  const own_array a;
  begins_on_first_node(rt, a);
  use_on(rt, a, 3);
  EXPECT_NE(rt.stats().to_string().find("pages moved      " + std::to_string(page_count)), std::string::npos)
      << rt.stats().to_string();
}

// Two runtimes that want the same memory elsewhere: whatever becomes of it, both go on, and count all bytes.
TEST(migration, of_memory_that_two_runtimes_use) {
  watchdog dog(60);
  runtime one({.workers = node_count, .policy = "follow:migrate=auto", .machine = four_nodes});
  runtime two({.workers = node_count, .policy = "partition-window", .machine = four_nodes});
  const own_array a;
  for (int i = 0; i < 5; i++) {
    use_on(one, a, 1);
    use_on(two, a, 2);
  }
  for (const runtime* rt : {&one, &two}) {
    const statistics s = rt->stats();
    EXPECT_EQ(s.read_local() + s.read_remote(), 5 * uses * a.bytes());
  }
}

// Tasks of a stencil on memory that the program has filled itself, whether or not a plan has it moved.
TEST(migration, results_of_a_stencil_are_right) {
  watchdog dog(120);
  constexpr std::size_t blocks = 32, steps = 60, block_pages = 8;
  const std::size_t doubles = block_pages * own_array::page_bytes() / sizeof(double);
  const std::unique_ptr<double[]> from(new double[blocks * doubles]()), to(new double[blocks * doubles]());
  runtime rt({.workers = node_count, .policy = "partition-follow", .machine = four_nodes});
  double* arrays[2] = {from.get(), to.get()};
  const auto block = [&](std::size_t array, std::size_t b) {
    return ref(std::span<double>(arrays[array] + b * doubles, doubles));
  };
  for (std::size_t step = 0; step < steps; step++)
    for (std::size_t b = 0; b < blocks; b++) {
      const std::size_t left = b == 0 ? b : b - 1, right = b + 1 == blocks ? b : b + 1;
      rt.spawn(in(block(step % 2, left)), in(block(step % 2, b)), in(block(step % 2, right)),
               out(block((step + 1) % 2, b)), [](auto l, auto m, auto r, auto x) {
                 for (std::size_t i = 0; i < x.size(); i++) x[i] = l[i] + m[i] + r[i] + 1;
               });
    }
  rt.wait();
  // Blocks in the middle of enough others: x := 3 x + 1, modulo what a double holds exactly at the beginning.
  double expected = 0;
  for (std::size_t step = 0; step < steps; step++) expected = 3 * expected + 1;
  for (std::size_t b = 0; b < blocks; b++)
    EXPECT_DOUBLE_EQ(arrays[steps % 2][b * doubles], expected) << b;
}

}  // namespace
}  // namespace weir::test
