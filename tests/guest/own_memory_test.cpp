// Memory of the program's own (weir::ref) on real nodes: what statistics say of it is what the kernel says.
#include <gtest/gtest.h>

#include "guest_machine.hpp"
#include "memory/memory.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace weir::guest_test {
namespace {

constexpr std::size_t pages_a_node = 32;

class OwnMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (node_count() < 2) GTEST_SKIP() << "one node: every page is on it";
    if (!can_ask(page_source::move_pages))
      GTEST_SKIP() << "move_pages is refused: weir knows what its tasks have written";
    bytes_ = nodes_.size() * pages_a_node * os::page_bytes();
    data_ = static_cast<unsigned char*>(os::host_memory().map(bytes_, os::page_bytes()));
    ASSERT_NE(data_, nullptr);
  }
  void TearDown() override {
    if (data_ != nullptr) os::host_memory().unmap(data_, bytes_);
  }
  std::span<unsigned char> all() const { return {data_, bytes_}; }
  std::span<unsigned char> part(std::size_t i) const {
    return all().subspan(i * pages_a_node * os::page_bytes(), pages_a_node * os::page_bytes());
  }
  task_options on(int node) const { return {.name = "test", .affinity = require(node)}; }
  // One worker of each node writes a part.
  void write_on_nodes(runtime& rt) {
    for (std::size_t i = 0; i < nodes_.size(); i++)
      rt.spawn(on(nodes_[i]), out(ref(part(i))), [](auto x) { std::ranges::fill(x, static_cast<unsigned char>(1)); });
    rt.wait();
  }
  std::uint64_t bytes_on(int node) const {
    const std::vector<int> found = nodes_of(all());
    return static_cast<std::uint64_t>(std::ranges::count(found, node)) * os::page_bytes();
  }
  // A task on each node reads everything: what it finds on its own node is what the kernel says is there.
  void expect_statistics_as_the_kernel_has_it(runtime& rt, const char* when) {
    for (const int node : nodes_) {
      rt.reset_statistics();
      rt.spawn(on(node), in(ref(std::span<const unsigned char>(all()))), [](auto) {});
      rt.wait();
      const statistics s = rt.stats();
      EXPECT_EQ(s.read_local(), bytes_on(node)) << when << ", node " << node;
      EXPECT_EQ(s.read_local() + s.read_remote(), bytes_) << when << ", node " << node;
    }
  }

  // Each part by tasks on the node that is as far from the end as it is from the beginning.
  void use_elsewhere(const char* policy) {
    runtime rt({.policy = policy});
    const auto user_of = [&](std::size_t i) { return nodes_[nodes_.size() - 1 - i]; };
    for (int use = 0; use < 20; use++)
      for (std::size_t i = 0; i < nodes_.size(); i++)
        rt.spawn(on(user_of(i)), inout(ref(part(i))), [](auto x) { x[0]++; });
    rt.wait();
    for (std::size_t i = 0; i < nodes_.size(); i++) {
      const std::vector<int> lies = nodes_of(part(i));
      EXPECT_EQ(std::ranges::count(lies, user_of(i)), static_cast<std::ptrdiff_t>(lies.size()))
          << policy << ", part " << i << ": " << rt.stats().to_string();
      EXPECT_EQ(part(i)[0], 21) << policy << ", part " << i;
    }
    EXPECT_GT(rt.stats().pages_moved, 0u) << policy;
  }

  const std::vector<int> nodes_ = nodes_with_cpus();

 private:
  std::size_t bytes_ = 0;
  unsigned char* data_ = nullptr;
};

TEST_F(OwnMemory, ThatTasksHaveWrittenIsWhereTheyRan) {
  runtime rt;
  write_on_nodes(rt);
  for (std::size_t i = 0; i < nodes_.size(); i++)
    EXPECT_TRUE(std::ranges::all_of(nodes_of(part(i)), [&](int n) { return n == nodes_[i]; })) << "part " << i;
  expect_statistics_as_the_kernel_has_it(rt, "written by tasks");
}

TEST_F(OwnMemory, ThatTheProgramHasWrittenIsAskedFor) {
  std::ranges::fill(all(), static_cast<unsigned char>(1));
  runtime rt;
  expect_statistics_as_the_kernel_has_it(rt, "written by main");
}

TEST_F(OwnMemory, ThatIsMovedIsFollowed) {
  runtime rt;
  write_on_nodes(rt);
  expect_statistics_as_the_kernel_has_it(rt, "before it moves");
  const move_report r = weir::move(all(), nodes_.back());
  EXPECT_EQ(r.refused, 0u) << r.to_string();
  expect_statistics_as_the_kernel_has_it(rt, "moved to one node");
  distribute(all());
  expect_statistics_as_the_kernel_has_it(rt, "distributed");
}

// Behind weir's back, as the kernel's own balancing does.
TEST_F(OwnMemory, ThatTheKernelHasMovedIsFoundAtABarrier) {
  runtime rt;
  write_on_nodes(rt);
  expect_statistics_as_the_kernel_has_it(rt, "before it moves");
  const std::size_t pages = all().size() / os::page_bytes();
  const os::page_moves m =
      os::move_pages(all().data(), pages, host().nodes[static_cast<std::size_t>(nodes_[0])].os_index);
  EXPECT_EQ(m.refused, 0u);
  // A look takes one page of a chunk, which may be one that was there before: after some, each chunk has been found.
  for (int i = 0; i < 100; i++) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(memory::regions::look_interval_ns));
    rt.wait();
  }
  expect_statistics_as_the_kernel_has_it(rt, "moved by others");
}

// Under the default policy tasks that initialise are dealt out, but idle workers may take them all; wherever it lies,
// it is known.
TEST_F(OwnMemory, ThatTasksInitialiseIsKnown) {
  runtime rt;
  for (std::size_t i = 0; i < nodes_.size(); i++)
    rt.spawn(out(ref(part(i))), [](auto x) { std::ranges::fill(x, static_cast<unsigned char>(1)); });
  rt.wait();
  expect_statistics_as_the_kernel_has_it(rt, "initialised by tasks");
}

// Pages that the program has written itself, and that tasks on other nodes use, lie there in the end, and the kernel
// says so, too.
TEST_F(OwnMemory, ThatTasksUseElsewhereIsMoved) {
  for (const char* policy : {"follow:migrate=auto", "local:migrate=barrier"}) {
    std::ranges::fill(all(), static_cast<unsigned char>(1));
    use_elsewhere(policy);
    runtime others;  // its tasks read everything from everywhere, and move nothing
    expect_statistics_as_the_kernel_has_it(others, policy);
    static_cast<void>(weir::move(all(), nodes_[0]));
  }
}

}  // namespace
}  // namespace weir::guest_test
