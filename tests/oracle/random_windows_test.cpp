// Random programs over ranges under policies that see windows of tasks, which end anywhere: each task runs once, in an
// order that its program allows, and nobody waits for ever. On the nodes that this machine has, or on pretended ones.
#include "tests/oracle/range_run.hpp"
#include "tests/support/support.hpp"

#include <cctype>

namespace weir::test {
namespace {

constexpr int patience_s = 60;

// Programs, one after the other: others than partition-window see the first tasks of a runtime in windows only.
std::size_t per_runtime(const std::string& policy) { return policy == "partition-window" ? 10 : 1; }

// A guest says how many nodes it has (tests/guest); they are to be seen.
int nodes_of_guest() {
  const char* const text = std::getenv("WEIR_GUEST_NODES");
  return text != nullptr ? std::atoi(text) : 0;
}

template <std::size_t N>
const char* one_of(std::mt19937_64& random, const char* const (&all)[N]) {
  return all[between(random, 0, N - 1)];
}

// Windows of 2 tasks to more than a program has; plans that are quick, and plans that try all there is.
std::string random_policy(const std::string& name, std::mt19937_64& random) {
  const std::size_t window = between(random, 0, 3) == 0 ? between(random, 41, 1024) : between(random, 2, 40);
  std::string text = name + ":window=" + std::to_string(window) + ",effort=" + one_of(random, {"0", "0.1", "1000"}) +
                     ",migrate=" + one_of(random, {"auto", "off", "barrier"}) +
                     ",seed=" + std::to_string(between(random, 0, 1000));
  if (name == "partition-window")
    text += ",overlap=" + std::to_string(between(random, 0, window - 1)) +
            ",recognise=" + one_of(random, {"on", "on", "off"});
  return text;
}

runtime_options random_runtime(const std::string& policy, std::mt19937_64& random) {
  runtime_options o;
  o.policy = random_policy(policy, random);
  o.trace = runtime_options::no_trace;
  if (nodes_of_guest() == 0) {
    o.machine = one_of(random, {"nodes:2 cpus:1", "nodes:2 cpus:3", "nodes:4 cpus:2", "nodes:8 cpus:1"});
    o.workers = static_cast<int>(between(random, 2, 8));
  }
  if (between(random, 0, 3) == 0) o.backlog = between(random, 1, 60);
  return o;
}

// Most go through the same tasks several times, as programs that iterate.
range_program program_to_try(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  range_program p = random_program(seed);
  const std::size_t once = p.tasks.size(), times = between(random, 1, 5);
  for (std::size_t again = 1; again < times && p.tasks.size() < 300; again++)
    for (std::size_t t = 0; t < once; t++) {
      p.tasks.push_back(p.tasks[t]);
      p.tasks.back().number += again * once;
    }
  return p;
}

class random_windows : public ::testing::TestWithParam<std::string> {};

TEST_P(random_windows, as_in_sequence) {
  const std::uint64_t seed = new_seed();
  const program_numbers numbers = numbers_of_programs(effort(400));
  std::optional<runtime> rt;
  std::optional<fresh_memory> fresh;
  std::string how;
  std::uint64_t windows = 0, seen = 0, recognised = 0, tasks = 0;
  const auto end = [&] {
    if (!rt) return;
    windows += rt->stats().windows;
    seen += rt->stats().window_tasks;
    recognised += rt->stats().recognised_tasks;
    rt.reset();
    fresh.reset();
  };
  for (std::size_t n = numbers.first; n < numbers.first + numbers.count; n++) {
    const range_program p = program_to_try(mix(seed, n));
    const std::string name = "WEIR_TEST_SEED=" + std::to_string(seed) + " WEIR_TEST_FIRST=" + std::to_string(n) +
                             " WEIR_TEST_PROGRAMS=1";
    const std::string what = name + ", " + how + "\n" + p.text() + "which";
    watchdog dog(patience_s, what.c_str());
    if (!rt || n % per_runtime(GetParam()) == 0) {
      end();
      std::mt19937_64 random(mix(seed, ~(n / per_runtime(GetParam()))));
      const runtime_options o = random_runtime(GetParam(), random);
      how = o.policy + " on " + (o.machine.empty() ? "this machine" : o.machine) + ", workers " +
            std::to_string(o.workers) + ", backlog " + std::to_string(o.backlog);
      fresh.emplace();
      rt.emplace(o);
      if (nodes_of_guest() != 0) {
        ASSERT_EQ(rt->nodes(), nodes_of_guest());
      }
    }
    const std::string wrong = run_program(*rt, p, *fresh);
    ASSERT_TRUE(wrong.empty()) << wrong << "; " << name << ", " << how << "\n" << p.text();
    tasks += p.tasks.size();
  }
  end();
  std::printf("%zu programs, %llu tasks: %llu in %llu windows, %llu recognised\n", numbers.count,
              static_cast<unsigned long long>(tasks), static_cast<unsigned long long>(seen),
              static_cast<unsigned long long>(windows), static_cast<unsigned long long>(recognised));
  if (numbers.count >= 20) {
    EXPECT_GT(windows, 0u);
  }
  // A few runtimes may all have been told to recognise nothing.
  if (GetParam() != "partition-window") {
    EXPECT_EQ(recognised, 0u);
  } else if (numbers.count >= 200) {
    EXPECT_GT(recognised, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(partition, random_windows,
                         ::testing::Values("partition-follow", "partition-propagate", "partition-window"),
                         [](const auto& i) {
                           std::string name = i.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace weir::test
