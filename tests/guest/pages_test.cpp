// Do pages lie where the policies promise? For machines with several nodes, real or emulated: the kernel is asked about
// every page, from inside the tasks.
#include <gtest/gtest.h>

#include "guest_machine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

namespace weir::guest_test {
namespace {

using bytes_out = std::span<unsigned char>;
using bytes_in = std::span<const unsigned char>;

runtime_options with(const std::string& policy) {
  runtime_options o;
  o.policy = policy;
  return o;
}

task_options on(int node) { return {.name = "test", .affinity = require(node)}; }

class PagesOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (node_count() < 2) GTEST_SKIP() << "one node: every page is on it";
    if (!can_ask(page_source::move_pages) && !can_ask(page_source::pagemap)) GTEST_SKIP() << "the kernel tells nobody where pages are";
  }
};
class Deferred : public PagesOf {};
class AtCreation : public PagesOf {};
class AnyPolicy : public PagesOf {};

// The ways to ask are independent: where both work they must agree, page by page.
TEST(PageNodes, TwoWaysToAskAgree) {
  if (!can_ask(page_source::move_pages) || !can_ask(page_source::pagemap)) GTEST_SKIP() << "one of the ways is refused";
  std::vector<unsigned char> memory(3 << 20, 1);
  EXPECT_EQ(page_nodes(memory.data(), memory.size(), page_source::move_pages), page_nodes(memory.data(), memory.size(), page_source::pagemap));
}

// The harness says what it booted, so that a guest without nodes cannot pass for one with nodes.
TEST(Machine, HasTheNodesThatWereBooted) {
  const char* expected = std::getenv("WEIR_GUEST_NODES");
  if (expected == nullptr) GTEST_SKIP() << "WEIR_GUEST_NODES is not set: not in a guest";
  EXPECT_EQ(std::to_string(node_count()), expected);
  EXPECT_TRUE(can_ask(page_source::pagemap)) << "nobody to ask where pages are, so the other tests prove nothing";
}

TEST(Machine, WorkersRunOnTheirNodesCpus) {
  runtime rt;
  std::atomic<int> wrong{0};
  std::vector<std::atomic<int>> tasks(static_cast<std::size_t>(node_count()));
  for (int round = 0; round < 20; round++)
    for (int node : nodes_with_cpus())
      rt.spawn(on(node), [&, node] {
        wrong += this_task::node() != node || node_of_this_cpu() != node;
        tasks[static_cast<std::size_t>(node)]++;
      });
  rt.wait();
  EXPECT_EQ(wrong, 0);
  for (int node : nodes_with_cpus()) EXPECT_EQ(tasks[static_cast<std::size_t>(node)], 20) << "node " << node;
}

// What its caller has written lies there. Workers sleep before each, so that only the one that is told comes.
TEST(Machine, ControlProgramsBeginOnTheirCallersNode) {
  constexpr int runs = 10;
  int all = 0;
  runtime rt;
  for (const int node : nodes_with_cpus()) {
    int there = 0, ran = 0;
    std::thread caller([&] {
      const int cpu = host().nodes[static_cast<std::size_t>(node)].cpus.front();
      const int os_cpu = host().cpus[static_cast<std::size_t>(cpu)].os_index;
      if (!os::set_affinity_of_this_thread({os_cpu})) return;  // a narrow cpuset
      for (int i = 0; i < runs; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        rt.run([&] { there += this_task::node() == node ? 1 : 0; });
        ran++;
      }
    });
    caller.join();
    EXPECT_GE(there, ran / 2) << "of " << ran << ", node " << node;
    all += ran;
  }
  EXPECT_GE(all, runs) << "the caller could be bound nowhere";
}

