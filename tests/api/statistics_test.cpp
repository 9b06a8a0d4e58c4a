// Statistics: what is counted, in what classes, and how exactly.
#include "tests/support/support.hpp"

#include <numeric>

namespace weir::test {
namespace {

TEST(statistics, of_a_new_runtime_are_zero) {
  runtime rt({.workers = 3, .policy = "steal", .machine = "nodes:4 cpus:1"});
  const statistics s = rt.stats();
  EXPECT_EQ(s.policy, "steal");
  EXPECT_EQ(s.workers, 3);
  EXPECT_EQ(s.nodes, 4);
  EXPECT_EQ(s.tasks + s.pushes + s.pushes_refused + s.steals(), 0u);
  EXPECT_EQ(s.read_local() + s.read_remote() + s.write_local() + s.write_remote(), 0u);
  EXPECT_EQ(s.peak_buffer_bytes, 0u);
  EXPECT_EQ(s.locality(), std::nullopt);
  WEIR_EXPECT_CONTAINS(s.to_string(), "-, no dependence bytes");
  EXPECT_EQ(s.distance_classes, (std::vector<double>{10, 20}));
  EXPECT_EQ(s.peak_buffer_bytes_by_node.size(), 4u);
}

TEST(statistics, count_tasks_skipped_ones_included) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data<int>(1);
  rt.spawn(out(d), [](auto) { throw 1; });
  rt.spawn(in(d), [](auto) {});
  for (int i = 0; i < 10; i++) rt.spawn([] {});
  EXPECT_THROW(rt.wait(), task_failed);
  EXPECT_EQ(rt.stats().tasks, 12u);
  EXPECT_GT(rt.stats().seconds, 0.0);
  rt.reset_statistics();
  EXPECT_EQ(rt.stats().tasks, 0u);
  rt.spawn([] {});
  rt.wait();
  EXPECT_EQ(rt.stats().tasks, 1u);
}

TEST(statistics, bytes_by_distance) {
  runtime rt({.workers = 4, .policy = "deferred", .machine = "nodes:4 cpus:1"});
  const auto d = rt.make_data<char>(10'000);
  rt.spawn({.affinity = require(2)}, out(d), [](auto) {});
  rt.spawn({.affinity = require(2)}, in(d.first(100)), [](auto) {});
  rt.spawn({.affinity = require(0)}, in(d.slice(50, 30)), [](auto) {});
  rt.spawn({.affinity = require(1)}, inout(d.last(7)), [](auto) {});
  rt.wait();
  const statistics s = rt.stats();
  EXPECT_EQ(s.read_bytes_by_distance, (std::vector<std::uint64_t>{100, 30 + 7}));
  // In place: what is updated stays where it is.
  EXPECT_EQ(s.write_local(), 10'000u);
  EXPECT_GT(s.write_remote(), 0u);
  EXPECT_NEAR(s.locality().value(), static_cast<double>(s.read_local() + s.write_local()) / static_cast<double>(s.read_local() + s.write_local() + s.read_remote() + s.write_remote()), 1e-12);
}

// Interleaved memory counts evenly, to the byte.
TEST(statistics, interleaved_bytes_are_all_counted) {
  runtime rt({.workers = 2, .policy = "interleave", .machine = "nodes:8 cpus:1"});
  const auto d = rt.make_data<char>(1003);
  rt.spawn(out(d), [](auto) {});
  for (int i = 0; i < 10; i++) rt.spawn(in(d.first(static_cast<std::size_t>(i))), [](auto) {});
  rt.wait();
  const statistics s = rt.stats();
  EXPECT_EQ(s.write_local() + s.write_remote(), 1003u);
  EXPECT_EQ(s.read_local() + s.read_remote(), 45u);
  EXPECT_NEAR(static_cast<double>(s.write_local()), 1003.0 / 8, 1.0);
}

TEST(statistics, peaks_are_exact_to_the_stated_precision) {
  constexpr std::uint64_t block = 1 << 20, blocks = 10, precision = 3 * 64 * 1024;  // two workers and this thread
  runtime rt({.workers = 2, .policy = "deferred", .machine = "nodes:2 cpus:1"});
  std::vector<data<char>> all;
  for (std::uint64_t i = 0; i < blocks; i++) {
    all.push_back(rt.make_data<char>(block));
    rt.spawn({.affinity = require(static_cast<int>(i % 2))}, out(all.back()), [](auto) {});
  }
  rt.wait();
  statistics s = rt.stats();
  EXPECT_NEAR(static_cast<double>(s.peak_buffer_bytes), static_cast<double>(blocks * block), precision);
  EXPECT_NEAR(static_cast<double>(s.live_buffer_bytes), static_cast<double>(blocks * block), precision);
  EXPECT_NEAR(static_cast<double>(s.peak_buffer_bytes_by_node[0]), static_cast<double>(blocks * block) / 2, precision);
  EXPECT_NEAR(static_cast<double>(s.peak_buffer_bytes_by_node[1]), static_cast<double>(blocks * block) / 2, precision);
  all.clear();
  rt.wait();
  s = rt.stats();
  EXPECT_LE(s.live_buffer_bytes, precision);
  EXPECT_GE(s.peak_buffer_bytes, blocks * block - precision);
  rt.reset_statistics();
  EXPECT_LE(rt.stats().peak_buffer_bytes, precision);
}

// What deferred allocation is for: a program created ahead of its execution needs no memory for what has not run.
TEST(statistics, deferred_allocation_has_the_lower_peak) {
  const auto peak = [](const char* policy) {
    runtime rt({.workers = 1, .policy = policy, .backlog = 100'000});
    gate g;
    rt.spawn([&] { g.pass(); });
    constexpr std::size_t block = 64 * 1024;
    for (int i = 0; i < 200; i++) {
      const auto d = rt.make_data<char>(block);
      rt.spawn(out(d), [](auto) {});
      rt.spawn(in(d), [](auto) {});
    }
    g.open();
    rt.wait();
    return rt.stats().peak_buffer_bytes / block;
  };
  const auto eager = peak("steal");
  EXPECT_GE(eager, 195u);
  EXPECT_LE(peak("deferred"), eager);
}

TEST(statistics, text_is_for_people) {
  runtime rt({.workers = 2, .policy = "local", .machine = "nodes:2 cpus:1"});
  rt.spawn([] {});
  rt.wait();
  const std::string text = rt.stats().to_string();
  for (const char* part : {"policy", "local", "2 workers on 2 nodes", "tasks", "at distance 10", "at distance 20", "locality"}) WEIR_EXPECT_CONTAINS(text, part);
}

}  // namespace
}  // namespace weir::test
