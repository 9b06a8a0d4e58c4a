// Where the policies that divide windows place the tasks of one.
#include <gtest/gtest.h>

#include "partition/partition.hpp"
#include "place/test_task.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace weir::place {
namespace {

using detail::access_mode;
constexpr std::uintptr_t array = std::uintptr_t{1} << 40;

class planned : public testing::Test {
 protected:
  planned() {
    lasting_1_ms.note(detail::task_length::long_, 1'000'000);
    choose("partition-follow");
  }
  void choose(const std::string& policy) {
    asked = parse(policy);
    asked.object->begin(v.seen());
  }
  // Of a window with these tasks, by task.
  std::vector<int> nodes_of(const std::vector<test_task*>& tasks) {
    const task_window w = divided(tasks);
    std::vector<int> nodes;
    for (std::size_t i = 0; i < w.size(); i++) nodes.push_back(w.node(i));
    return nodes;
  }
  task_window divided(const std::vector<test_task*>& tasks) {
    std::vector<flow::frame*> frames;
    for (test_task* const t : tasks) frames.push_back(t->of_function(lasting_1_ms).get());
    task_window w = window_of(v, known, frames, true, clock);
    asked.object->created(w);
    return w;
  }
  std::unique_ptr<test_task> writes(std::uint64_t first_byte, std::uint64_t bytes) {
    return std::make_unique<test_task>(std::vector<part>{}, std::vector<part>{},
                                       std::vector<range>{{array + first_byte, bytes, access_mode::out}});
  }
  static std::vector<test_task*> pointers(const std::vector<std::unique_ptr<test_task>>& all) {
    std::vector<test_task*> p;
    for (const auto& t : all) p.push_back(t.get());
    return p;
  }

