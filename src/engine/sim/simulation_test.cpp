// Random programs on machines of all sizes, under every policy: nothing is lost, nothing runs twice or too early, and
// no worker is idle for longer beside a task than the estimate of stealing allows.
#include "engine/sim/random_program.hpp"
#include "engine/sim/simulation.hpp"

#include <weir/policy.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

namespace weir::engine::sim {
namespace {

// Who has run what, and whether it might.
class order_watch {
 public:
  explicit order_watch(simulation& s, const program& p) : program_(p), begun_(p.tasks.size()), ended_(p.tasks.size()) {
    s.begins = [this](int t, int, std::uint64_t now) { begun_[at(t)].push_back(now); };
    s.ends = [this](int t, int, std::uint64_t now) { ended_[at(t)].push_back(now); };
  }
  // Of programs whose tasks are all created by one thread: what is created earlier and conflicts, is done.
  void check() const {
    for (std::size_t t = 0; t < program_.tasks.size(); t++) {
      ASSERT_EQ(begun_[t].size(), 1u) << "task " << t;
      ASSERT_EQ(ended_[t].size(), 1u) << "task " << t;
    }
    if (program_.creates.size() < program_.tasks.size()) return;
    for (std::size_t d = 0; d < program_.datum_bytes.size(); d++) check_datum(static_cast<int>(d));
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static bool names(const std::vector<int>& v, int d) { return std::find(v.begin(), v.end(), d) != v.end(); }
  void check_datum(int d) const {
    std::int64_t writer = -1;
    std::vector<std::size_t> readers;
    for (const int t : program_.creates) {
      const task& it = program_.tasks[at(t)];
      const bool updates = names(it.inout, d), writes = names(it.out, d) || updates;
      if (!writes && !names(it.in, d)) continue;
      if ((updates || names(it.in, d)) && writer >= 0) {
        ASSERT_LE(ended_[at(static_cast<int>(writer))][0], begun_[at(t)][0]);
      }
      for (const std::size_t r : readers) ASSERT_TRUE(!updates || ended_[r][0] <= begun_[at(t)][0]);
      if (!writes) readers.push_back(at(t));
      else {
        writer = t;
        readers.clear();
      }
    }
  }

  const program& program_;
  std::vector<std::vector<std::uint64_t>> begun_, ended_;
};

// For each idle worker and each other one: since when there has been something to take there all the time, and since
// when it has been worth it, by the books of the test and not of the thief. A thief that dozes looks again when its
// idle time has doubled, and knows as late how others get on; so it is to take the task within three times the time
// before it was worth it. Beyond that it has the time of four rounds, one of which looks everywhere, and the time to
// wake others one after the other.
class idle_watch {
 public:
  explicit idle_watch(simulation& s) : sim_(s), workers_(s.scheduler().worker_count()) {
    const auto n = static_cast<std::size_t>(workers_);
    beside_.resize(n * n);
    idle_from_.resize(n, never);
    has_from_.resize(n, never);
    got_on_.resize(n);
    finished_.resize(n);
    s.after_event = [this](std::uint64_t now) { look(now); };
  }
  std::uint64_t worst_ns() const { return worst_ns_; }  // beyond what is allowed
  const std::string& worst() const { return worst_; }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static constexpr std::uint64_t rounds_ns = 80'000, wake_ns = 5'000;
  struct pair {
    std::uint64_t since = 0, worth_since = never;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void look(std::uint64_t now) {
    sched::scheduler& s = sim_.scheduler();
    for (int v = 0; v < workers_; v++) {
      if (const std::uint64_t n = s.slot(v).finished.read(); n != finished_[at(v)]) {
        finished_[at(v)] = n;
        got_on_[at(v)] = now;
      }
      has_from_[at(v)] = s.slot(v).has_tasks() ? std::min(has_from_[at(v)], now) : never;
      idle_from_[at(v)] = sim_.is_idle(v) ? std::min(idle_from_[at(v)], now) : never;
    }
    for (int v = 0; v < workers_; v++)
      for (int w = 0; w < workers_ && has_from_[at(v)] != never; w++)
        if (w != v && idle_from_[at(w)] != never) look_at(beside_[at(w) * at(workers_) + at(v)], w, v, now);
  }
  void look_at(pair& p, int w, int v, std::uint64_t now) {
    const std::uint64_t since = std::max(has_from_[at(v)], idle_from_[at(w)]);
    if (p.since != since) p = {since, never};
    std::uint64_t least = never;
    for (const auto& t : sim_.scheduler().slot(w).sees->first_of(v))
      least = std::min(least, worth_at_ns(t, w, v, p.since));
    if (least > now) p.worth_since = never;
    else p.worth_since = std::min(p.worth_since, std::max(least, now));
    if (p.worth_since == never) return;
    const std::uint64_t until =
        p.worth_since + 3 * (p.worth_since - p.since) + rounds_ns + wake_ns * static_cast<std::uint64_t>(workers_);
    if (now <= until || now - until <= worst_ns_) return;
    worst_ns_ = now - until;
    worst_ = "worker " + std::to_string(w) + " beside " + std::to_string(v) + " at " + std::to_string(now) +
             ", since " + std::to_string(p.since) + ", which is worth it since " + std::to_string(p.worth_since);
  }
  std::uint64_t worth_at_ns(const sched::first_tasks::one& t, int w, int v, std::uint64_t from) const {
    sched::scheduler& s = sim_.scheduler();
    const int here = s.node_of_worker(w), there = s.node_of_worker(v);
    if (!s.policy().places || s.machine().node_count() < 2 || here == there) return from;
    const double cost = s.costs().of(t.hint, there, here), wait = static_cast<double>(t.before * t.hint.ns());
    const std::uint64_t if_stuck = std::max(got_on_[at(v)], from) + static_cast<std::uint64_t>(cost);
    return wait > 0 ? std::min(if_stuck, from + static_cast<std::uint64_t>(cost * cost / wait)) : if_stuck;
  }