// Many tasks of one output each, half of them bound to nodes in turn so that no node is left out.
void write_outputs(runtime& rt, std::size_t bytes, int tasks, page_count& pages) {
  const std::vector<int> nodes = nodes_with_cpus();
  for (int i = 0; i < tasks; i++) {
    data<unsigned char> x = rt.make_data<unsigned char>(bytes);
    const auto body = [&pages](bytes_out written) {
      std::ranges::fill(written, static_cast<unsigned char>(1));
      pages.expect_on(this_task::node(), written);
    };
    if (i % 2 == 0) rt.spawn(on(nodes[static_cast<std::size_t>(i / 2) % nodes.size()]), out(x), body);
    else rt.spawn(out(x), body);
  }
  rt.wait();
}

TEST_P(Deferred, EveryPageWrittenIsOnTheWritersNode) {
  constexpr std::size_t at_once_bytes = std::size_t{64} << 20;  // what a small guest has room for
  runtime rt(with(GetParam()));
  for (std::size_t bytes : {64u, 200u, 4096u, 5000u, 64u << 10, 200u << 10, 1u << 20, 3u << 20, 8u << 20}) {
    page_count pages;
    const int per_round = static_cast<int>(std::clamp<std::size_t>(at_once_bytes / bytes, 2, 256));
    while (pages.total() + pages.unknown() < 512) write_outputs(rt, bytes, per_round, pages);
    EXPECT_EQ(pages.misplaced() + pages.unknown(), 0u) << bytes << " bytes: " << pages;
  }
}

TEST_P(Deferred, EveryNodeGetsPages) {
  runtime rt(with(GetParam()));
  page_count pages;
  write_outputs(rt, 16 << 10, 4 * node_count(), pages);
  for (int node : nodes_with_cpus()) EXPECT_GT(pages.on(node), 0u) << "node " << node << "; " << pages;
}

// A larger block than pools keep goes to the system and back.
TEST_P(Deferred, AVeryLargeOutputIsOnTheWritersNode) {
  runtime rt(with(GetParam()));
  page_count pages;
  write_outputs(rt, std::size_t{40} << 20, 2, pages);
  EXPECT_EQ(pages.misplaced() + pages.unknown(), 0u) << pages;
  EXPECT_GT(pages.total(), 0u);
}

// Written on one node, last read on the next: the block is freed there, and must come home to be written again.
TEST_P(Deferred, BlocksFreedElsewhereComeHome) {
  const std::vector<int> nodes = nodes_with_cpus();
  if (nodes.size() < 2) GTEST_SKIP() << "CPUs on one node only";
  runtime rt(with(GetParam()));
  page_count pages;
  constexpr std::size_t bytes = 24 << 10;
  const auto cycle = [&](std::size_t turn) {
    for (std::size_t i = 0; i < 4 * nodes.size(); i++) {
      data<unsigned char> x = rt.make_data<unsigned char>(bytes);
      rt.spawn(on(nodes[i % nodes.size()]), out(x), [&pages](bytes_out written) {
        std::ranges::fill(written, static_cast<unsigned char>(1));
        pages.expect_on(this_task::node(), written);
      });
      rt.spawn(on(nodes[(i + 1 + turn % (nodes.size() - 1)) % nodes.size()]), in(x), [](bytes_in) {});
    }
    rt.wait();
  };
  const auto resident_bytes = [] {
    std::size_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * os::page_bytes();
  };
  for (std::size_t turn = 0; turn < 10; turn++) cycle(turn);
  const std::size_t before = resident_bytes();
  for (std::size_t turn = 0; turn < 60; turn++) cycle(turn);
  const std::size_t grown = std::max(before, resident_bytes()) - before, cycled = 60 * 4 * nodes.size() * bytes;
  EXPECT_EQ(pages.misplaced() + pages.unknown(), 0u) << pages;
  EXPECT_LT(grown, cycled / 4) << "bytes of new memory, while " << cycled << " bytes were allocated and freed again";
}

INSTANTIATE_TEST_SUITE_P(Pages, Deferred, testing::Values("deferred", "local", "node-queues"), test_name);