  memory::regions known{os::pretended_memory(), {0, 1, 2, 3}};
  test_view v{machine::synthetic(4, 1)};
  std::uint64_t (*clock)() = nullptr;
  detail::task_ops lasting_1_ms{nullptr, nullptr};
  chosen asked;
};

TEST_F(planned, new_memory_is_dealt_in_pieces_by_address) {
  const std::uint64_t page = known.page_bytes();
  std::vector<std::uint64_t> created{5, 0, 11, 2, 15, 8, 1, 14, 3, 9, 4, 12, 6, 13, 7, 10};
  std::vector<std::unique_ptr<test_task>> tasks;
  for (const std::uint64_t block : created) tasks.push_back(writes(block * page, page));
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  for (std::size_t i = 0; i < created.size(); i++) EXPECT_EQ(nodes[i], static_cast<int>(created[i] / 4)) << created[i];
}

TEST_F(planned, what_shares_a_page_goes_together) {
  const std::uint64_t page = known.page_bytes();
  std::vector<std::unique_ptr<test_task>> tasks;
  for (std::uint64_t part = 0; part < 4; part++)
    for (std::uint64_t of = 0; of < 4; of++) tasks.push_back(writes(of * page + part * page / 4, page / 4));
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  for (std::size_t i = 0; i < tasks.size(); i++) EXPECT_EQ(nodes[i], static_cast<int>(i % 4)) << i;
}

// In equal shares, whatever else is in the window: two tasks use each of the parts that are written here.
TEST_F(planned, new_memory_is_shared_out_beside_tasks_that_use_it) {
  const std::uint64_t bytes = 16 * known.page_bytes();
  std::vector<std::unique_ptr<test_task>> tasks;
  for (std::uint64_t part = 0; part < 16; part++) tasks.push_back(writes(part * bytes, bytes));
  for (int i = 0; i < 32; i++)
    tasks.push_back(std::make_unique<test_task>(std::vector<part>{{bytes, i / 8}}, std::vector<part>{}));
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  for (std::size_t i = 0; i < 16; i++) EXPECT_EQ(nodes[i], static_cast<int>(i / 4)) << i;
}

TEST_F(planned, small_windows_go_on_where_the_last_one_ended) {
  std::vector<int> all;
  for (std::uint64_t i = 0; i < 8; i++) {
    const auto t = writes(i << 20, 1 << 20);
    all.push_back(nodes_of({t.get()}).front());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST_F(planned, tasks_go_where_their_data_lie) {
  std::vector<std::unique_ptr<test_task>> tasks;
  for (int i = 0; i < 16; i++)
    tasks.push_back(
        std::make_unique<test_task>(std::vector<part>{{1 << 20, (7 * i) % 4}, {64, 0}}, std::vector<part>{}));
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  for (int i = 0; i < 16; i++) EXPECT_EQ(nodes[static_cast<std::size_t>(i)], (7 * i) % 4) << i;
}

// However they are divided: following would leave three nodes idle.
TEST_F(planned, what_lies_on_one_node_is_shared_out) {
  for (const std::string& with : partition::partitioner_names()) {
    choose("partition-window:with=" + with);
    std::vector<std::unique_ptr<test_task>> tasks;
    for (int i = 0; i < 64; i++)
      tasks.push_back(std::make_unique<test_task>(std::vector<part>{{4096, 0}}, std::vector<part>{}));
    const std::vector<int> nodes = nodes_of(pointers(tasks));
    for (int n = 0; n < 4; n++)
      EXPECT_NEAR(std::count(nodes.begin(), nodes.end(), n), 16, 2) << with << ", node " << n;
    EXPECT_EQ(nodes, nodes_of(pointers(tasks))) << with;  // the same seed
  }
}

TEST_F(planned, division_that_takes_too_long_is_spared) {
  choose("partition-follow:effort=0");
  std::vector<std::unique_ptr<test_task>> tasks;
  for (int i = 0; i < 64; i++)
    tasks.push_back(std::make_unique<test_task>(std::vector<part>{{4096, 0}}, std::vector<part>{}));
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  EXPECT_EQ(std::count(nodes.begin(), nodes.end(), 0), 64);
}

// Where a look at the window takes a second, who plans has no time to divide it.
TEST_F(planned, what_a_division_takes_is_measured) {
  choose("partition-window");
  std::vector<std::unique_ptr<test_task>> tasks;
  for (int i = 0; i < 64; i++)
    tasks.push_back(std::make_unique<test_task>(std::vector<part>{{4096, 0}}, std::vector<part>{}));
  static std::uint64_t now_ns;
  clock = [] { return now_ns += 1'000'000'000; };
  EXPECT_EQ(nodes_of(pointers(tasks)), std::vector<int>(64, 0));
  clock = [] { return now_ns += 1; };
  EXPECT_NE(nodes_of(pointers(tasks)), std::vector<int>(64, 0));
}

// Each names a block of its own, and later the one that it wrote: by address, as if nobody had written it.
TEST_F(planned, memory_that_may_move_is_dealt_out_wherever_it_lies) {
  const std::uint64_t block = 16 * known.page_bytes();
  known.placed(array, 64 * block, 0);
  for (const bool may_move : {true, false}) {
    choose(may_move ? "partition-follow:effort=0" : "partition-follow:effort=0,migrate=off");
    std::vector<std::unique_ptr<test_task>> tasks;
    for (std::uint64_t i = 0; i < 64; i++) tasks.push_back(writes(i * block, block));
    const std::vector<int> nodes = nodes_of(pointers(tasks));
    for (std::size_t i = 0; i < 64; i++) EXPECT_EQ(nodes[i], may_move ? static_cast<int>(i / 16) : 0) << i;
  }
}

// A program that passes over its memory once moves no more of it than it has paid for; one that comes again moves all.
TEST_F(planned, memory_is_expected_to_be_used_again_if_it_has_been) {
  const std::uint64_t block = 16 * known.page_bytes();
  known.placed(array, 64 * block, 0);
  for (const std::uint64_t times : {1, 2, 3}) {
    choose("partition-follow:effort=0");
    std::vector<std::unique_ptr<test_task>> tasks;
    for (std::uint64_t i = 0; i < 64 * times; i++) tasks.push_back(writes(i % 64 * block, block));
    const task_window w = divided(pointers(tasks));
    EXPECT_TRUE(w.moves_memory()) << times;
    if (times == 1) EXPECT_EQ(w.moving_uses(), 1u);
    else EXPECT_GT(w.moving_uses(), 1u) << times;
  }
}

TEST_F(planned, memory_that_lies_well_stays) {
  const std::uint64_t block = 16 * known.page_bytes();
  std::vector<std::unique_ptr<test_task>> tasks;
  for (std::uint64_t i = 0; i < 64; i++) {
    known.placed(array + i * block, block, static_cast<int>(i * 7 % 4));
    tasks.push_back(writes(i * block, block));
  }
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  for (std::size_t i = 0; i < 64; i++) EXPECT_EQ(nodes[i], static_cast<int>(i * 7 % 4)) << i;
}

TEST_F(planned, nodes_without_workers_get_nothing) {
  v.without_worker(2);
  choose("partition-follow");
  std::vector<std::unique_ptr<test_task>> tasks;
  for (std::uint64_t i = 0; i < 9; i++) tasks.push_back(writes(i << 20, 1 << 20));
  const std::vector<int> nodes = nodes_of(pointers(tasks));
  EXPECT_EQ(nodes, (std::vector<int>{0, 0, 0, 1, 1, 1, 3, 3, 3}));
}

}  // namespace
}  // namespace weir::place
