// Memory moved to nodes: what belongs to a range, what is reported, contents kept. Where pages end up is checked in guests.
#include "tests/support/support.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <sys/mman.h>
#include <unistd.h>

namespace weir::test {
namespace {

std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

void expect_sums(const move_report& r, std::size_t pages) {
  EXPECT_EQ(r.pages, pages);
  EXPECT_EQ(r.moved + r.there + r.promised + r.refused, pages) << r.to_string();
  EXPECT_EQ(r.why.empty(), r.refused == 0) << r.to_string();
}

// Pages of its own, not touched yet.
class mapping {
 public:
  explicit mapping(std::size_t pages) : bytes_(pages * page()), data_(static_cast<char*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~mapping() { ::munmap(data_, bytes_); }
  std::span<char> all() { return {data_, bytes_}; }

 private:
  std::size_t bytes_;
  char* data_;
};

TEST(numa, contents_stay_and_every_page_is_accounted_for) {
  mapping m(64);
  for (std::size_t i = 0; i < m.all().size(); i++) m.all()[i] = static_cast<char>(i * 7);
  expect_sums(weir::move(m.all(), 0), 64);
  expect_sums(distribute(m.all()), 64);
  for (std::size_t i = 0; i < m.all().size(); i++) ASSERT_EQ(m.all()[i], static_cast<char>(i * 7));
}

TEST(numa, pages_nobody_has_touched_are_not_made) {
  mapping m(8);
  const move_report r = weir::move(m.all(), 0);
  expect_sums(r, 8);
  EXPECT_EQ(r.moved + r.there, 0u) << r.to_string();
}

TEST(numa, neighbouring_ranges_share_out_all_pages) {
  std::mt19937_64 random(new_seed());
  mapping m(10);
  std::ranges::fill(m.all(), '\1');
  for (std::size_t i = 0; i < effort(200); i++) {
    std::vector<std::size_t> cuts{0, m.all().size()};
    for (std::size_t n = between(random, 0, 6); n > 0; n--) cuts.push_back(between(random, 0, m.all().size()));
    std::ranges::sort(cuts);
    move_report sum;
    for (std::size_t c = 0; c + 1 < cuts.size(); c++) sum += weir::move(m.all().subspan(cuts[c], cuts[c + 1] - cuts[c]), 0);
    expect_sums(sum, 10);
  }
  expect_sums(weir::move(m.all().subspan(0, page() / 2), 0), 0);
  expect_sums(weir::move(m.all().subspan(0, page() / 2 + 1), 0), 1);
  expect_sums(weir::move(m.all().subspan(page() / 2, 1), 0), 1);
  expect_sums(weir::move(m.all().first(0), 0), 0);
  expect_sums(weir::move(std::span<int>(), 0), 0);
}

TEST(numa, what_is_no_memory_is_refused_and_reported) {
  mapping m(4);
  ::munmap(m.all().data() + page(), 2 * page());
  const move_report r = weir::move(m.all(), 0);
  expect_sums(r, 4);
  EXPECT_GE(r.refused, 2u) << r.to_string();
  WEIR_EXPECT_CONTAINS(r.to_string(), "refused (");
}

TEST(numa, mistakes_are_refused) {
  int x = 0;
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { weir::move(std::span(&x, 1), 1000); }), "there is no node 1000");
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] { weir::move(std::span(&x, 1), -1); }), "there is no node -1");
}

// Rows of a grid whose tasks write an element each.
struct rows {
  explicit rows(graph::task_id side) : x(std::size_t{side} * side) {
    for (graph::task_id t = 0; t < side * side; t++) {
      if (t >= side) before.push_back(t - side);
      if (t % side > 0) before.push_back(t - 1);
      offsets.push_back(before.size());
    }
  }
  std::vector<std::size_t> offsets{0};
  std::vector<graph::task_id> before;
  std::vector<double> x;
};

TEST(numa, a_coarse_graph_is_shared_out_and_its_memory_named_once) {
  rows r(200);
  graph g(r.offsets, r.before);
  coarse_graph c = aggregate(g, "CD(2)");
  runtime rt({.workers = 2});
  std::vector<int> asked(g.tasks());
  const move_report moved = c.distribute(rt, [&](graph::task_id t, written_memory& memory) {
    asked[t]++;
    memory.add(r.x[t]);
    if (t % 200 == 0) memory.add(std::span(r.x).subspan(t, 200));
  });
  EXPECT_EQ(asked, std::vector<int>(g.tasks(), 1));
  EXPECT_LE(moved.pages, r.x.size() * sizeof(double) / page() + 2);  // neither end lies on a page's
  EXPECT_GE(moved.pages, r.x.size() * sizeof(double) / page() - 1);
  EXPECT_EQ(moved.moved + moved.there + moved.promised + moved.refused, moved.pages);
  std::atomic<int> ran{0};
  c.run(rt, [&](graph::task_id) { ran++; });
  EXPECT_EQ(ran, 40000);
}