TEST_P(AtCreation, PagesAreOnTheCreatorsNodeWhoeverWrites) {
  const std::vector<int> nodes = nodes_with_cpus();
  runtime rt(with(GetParam()));
  for (int creator : nodes) {
    page_count pages;
    rt.spawn(on(creator), [&, creator] {
      for (std::size_t bytes : {64u, 4096u, 100u << 10, 1u << 20})
        for (int writer : nodes)
          rt.spawn(on(writer), out(rt.make_data<unsigned char>(bytes)), [&pages, creator](bytes_out written) {
            std::ranges::fill(written, static_cast<unsigned char>(1));
            pages.expect_on(creator, written);
          });
    });
    rt.wait();
    EXPECT_EQ(pages.misplaced() + pages.unknown(), 0u) << "created on node " << creator << ": " << pages;
    EXPECT_GE(pages.total(), nodes.size() * (1 + 1 + 25 + 256));
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, AtCreation, testing::Values("steal", "push-inputs", "push-outputs", "push-weighted"), test_name);

// inout works in the version's own buffer, wherever it runs; but where outputs get memory when tasks run the buffer
// may have moved to the node of its task.
TEST_P(AnyPolicy, InoutKeepsTheBufferOrBringsItAlong) {
  const bool may_move = GetParam() == "deferred" || GetParam() == "local" || GetParam() == "node-queues";
  const std::vector<int> nodes = nodes_with_cpus();
  runtime rt(with(GetParam()));
  for (std::size_t bytes : {64u, 100u << 10, 1u << 20}) {
    data<unsigned char> x = rt.make_data<unsigned char>(bytes);
    const void* buffer = nullptr;
    std::vector<int> placed;
    rt.spawn(on(nodes.front()), out(x), [&](bytes_out written) {
      std::ranges::fill(written, static_cast<unsigned char>(1));
      buffer = written.data();
      placed = nodes_of(written);
    });
    int moved = 0, updates = 0;
    for (int node : nodes)
      rt.spawn(on(node), inout(x), [&](bytes_out updated) {
        for (unsigned char& b : updated) b++;
        updates++;
        const std::vector<int> now = nodes_of(updated), along(now.size(), this_task::node());
        const bool kept = updated.data() == buffer && now == placed;
        moved += !kept && !(may_move && now == along);
        buffer = updated.data();
        placed = now;
      });
    rt.wait();
    EXPECT_EQ(moved, 0) << bytes << " bytes";
    EXPECT_EQ(updates, static_cast<int>(nodes.size()));
    EXPECT_EQ(x.read()[bytes - 1], static_cast<unsigned char>(1 + nodes.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, AnyPolicy, testing::Values("fifo", "steal", "deferred", "local", "interleave", "node-queues"), test_name);

class Interleave : public PagesOf {
 protected:
  void SetUp() override {
    PagesOf::SetUp();
    if (!IsSkipped() && !may_bind_memory()) GTEST_SKIP() << "mbind is refused: pages cannot be interleaved";
  }
};

// Each node has its share of every buffer, as the statistics take for granted.
TEST_P(Interleave, PagesAreSpreadOverAllNodes) {
  runtime rt(with(GetParam()));
  const auto nodes = static_cast<std::uint64_t>(node_count());
  for (std::size_t bytes : {1u << 20, 8u << 20}) {
    page_count pages;
    std::vector<data<unsigned char>> all;
    for (int i = 0; i < 4; i++) {
      all.push_back(rt.make_data<unsigned char>(bytes));
      rt.spawn(out(all.back()), [&pages](bytes_out written) {
        std::ranges::fill(written, static_cast<unsigned char>(1));
        pages.expect_on(this_task::node(), written);
      });
    }
    rt.wait();
    for (int n = 0; n < node_count(); n++) {
      EXPECT_GE(pages.on(n), pages.total() / nodes / 2) << bytes << " bytes, node " << n << ": " << pages;
      EXPECT_LE(pages.on(n), 2 * pages.total() / nodes) << bytes << " bytes, node " << n << ": " << pages;
    }
    EXPECT_EQ(pages.unknown(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, Interleave, testing::Values("interleave"), test_name);

}  // namespace
}  // namespace weir::guest_test