  simulation& sim_;
  const int workers_;
  std::vector<pair> beside_;
  std::vector<std::uint64_t> idle_from_, has_from_, got_on_, finished_;
  std::uint64_t worst_ns_ = 0;
  std::string worst_;
};

struct one_run {
  explicit one_run(std::uint64_t seed) {
    rng random(seed);
    const int nodes = 1 << random.below(5);
    const int each = 1 + static_cast<int>(random.below(nodes <= 4 ? 8 : 12));
    machine = machine::synthetic(nodes, each, 15 + random.below(30));
    machine.read_ns.clear();
    for (int a = 0; a < nodes; a++)
      for (int b = 0; b < nodes; b++)
        machine.read_ns.push_back(a == b ? 90 : 140 + 10 * ((a ^ b) % 4) + random.below(80));
    machine.write_ns = machine.read_ns;
    for (int w = 0; w < nodes * each; w++) node_of_worker.push_back(w / each);
    spin_ns = random.below(3) == 0 ? 0 : std::uint64_t{10'000} << random.below(8);
  }
  machine::description machine;
  std::vector<int> node_of_worker;
  std::uint64_t spin_ns;
};

class simulated : public ::testing::TestWithParam<std::string> {};

int asked(const char* variable, int usual) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? std::atoi(value) : usual;
}

TEST_P(simulated, random_programs_run_in_order_and_nobody_is_idle_beside_work) {
  const int first = asked("WEIR_SIMULATED_SEED", 1), seeds = asked("WEIR_SIMULATED_SEEDS", 25);
  for (int seed = first; seed < first + seeds; seed++) {
    SCOPED_TRACE("WEIR_SIMULATED_SEED=" + std::to_string(seed) + " WEIR_SIMULATED_SEEDS=1");
    const one_run r(static_cast<std::uint64_t>(seed));
    const random_program p(static_cast<std::uint64_t>(seed), r.machine.node_count(), 240);
    simulation s(r.machine, r.node_of_worker, GetParam(), p.made(), r.spin_ns);
    order_watch order(s, p.made());
    idle_watch idle(s);
    s.run();
    order.check();
    if (HasFatalFailure()) return;
    EXPECT_EQ(idle.worst_ns(), 0u) << idle.worst();
  }
}

TEST_P(simulated, the_same_program_gives_the_same_run) {
  for (const std::uint64_t seed : {3u, 40u, 77u}) {
    const one_run r(seed);
    const random_program p(seed, r.machine.node_count(), 240);
    const auto run = [&] { return simulation(r.machine, r.node_of_worker, GetParam(), p.made(), r.spin_ns).run(); };
    const result a = run(), b = run();
    EXPECT_EQ(a.ns, b.ns) << "seed " << seed;
    EXPECT_EQ(a.events, b.events) << "seed " << seed;
    EXPECT_EQ(a.tasks_of_worker, b.tasks_of_worker) << "seed " << seed;
  }
}

std::string as_name(std::string policy) {
  for (char& c : policy)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return policy;
}

INSTANTIATE_TEST_SUITE_P(every_policy, simulated, ::testing::ValuesIn(policy_names()),
                         [](const auto& i) { return as_name(i.param); });
// Windows that end anywhere in a program.
INSTANTIATE_TEST_SUITE_P(windows, simulated,
                         ::testing::Values("partition-follow:window=2", "partition-propagate:window=11",
                                           "partition-window:window=2", "partition-window:window=7,overlap=6",
                                           "partition-window:window=50,overlap=20,effort=1000"),
                         [](const auto& i) { return as_name(i.param); });

// While somebody there has nothing else to do.
TEST(planning_in_a_simulation, is_done_near_the_creator) {
  std::uint64_t windows = 0, from_afar = 0;
  for (std::uint64_t seed = 1; seed <= 30; seed++) {
    const machine::description two = machine::synthetic(2, 4, 20);
    const random_program p(seed, two.node_count(), 240);
    const result r = simulation(two, {0, 0, 0, 0, 1, 1, 1, 1}, "partition-window:window=8", p.made(), 100'000).run();
    windows += r.windows;
    from_afar += r.windows_from_afar;
  }
  EXPECT_GT(windows, 300u);
  EXPECT_LT(3 * from_afar, windows) << "of " << windows;  // 2 of 5 by whoever comes first
}

// All of them lie on one node, 2 MiB. Tasks that read what node 3 has just made begin there, and not where their update
// is: it is brought to them. Tasks on data of which each node has its share go to their update.
TEST(updates_in_a_simulation, leave_an_overfull_node_for_what_their_tasks_read) {
  const machine::description four = machine::synthetic(4, 1);
  for (const bool uneven : {true, false}) {
    program p;
    p.data_have_values = uneven;
    p.datum_bytes.assign(uneven ? 513 : 2, 4096);
    const auto add = [&](const task& t) {
      p.creates.push_back(static_cast<int>(p.tasks.size()));
      p.tasks.push_back(t);
    };
    if (!uneven) add({.ns = 50'000, .out = {1}, .affinity = 0});
    add({.ns = 50'000, .in = {}, .out = {0}, .affinity = 3});
    add({.ns = 50'000, .in = {0}, .inout = {1}});
    simulation s(four, {0, 1, 2, 3}, "auto", p);
    int last_ran_on = -1;
    s.begins = [&](int t, int worker, std::uint64_t) {
      if (t == p.creates.back()) last_ran_on = worker;
    };
    s.run();
    EXPECT_EQ(last_ran_on, uneven ? 3 : 0);
  }
}

class iterations : public ::testing::TestWithParam<std::string> {};

// Tasks that are recognised, in no order with those that wait in windows.
TEST_P(iterations, run_in_order_and_the_same_way_again) {
  const int first = asked("WEIR_SIMULATED_SEED", 1), seeds = asked("WEIR_SIMULATED_SEEDS", 15);
  std::uint64_t recognised = 0, machines = 0;
  for (int seed = first; seed < first + seeds; seed++) {
    SCOPED_TRACE("WEIR_SIMULATED_SEED=" + std::to_string(seed) + " WEIR_SIMULATED_SEEDS=1");
    const one_run r(static_cast<std::uint64_t>(seed));
    const random_program once(static_cast<std::uint64_t>(seed), r.machine.node_count(), 80);
    const iterated_program p(once.made(), 9, static_cast<std::uint64_t>(seed));
    const auto run = [&] {
      simulation s(r.machine, r.node_of_worker, GetParam(), p.made(), r.spin_ns);
      order_watch order(s, p.made());
      idle_watch idle(s);
      const result done = s.run();
      order.check();
      EXPECT_EQ(idle.worst_ns(), 0u) << idle.worst();
      return done;
    };
    const result a = run(), b = run();
    if (HasFatalFailure()) return;
    EXPECT_EQ(a.ns, b.ns);
    EXPECT_EQ(a.recognised, b.recognised);
    EXPECT_EQ(a.tasks_of_worker, b.tasks_of_worker);
    recognised += a.recognised;
    machines += r.machine.node_count() > 1 ? 1 : 0;
  }
  EXPECT_TRUE(recognised > 0 || machines < 3);  // of one machine all tasks may be created before any is placed
}

INSTANTIATE_TEST_SUITE_P(windows, iterations,
                         ::testing::Values("partition-window", "partition-window:window=2",
                                           "partition-window:window=7,overlap=6",
                                           "partition-window:window=50,overlap=20",
                                           "partition-window:window=100,overlap=0"),
                         [](const auto& i) { return as_name(i.param); });

}  // namespace
}  // namespace weir::engine::sim
