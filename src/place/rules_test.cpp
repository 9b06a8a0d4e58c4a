// Algorithm 1 of Drebes et al., PACT 2016, section 2.3, worked by hand.
#include <gtest/gtest.h>

#include "place/byte_tally.hpp"
#include "place/test_task.hpp"

#include <filesystem>
#include <random>

namespace weir::place {
namespace {

using detail::node_unknown;
using wish = policy::wish;
constexpr int here = policy::here;
constexpr const char *by_inputs = "local", *by_outputs = "push-outputs", *by_both = "push-weighted";

TEST(by_inputs, goes_to_the_node_with_most_bytes) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask(by_inputs, {{4096, 2}}), 2);
  EXPECT_EQ(v.ask(by_inputs, {{4096, 2}, {8192, 3}}), 3);
  EXPECT_EQ(v.ask(by_inputs, {{4096, 2}, {8192, 3}, {5000, 2}}), 2);  // 9096 together
  EXPECT_EQ(v.ask(by_inputs, {{4096, 2}}, {{1 << 20, 1}}), 2);        // outputs do not matter
  EXPECT_EQ(v.from(2).ask(by_inputs, {{4096, 2}}), 2);
}

TEST(by_inputs, small_tasks_stay) {
  test_view v(machine::synthetic(2, 1));
  v.with("threshold=1024");
  EXPECT_EQ(v.ask(by_inputs, {{1023, 1}}), here);
  EXPECT_EQ(v.ask(by_inputs, {{1024, 1}}), 1);
  EXPECT_EQ(v.ask(by_inputs, {{512, 1}, {512, 1}}), 1);
  EXPECT_EQ(v.ask(by_inputs, {{600, 1}, {500, 0}}), 1);  // the sum counts for the threshold
  EXPECT_EQ(v.ask(by_inputs, {{600, 1}, {500, node_unknown}}), 1);
  EXPECT_EQ(v.with("threshold=0").ask(by_inputs, {{1, 1}}), 1);
}

TEST(by_inputs, a_tie_stays) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.from(1).ask(by_inputs, {{4096, 1}, {4096, 3}}), 1);
  EXPECT_EQ(v.from(3).ask(by_inputs, {{4096, 1}, {4096, 3}}), 3);
  EXPECT_EQ(v.from(1).ask(by_inputs, {{4096, 1}, {8192, 3}}), 3);
  EXPECT_EQ(v.from(3).ask(by_inputs, {{4096, 1}, {8192, 3}}), 3);
  // Equal on all nodes: nothing is gained by going.
  EXPECT_EQ(v.from(2).ask(by_inputs, {{4096, 0}, {4096, 1}, {4096, 2}, {4096, 3}}), 2);
}

TEST(by_inputs, what_is_updated_counts_twice) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask(by_inputs, {{4096, 1}, {3000, 2, true}}), 2);
  EXPECT_EQ(v.ask(by_inputs, {{4096, 1}, {2000, 2, true}}), 1);
  EXPECT_EQ(v.from(1).ask(by_inputs, {{4096, 1}, {4000, 1}, {4096, 3, true}}), 3);
  EXPECT_EQ(v.from(1).ask(by_inputs, {{4096, 1}, {4096, 1}, {4096, 3, true}}), 1) << "a tie";
}

TEST(by_inputs, what_is_nowhere_decides_nothing) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask(by_inputs, {{1 << 20, node_unknown}}), here);
  EXPECT_EQ(v.ask(by_inputs, {{1 << 20, node_unknown}, {64, 3}}), 3);
  EXPECT_EQ(v.ask(by_inputs, {{0, 3}, {4096, 2}}), 2);
}

TEST(by_inputs, nodes_without_workers_are_never_chosen) {
  test_view v(machine::synthetic(4, 1));
  v.without_worker(3);
  const int chosen = v.ask(by_inputs, {{1 << 20, 3}});
  EXPECT_TRUE(chosen == here || v.has_worker(chosen));
  // The nearest node with workers: on this machine 2 is nearer to 3 than 0 and 1 are.
  machine::description m = machine::synthetic(4, 1, 30);
  m.distance[2 * 4 + 3] = m.distance[3 * 4 + 2] = 15;
  test_view near(m);
  near.without_worker(3);
  EXPECT_EQ(near.ask(by_inputs, {{1 << 20, 3}}), 2);
  // Who asks may itself be no worker's node (a thread of the program).
  EXPECT_EQ(near.from(3).ask(by_inputs, {{1 << 20, 3}}), 2);
  EXPECT_EQ(near.from(-1).ask(by_inputs, {{1 << 20, 1}}), 1);
}

