// What thieves are told of how evenly the memory of data lies.
#include "sched/scheduler.hpp"

#include "flow/flow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace weir::sched {
namespace {

// Two workers on a node each. More bytes than a cache of blocks keeps to itself before it reports them.
constexpr std::size_t much = 4 * memory::pools::count_precision_bytes;

struct memory_of_data : testing::Test {
  explicit memory_of_data(const std::string& policy = "local")
      : machine(machine::synthetic(2, 1)),
        s(machine, {0, 1}, place::parse(policy), 0),
        shared(os::pretended_memory(), {0, 1}, s.policy().outputs),
        cache(shared.buffers, 0) {
    s.set_memory_of_data(shared);
    for (int w = 0; w < s.worker_count(); w++) s.make_worker_slot(w);
  }
  bool holds_as_much(int node, int as_node) { return s.slot(0).sees->holds_as_much(node, as_node); }
  memory::block of_node(int node) { return cache.allocate(much, node); }
  void give_back(const memory::block& b) { cache.release(b, much); }

  const machine::description machine;
  scheduler s;
  flow::shared shared;
  memory::cache cache;
};

TEST_F(memory_of_data, is_compared_by_node) {
  EXPECT_FALSE(holds_as_much(1, 0)) << "there is none";
  const memory::block first = of_node(0);
  EXPECT_FALSE(holds_as_much(1, 0));
  EXPECT_TRUE(holds_as_much(0, 1));
  const memory::block second = of_node(1);
  EXPECT_TRUE(holds_as_much(1, 0)) << "as much";
  for (const auto& b : {first, second}) give_back(b);
}

struct memory_of_data_under_push : memory_of_data {
  memory_of_data_under_push() : memory_of_data("push-inputs") {}
};

TEST_F(memory_of_data_under_push, stays_where_it_is) {
  const std::array both = {of_node(0), of_node(1)};
  EXPECT_FALSE(holds_as_much(1, 0)) << "nothing moves";
  for (const auto& b : both) give_back(b);
}

}  // namespace
}  // namespace weir::sched