// How many of a wave front's tasks go to each node: 8 x 8 tasks, levels of 1 to 8 and back to 1, no two put together.
std::vector<std::size_t> wave_by_node(const runtime_options& options) {
  rows r(8);
  graph g(r.offsets, r.before);
  coarse_graph c = aggregate(g, "S");
  EXPECT_EQ(c.aggregates(), 64u);
  runtime rt(options);
  c.distribute(rt, [](graph::task_id, written_memory&) {});
  std::vector<std::size_t> tasks(static_cast<std::size_t>(rt.nodes()));
  for (std::size_t a = 0; a < c.aggregates(); a++) tasks[static_cast<std::size_t>(c.node(a))]++;
  return tasks;
}

TEST(numa, levels_are_shared_out_by_workers_of_nodes) {
  EXPECT_EQ(wave_by_node({.workers = 3, .machine = "nodes:2 cpus:2"}), (std::vector<std::size_t>{43, 21}));
  EXPECT_EQ(wave_by_node({.workers = 8, .machine = "nodes:1 cpus:8"}), (std::vector<std::size_t>{64}));
  // Each odd level has one task more for the first of two equal nodes.
  EXPECT_EQ(wave_by_node({.workers = 4, .machine = "nodes:2 cpus:2"}), (std::vector<std::size_t>{36, 28}));
  const std::vector<std::size_t> many = wave_by_node({.workers = 24, .machine = "nodes:24 cpus:1"});
  for (std::size_t n = 0; n < 24; n++) EXPECT_EQ(many[n], n < 8 ? 15 - 2 * n : 0u) << "levels are narrower than that";
}

TEST(numa, costs_are_shared_out_by_workers_of_nodes) {
  std::vector<std::size_t> offsets{0};   // one level: chains of 1 to 40 tasks, each of which becomes one aggregate
  std::vector<graph::task_id> before;
  for (std::size_t length = 1; length <= 40; length++)
    for (std::size_t i = 0; i < length; i++) {
      if (i > 0) before.push_back(static_cast<graph::task_id>(offsets.size() - 2));
      offsets.push_back(before.size());
    }
  graph g(offsets, before);
  coarse_graph c = aggregate(g, "S");
  ASSERT_EQ(c.aggregates(), 40u);
  runtime rt({.workers = 3, .machine = "nodes:2 cpus:2"});
  ASSERT_EQ(rt.node_of_worker(0) + rt.node_of_worker(1) + rt.node_of_worker(2), 1) << "two on node 0";
  c.distribute(rt, [](graph::task_id, written_memory&) {});
  std::array<double, 2> tasks{};
  for (std::size_t a = 0; a < 40; a++) tasks[static_cast<std::size_t>(c.node(a))] += static_cast<double>(c.members(a).size());
  EXPECT_NEAR(tasks[0], 820 * 2 / 3.0, 20) << "half of the largest";
  EXPECT_NEAR(tasks[1], 820 / 3.0, 20);
}

TEST(numa, levels_are_shared_out_evenly_among_nodes_with_workers) {
  rows r(64);
  graph g(r.offsets, r.before);
  coarse_graph c = aggregate(g, "C(8)");
  runtime rt({.workers = 6, .policy = "node-queues", .machine = "nodes:3 cpus:2"});
  c.distribute(rt, [](graph::task_id, written_memory&) {});
  std::array<std::size_t, 3> tasks{};
  for (std::size_t a = 0; a < c.aggregates(); a++) tasks[static_cast<std::size_t>(c.node(a))] += c.members(a).size();
  for (std::size_t n : tasks) EXPECT_NEAR(static_cast<double>(n), 64 * 64 / 3.0, 64 * 64 / 6.0);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; i++) c.run(rt, [&](graph::task_id) { ran++; });
  EXPECT_EQ(ran, 10 * 64 * 64);
}

}  // namespace
}  // namespace weir::test
