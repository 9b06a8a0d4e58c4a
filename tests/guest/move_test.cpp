// Do pages lie where weir::move, weir::distribute and coarse_graph::distribute say? The kernel is asked about every page.
#include <gtest/gtest.h>

#include "guest_machine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>

namespace weir::guest_test {
namespace {

class Move : public testing::Test {
 protected:
  void SetUp() override {
    if (node_count() < 2) GTEST_SKIP() << "one node: every page is on it";
    if (!can_ask(page_source::move_pages)) GTEST_SKIP() << "move_pages is refused: pages stay where they are";
  }
  static std::span<unsigned char> pages_of(std::vector<unsigned char>& memory, std::size_t pages) {
    memory.resize((pages + 1) * os::page_bytes());
    const auto from = reinterpret_cast<std::uintptr_t>(memory.data());
    return std::span(memory).subspan((os::page_bytes() - from % os::page_bytes()) % os::page_bytes(), pages * os::page_bytes());
  }
};

TEST_F(Move, TouchedPagesGoAndUntouchedOnesComeFromThere) {
  for (int node : nodes_with_cpus()) {
    const std::size_t bytes = 64 * os::page_bytes();
    auto* const memory = static_cast<unsigned char*>(os::host_memory().map(bytes, os::page_bytes()));
    const std::span all(memory, bytes);
    std::ranges::fill(all.first(bytes / 2), static_cast<unsigned char>(7));
    const move_report r = weir::move(all, node);
    EXPECT_EQ(r.moved + r.there, 32u) << r.to_string();
    EXPECT_EQ(r.promised, 32u) << r.to_string();
    std::ranges::fill(all.last(bytes / 2), static_cast<unsigned char>(7));
    EXPECT_TRUE(std::ranges::all_of(nodes_of(all), [&](int n) { return n == node; })) << "node " << node << ": " << r.to_string();
    EXPECT_TRUE(std::ranges::all_of(all, [](unsigned char c) { return c == 7; }));
    const move_report again = weir::move(all, node);
    EXPECT_EQ(again.there, 64u) << again.to_string();
    os::host_memory().unmap(memory, bytes);
  }
}

TEST_F(Move, NeighbouringRangesMeetInTheMiddleOfAPage) {
  std::vector<unsigned char> memory;
  const std::span all = pages_of(memory, 8);
  std::ranges::fill(all, static_cast<unsigned char>(1));
  const std::vector<int> nodes = nodes_with_cpus();
  const std::size_t cut = 3 * os::page_bytes() + os::page_bytes() / 4;  // most of page 3 is behind it
  weir::move(all.first(cut), nodes[0]);
  weir::move(all.subspan(cut), nodes[1]);
  const std::vector<int> found = nodes_of(all);
  for (std::size_t p = 0; p < 8; p++) EXPECT_EQ(found[p], p < 3 ? nodes[0] : nodes[1]) << "page " << p;
}

TEST_F(Move, DistributedMemoryIsOnAllNodesInOrder) {
  std::vector<unsigned char> memory;
  const std::span all = pages_of(memory, 120);
  std::ranges::fill(all, static_cast<unsigned char>(1));
  const move_report r = distribute(all);
  EXPECT_EQ(r.refused, 0u) << r.to_string();
  const std::vector<int> found = nodes_of(all);
  EXPECT_TRUE(std::ranges::is_sorted(found));
  for (int node : nodes_with_cpus()) {
    const double share = static_cast<double>(host().nodes[static_cast<std::size_t>(node)].cpus.size()) / static_cast<double>(host().cpus.size());
    EXPECT_NEAR(static_cast<double>(std::ranges::count(found, node)), 120 * share, 2) << "node " << node;
  }
}

// Columns of a grid, one task an element; a row is a level, and has a page for each node.
// Large enough for huge pages, which would move as a whole: it has none.
class memory_in_small_pages {
 public:
  explicit memory_in_small_pages(std::size_t bytes) : bytes_(bytes), first_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (first_ == MAP_FAILED) throw std::bad_alloc();
    madvise(first_, bytes, MADV_NOHUGEPAGE);
  }
  ~memory_in_small_pages() { munmap(first_, bytes_); }
  memory_in_small_pages(const memory_in_small_pages&) = delete;
  memory_in_small_pages& operator=(const memory_in_small_pages&) = delete;
  std::span<unsigned char> span() const { return {static_cast<unsigned char*>(first_), bytes_}; }

 private:
  std::size_t bytes_;
  void* first_;
};

TEST_F(Move, ACoarseGraphTakesItsMemoryWithIt) {
  const std::vector<int> nodes = nodes_with_cpus();
  const std::size_t in_a_page = os::page_bytes() / sizeof(double);
  const auto side = static_cast<graph::task_id>(nodes.size() * in_a_page);
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> before;
  for (graph::task_id y = 0; y < 64; y++)
    for (graph::task_id x = 0; x < side; x++) {
      if (y > 0) before.push_back((y - 1) * side + x);
      offsets.push_back(before.size());
    }
  const memory_in_small_pages memory(64 * side * sizeof(double));
  const std::span all = memory.span();
  std::ranges::fill(all, static_cast<unsigned char>(0));
  const std::span values(reinterpret_cast<double*>(all.data()), 64 * side);
  graph g(offsets, before);
  coarse_graph c = aggregate(g, "F(" + std::to_string(4 * nodes.size()) + ")");
  runtime rt(runtime_options{.policy = "node-queues"});
  const move_report r = c.distribute(rt, [&](graph::task_id t, written_memory& m) { m.add(values[t]); });
  EXPECT_EQ(r.refused, 0u) << r.to_string();
  EXPECT_EQ(r.pages, all.size() / os::page_bytes()) << r.to_string();
  const std::vector<int> found = nodes_of(all);
  for (std::size_t p = 0; p < found.size(); p++) EXPECT_EQ(found[p], nodes[p % nodes.size()]) << "page " << p;
  c.run(rt, [&](graph::task_id t) { values[t] = t < side ? 1 : values[t - side] + 1; });
  for (std::size_t t = 0; t < values.size(); t++) ASSERT_EQ(values[t], 1.0 + static_cast<double>(t / side));
}

// Strictly placed, all of a node's tasks run there.
TEST_F(Move, RequiredNodesOfAggregatesAreKept) {
  std::vector<std::size_t> offsets(101, 0);
  graph g(offsets, {});
  coarse_graph c = aggregate(g, "F(20)");
  runtime rt(runtime_options{.policy = "node-queues"});
  c.distribute(rt, [](graph::task_id, written_memory&) {});
  std::vector<int> nodes(c.aggregates());
  for (std::size_t a = 0; a < nodes.size(); a++) nodes[a] = c.node(a);
  c.place(nodes, true);
  std::vector<std::atomic<int>> wrong(g.tasks());
  std::vector<int> expected(g.tasks());
  for (std::size_t a = 0; a < nodes.size(); a++)
    for (graph::task_id t : c.members(a)) expected[t] = nodes[a];
  for (int i = 0; i < 10; i++)
    c.run(rt, [&](graph::task_id t) { wrong[t] += this_task::node() != expected[t] || node_of_this_cpu() != expected[t]; });
  for (const auto& w : wrong) EXPECT_EQ(w, 0);
}

}  // namespace
}  // namespace weir::guest_test