TEST(by_inputs, a_place_between_may_be_cheapest) {
  // A line of three nodes: 0 -- 1 -- 2. Data at both ends are cheapest to read from the middle.
  machine::description m = machine::synthetic(3, 1);
  m.distance = {10, 20, 60, 20, 10, 20, 60, 20, 10};
  test_view v(m);
  EXPECT_EQ(v.ask(by_inputs, {{1000, 0}, {1000, 2}}), 1);       // 40'000 against 70'000
  EXPECT_EQ(v.ask(by_inputs, {{10'000, 0}, {1000, 2}}), 0);
}

TEST(by_inputs, measured_latencies_count_more_than_firmware_distances) {
  machine::description m = machine::synthetic(3, 1, 20);
  // Firmware: 1 and 2 are equally far from 0. Measured: 2 is much nearer.
  m.read_ns = {100, 400, 150, 400, 100, 400, 150, 400, 100};
  test_view v(m);
  // From 1: 100 a + 400 b; from 2: 400 a + 100 b. Node 0 reads 400 a + 150 b.
  EXPECT_EQ(v.from(0).ask(by_inputs, {{1000, 1}, {1100, 2}}), 2);
  v.without_worker(2);
  EXPECT_EQ(v.from(1).ask(by_inputs, {{4096, 2}}), 0);  // by the firmware 1 would have stayed
}

TEST(by_outputs, uses_writing_costs) {
  machine::description m = machine::synthetic(3, 1);
  m.read_ns = {100, 200, 900, 200, 100, 200, 900, 200, 100};
  m.write_ns = {100, 900, 200, 900, 100, 900, 200, 900, 100};
  test_view v(m);
  v.without_worker(2);
  EXPECT_EQ(v.from(0).ask(by_inputs, {{4096, 2}}), 1);
  EXPECT_EQ(v.from(1).ask(by_outputs, {}, {{4096, 2}}), 0);
}

TEST(by_outputs, goes_where_the_outputs_are) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask(by_outputs, {{1 << 20, 1}}, {{4096, 3}}), 3);
  EXPECT_EQ(v.ask(by_outputs, {{1 << 20, 1}}, {{100, 3}}), here);  // inputs do not count for the threshold
  EXPECT_EQ(v.ask(by_outputs, {}, {{4096, node_unknown}}), here);  // deferred: no memory yet
}

TEST(by_both, weighs_reads_and_writes) {
  test_view v(machine::synthetic(4, 1));
  // Defaults: a byte written weighs as two read.
  EXPECT_EQ(v.ask(by_both, {{4096, 1}}, {{3000, 2}}), 2);
  EXPECT_EQ(v.ask(by_both, {{4096, 1}}, {{2000, 2}}), 1);
  v.with("out=1");
  EXPECT_EQ(v.ask(by_both, {{4096, 1}}, {{3000, 2}}), 1);
  v.with("out=1,in=0");
  EXPECT_EQ(v.ask(by_both, {{1 << 20, 1}}, {{3000, 2}}), 2);
  EXPECT_EQ(v.ask(by_both, {{600, 1}}, {{500, 2}}), 2);  // both count for the threshold
  EXPECT_EQ(v.ask(by_both, {{500, 1}}, {{500, 2}}), here);
}

// As an input it lies where the datum is, and there it is written, too, though the version that it will be has no memory.
TEST(by_outputs, what_is_updated_in_place_is_an_output) {
  test_view v(machine::synthetic(4, 1));
  EXPECT_EQ(v.ask(by_outputs, {{4096, 3, true}}), 3);
  EXPECT_EQ(v.ask(by_outputs, {{100, 3, true}}), here);
  EXPECT_EQ(v.ask(by_outputs, {{1 << 20, 1}, {4096, 3, true}}), 3);
  EXPECT_EQ(v.ask(by_outputs, {{4096, 3, true}}, {{3000, 2}}), 3);
  EXPECT_EQ(v.ask(by_outputs, {{4096, 3, true}}, {{5000, 2}}), 2);
  EXPECT_EQ(v.ask(by_outputs, {{600, 3, true}}, {{500, 2}}), 3) << "both count for the threshold";
}

TEST(by_both, what_is_updated_in_place_is_read_and_written) {
  test_view v(machine::synthetic(4, 1));
  // 1 for reading and 2 for writing.
  EXPECT_EQ(v.ask(by_both, {{4096, 1}, {1400, 2, true}}), 2);
  EXPECT_EQ(v.ask(by_both, {{4096, 1}, {1300, 2, true}}), 1);
  EXPECT_EQ(v.ask(by_both, {{520, 2, true}}), 2) << "its bytes are read and written, which is more than the threshold";
  v.with("in=0");
  EXPECT_EQ(v.ask(by_both, {{1 << 20, 1}, {1400, 2, true}}), 2);
}

TEST(by_outputs, goes_where_outputs_are_planned) {
  test_view v(machine::synthetic(4, 1));
  for (const char* rule : {by_outputs, by_both}) {
    EXPECT_EQ(v.ask(rule, {}, {{4096, flow::planned_by_creator(2)}}), 2);
    EXPECT_EQ(v.ask(rule, {}, {{4096, flow::planned_by_creator(0)}, {8000, 3}}), 3);
  }
}

TEST(by_inputs, initial_tasks_are_dealt_out) {
  test_view v(machine::synthetic(3, 1));
  test_task fill({}, {{4096, node_unknown}});
  for (int expected : {0, 1, 2, 0, 1}) EXPECT_EQ(v.ask(by_inputs, fill.get()), expected);
  test_view two(machine::synthetic(3, 1));
  two.with("stride=2");
  for (int expected : {0, 0, 1, 1, 2, 2, 0}) EXPECT_EQ(two.ask(by_inputs, fill.get()), expected);
}

TEST(by_inputs, a_node_has_two_goes_in_which_its_workers_have_their_turns) {
  test_view v(machine::synthetic(2, 4));
  test_task fill({}, {{4096, node_unknown}});
  v.with_workers({0, 0, 0, 0, 1, 1, 1, 1});
  for (int expected : {0, 0, 1, 1, 0, 0, 1, 1, 0, 0}) EXPECT_EQ(v.ask(by_inputs, fill.get()), expected);
  v.with_workers({0, 1, 1, 1});
  for (int expected : {0, 1, 1, 1, 0, 1, 1, 1}) EXPECT_EQ(v.ask(by_inputs, fill.get()), expected);
}

TEST(by_inputs, says_which_tasks_are_initial) {
  test_view v(machine::synthetic(3, 1));
  test_task fill({}, {{4096, node_unknown}}), reader({{4096, 2}}, {{4096, node_unknown}});
  EXPECT_TRUE(v.ask_wish(by_inputs, fill.get()).initial);
  EXPECT_EQ(v.ask_wish(by_inputs, reader.get()), wish(2, false, 4096));
}

TEST(by_inputs, initial_tasks_that_belong_somewhere_stay) {
  test_view v(machine::synthetic(3, 1));
  test_task small({}, {{100, node_unknown}}), nothing({}, {}), placed({}, {{4096, 2}}), fill({}, {{4096, node_unknown}});
  EXPECT_EQ(v.ask(by_inputs, small.get()), here);
  EXPECT_EQ(v.ask(by_inputs, nothing.get()), here);
  EXPECT_EQ(v.ask(by_inputs, placed.get()), here);
  test_task parent({{4096, 1}}, {}), control({{8, 1}}, {});
  EXPECT_EQ(v.ask(by_inputs, fill.get(), parent.get()), here);      // part of a task that was placed
  EXPECT_NE(v.ask(by_inputs, fill.get(), control.get()), here);     // a control program has no data to speak of
}

TEST(by_inputs, initial_tasks_go_where_the_program_has_put_their_creator) {
  test_view v(machine::synthetic(3, 1));
  test_task fill({}, {{4096, node_unknown}}), reader({{4096, 0}}, {{4096, node_unknown}}), creator({}, {});
  creator.get()->affinity = 2;
  for (int i = 0; i < 3; i++) EXPECT_EQ(v.ask_wish(by_inputs, fill.get(), creator.get()), wish(2, true));
  EXPECT_EQ(v.ask(by_inputs, reader.get(), creator.get()), 0) << "it follows its data";
  v.without_worker(2);
  for (int expected : {0, 1, 0}) EXPECT_EQ(v.ask(by_inputs, fill.get(), creator.get()), expected) << "in turn";
}

// What a node's memory costs more from elsewhere than from its own node obeys the triangle inequality.
bool detours_do_not_pay(const machine::description& m) {
  for (int a = 0; a < m.node_count(); a++)
    for (int b = 0; b < m.node_count(); b++)
      for (int c = 0; c < m.node_count(); c++)
        if (m.read_cost(a, c) - m.read_cost(b, c) > m.read_cost(b, a) - m.read_cost(a, a)) return false;
  return true;
}

int cheapest_for_all(const policy_machine& m, int own, const std::vector<part>& inputs) {
  byte_tally tally;
  for (const part& p : inputs) tally.add(p.bytes, p.node, 1);
  return tally.cheapest_node(m, own, false);
}

// A task whose main input decides alone must end up where all its inputs together would have sent it, on every machine
// where the short cut is exact. Elsewhere (opteron-64, quad-opteron-8347, cxl) a node between may be cheaper.
TEST(by_inputs, a_main_input_decides_as_all_inputs_would) {
  std::mt19937 random(12345);
  int checked = 0;
  for (const auto& file : std::filesystem::directory_iterator(WEIR_SOURCE_FOLDER "/machines")) {
    if (file.path().extension() != ".toml") continue;
    test_view v(machine::load(file.path().string()));
    if (!detours_do_not_pay(v.machine())) continue;
    checked++;
    const auto nodes = static_cast<unsigned>(v.machine().node_count());
    for (int i = 0; i < 2000; i++) {
      std::vector<part> inputs;
      std::uint64_t rest = 0;
      for (unsigned n = random() % 6; n > 0; n--) {
        inputs.push_back({random() % 10'000, static_cast<int>(random() % nodes)});
        rest += inputs.back().bytes;
      }
      inputs.push_back({rest + 1025 + random() % 1000, static_cast<int>(random() % nodes)});
      std::shuffle(inputs.begin(), inputs.end(), random);
      const int own = static_cast<int>(random() % nodes);
      ASSERT_EQ(v.from(own).ask(by_inputs, inputs), cheapest_for_all(v.seen(), own, inputs))
          << file.path() << ", " << inputs.size() << " inputs";
    }
  }
  EXPECT_GE(checked, 3);
}

// Each node counts, however many a task touches: the last one's bytes decide as the first one's would.
TEST(rules, every_node_of_a_task_counts) {
  for (const int nodes : {2, 16, 17, 24, 32, 33, 64, 192}) {
    test_view v(machine::synthetic(nodes, 1));
    for (const int most : {0, nodes / 2, nodes - 1}) {
      std::vector<part> parts;
      for (int n = 0; n < nodes; n++) parts.push_back({4096, n});
      parts.push_back({64, most});
      EXPECT_EQ(v.from(0).ask(by_both, parts), most) << nodes;
      EXPECT_EQ(v.from(0).ask(by_inputs, parts), most) << nodes;
      EXPECT_EQ(v.from(0).ask(by_outputs, {}, parts), most) << nodes;
    }
  }
}

TEST(rules, on_very_many_nodes_ties_stay) {
  test_view v(machine::synthetic(64, 1));
  std::vector<part> inputs;
  for (int n = 20; n < 64; n++) inputs.push_back({4096, n});
  for (const char* rule : {by_inputs, by_both}) {
    EXPECT_EQ(v.from(0).ask(rule, inputs), 20);  // none of its bytes are here, and equal ones on each of the others
    for (const int own : {25, 63}) EXPECT_EQ(v.from(own).ask(rule, inputs), own);
  }
}

}  // namespace
}  // namespace weir::place
