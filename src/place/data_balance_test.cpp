// Updates of data that lie unevenly, and where their tasks go.
#include "place/data_balance.hpp"

#include "place/test_task.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace weir::place {
namespace {

struct uneven_data : testing::Test {
  static constexpr int nodes = 4;
  // More bytes than a cache of blocks keeps to itself before it reports them.
  static constexpr std::size_t much = 4 * memory::pools::count_precision_bytes;
  static constexpr std::uint64_t bytes = 4096, long_ns = 1'000'000;

  uneven_data()
      : view(machine::synthetic(nodes, 1)),
        shared(os::pretended_memory(), {0, 1, 2, 3}, flow::allocation::deferred),
        cache(shared.buffers, 0),
        balance(shared.buffers, view.seen(), std::vector<double>(nodes * nodes, 1.0)) {
    view.balanced_by(balance);
  }
  ~uneven_data() override {
    for (const memory::block& b : blocks) cache.release(b, much);
  }
  void fill(int node, int times) {
    for (int i = 0; i < times; i++) blocks.push_back(cache.allocate(much, node));
  }
  // Of tasks that take so long.
  static void note(const detail::task_ops& ops, std::uint64_t typical_ns) {
    ops.typical_ns.store(static_cast<std::uint32_t>(typical_ns), std::memory_order_relaxed);
  }
  double belongs(int node, std::uint64_t typical_ns = long_ns) {
    const detail::task_ops ops(nullptr, nullptr);
    note(ops, typical_ns);
    return balance.belonging(bytes, node, ops);
  }
  policy::wish wish_of(const std::vector<part>& inputs, std::uint64_t typical_ns = long_ns) {
    const detail::task_ops ops(nullptr, nullptr);
    note(ops, typical_ns);
    test_task t(inputs, {});
    return view.ask_wish("local", t.of_function(ops).get());
  }

  test_view view;
  flow::shared shared;
  memory::cache cache;
  data_balance balance;
  std::vector<memory::block> blocks;
};

TEST_F(uneven_data, belong_where_they_are_up_to_the_share_of_their_node) {
  EXPECT_EQ(belongs(0), 1) << "there are none";
  fill(0, 6);
  EXPECT_DOUBLE_EQ(belongs(0), 0.25);
  fill(1, 2);
  EXPECT_DOUBLE_EQ(belongs(0), 2.0 / 6);
  EXPECT_EQ(belongs(1), 1);
  EXPECT_EQ(belongs(2), 1);
  EXPECT_EQ(belongs(detail::node_unknown), 1);
  for (const int node : {1, 2, 3}) fill(node, 6);
  EXPECT_EQ(belongs(0), 1);
}

TEST_F(uneven_data, are_not_told_from_even_ones_by_less_than_the_counts_are_off) {
  fill(0, 1);  // 64 KiB for each of four workers; three quarters of that are beyond the share
  EXPECT_EQ(belongs(0), 1);
  fill(0, 1);
  EXPECT_LT(belongs(0), 1);
}

TEST_F(uneven_data, stay_with_tasks_that_are_too_short_to_bring_them) {
  fill(0, 6);
  EXPECT_EQ(belongs(0, bytes - 1), 1);
  EXPECT_LT(belongs(0, bytes), 1);
  EXPECT_EQ(belongs(0, 0), 1) << "none has run yet";
}

TEST_F(uneven_data, belong_to_nodes_by_their_workers) {
  view.with_workers({0, 0, 0, 1});
  const data_balance of_four(shared.buffers, view.seen(), std::vector<double>(nodes * nodes, 1.0));
  const detail::task_ops ops(nullptr, nullptr);
  note(ops, long_ns);
  fill(0, 6);
  fill(1, 2);
  EXPECT_EQ(of_four.belonging(bytes, 0, ops), 1);
  fill(2, 8);
  EXPECT_EQ(of_four.belonging(bytes, 0, ops), 1);
  EXPECT_EQ(of_four.belonging(bytes, 2, ops), 1) << "nobody works there: it is read from afar in any case";
}

// Two threads have not reported yet what a third one gives back.
TEST_F(uneven_data, may_be_fewer_than_none) {
  constexpr std::size_t few = memory::pools::count_precision_bytes / bytes - 1;
  memory::cache another(shared.buffers, 0), third(shared.buffers, 0);
  std::vector<memory::block> some;
  for (memory::cache* const c : {&cache, &another})
    for (std::size_t i = 0; i < few; i++) some.push_back(c->allocate(bytes, 0));
  for (const memory::block& b : some) third.release(b, bytes);
  EXPECT_LT(shared.buffers.live_bytes(0), 0);
  EXPECT_LT(shared.buffers.live_bytes(), 0);
  EXPECT_EQ(belongs(0), 1);
  EXPECT_EQ(belongs(1), 1) << "none are more than fewer than none";
}

TEST_F(uneven_data, go_to_what_their_tasks_read) {
  const std::vector<part> update_and_input = {{bytes, 0, true}, {bytes, 2}};
  EXPECT_EQ(wish_of(update_and_input).node, 0) << "no more than its share";
  fill(0, 6);
  EXPECT_EQ(wish_of(update_and_input).node, 2);
  EXPECT_EQ(wish_of(update_and_input).bytes, bytes);
  EXPECT_EQ(wish_of({{bytes, 0, true}, {bytes, 2}, {bytes, 2}}).node, 2);
  EXPECT_EQ(wish_of({{bytes, 0, true}, {bytes / 4, 2}}).node, 0) << "so little draws nothing to it";
  EXPECT_EQ(wish_of(update_and_input, bytes - 1).node, 0) << "they stay there";
  EXPECT_EQ(wish_of({{bytes, 0, true}}).node, 0) << "nothing else says where";
  EXPECT_EQ(wish_of({{bytes, 0, true}}).bytes, bytes);
  EXPECT_EQ(wish_of({{bytes, 0, true}, {bytes, 0}}).node, 0);
  EXPECT_EQ(wish_of({{bytes, 2, true}, {bytes, 0}}).node, 2) << "nothing leaves a node that has less";
  EXPECT_EQ(wish_of({{2 * bytes, 0}, {bytes, 2}}).node, 0) << "what is read stays";
  for (const int node : {1, 2, 3}) fill(node, 6);
  EXPECT_EQ(wish_of(update_and_input).node, 0);
}

}  // namespace
}  // namespace weir::place
