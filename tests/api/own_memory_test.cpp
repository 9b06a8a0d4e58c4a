// Memory of the program's own, named with weir::ref: where it lies is known, decides where tasks run, and is counted.
// The nodes are pretended: a page lies where the first task ran that wrote it.
#include "tests/support/support.hpp"

#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <thread>

#include <unistd.h>

namespace weir::test {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// Whole pages.
class memory {
 public:
  explicit memory(std::size_t pages)
      : data_(static_cast<char*>(std::aligned_alloc(page_bytes(), pages * page_bytes()))),
        bytes_(pages * page_bytes()) {}
  ~memory() { std::free(data_); }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  std::span<char> all() const { return {data_, bytes_}; }
  std::span<char> pages(std::size_t first, std::size_t count) const {
    return all().subspan(first * page_bytes(), count * page_bytes());
  }

 private:
  char* const data_;
  const std::size_t bytes_;
};

constexpr int all_nodes = 4;
constexpr const char* machine = "nodes:4 cpus:1";
constexpr std::size_t pages_a_node = 8;

task_options on(int node) { return {.affinity = require(node)}; }

// `pages_a_node` pages on each node, in order.
void write_on_nodes(runtime& rt, const memory& m) {
  for (int n = 0; n < all_nodes; n++)
    rt.spawn(on(n), out(ref(m.pages(static_cast<std::size_t>(n) * pages_a_node, pages_a_node))),
             [](auto x) { x[0] = 1; });
  rt.wait();
}

TEST(own_memory, is_counted_where_it_lies) {
  runtime rt({.workers = all_nodes, .policy = "deferred", .machine = machine});
  const memory m(2);
  const std::uint64_t half = page_bytes();
  rt.spawn(on(2), out(ref(m.pages(0, 1))), [](auto) {});
  rt.spawn(on(1), out(ref(m.pages(1, 1))), [](auto) {});
  rt.wait();
  EXPECT_EQ(rt.stats().write_bytes_by_distance, (std::vector<std::uint64_t>{2 * half, 0}));
  rt.reset_statistics();
  rt.spawn(on(2), in(ref(m.all().subspan(10, half))), [](auto) {});  // ten bytes of them are on node 1
  rt.spawn(on(2), inout(ref(m.all().last(5))), [](auto) {});
  rt.spawn(on(1), out(ref(m.all().last(7))), [](auto) {});
  rt.wait();
  const statistics s = rt.stats();
  EXPECT_EQ(s.read_bytes_by_distance, (std::vector<std::uint64_t>{half - 10, 10 + 5}));
  EXPECT_EQ(s.write_bytes_by_distance, (std::vector<std::uint64_t>{7, 5}));
}

TEST(own_memory, is_counted_on_one_node) {
  runtime rt({.workers = 2, .machine = "nodes:1 cpus:2"});
  const memory m(1);
  const auto d = rt.make_data<char>(1000);
  rt.spawn(out(ref(m.all().first(100))), out(d), [](auto, auto) {});
  rt.spawn(inout(ref(m.all().first(30))), in(ref(m.all().last(5))), in(d.first(7)), [](auto, auto, auto) {});
  rt.wait();
  const statistics s = rt.stats();
  EXPECT_EQ(s.read_local(), 30u + 5 + 7);
  EXPECT_EQ(s.write_local(), 100u + 1000 + 30);
  EXPECT_EQ(s.locality(), 1.0);
}

// Rows of a matrix are a page and a half: a tile of columns has every other page's bytes.
TEST(own_memory, is_counted_where_the_rows_of_a_tile_lie) {
  runtime rt({.workers = all_nodes, .policy = "deferred", .machine = machine});
  const std::size_t stride = page_bytes() + page_bytes() / 2;
  constexpr std::size_t rows = 8;
  const memory m(rows + rows / 2);
  const auto block = [&](std::size_t row, std::size_t count, std::size_t column, std::size_t width) {
    return ref(tile(m.all().data(), stride, row, count, column, width));
  };
  rt.spawn(on(0), out(ref(m.all())), [](auto) {});
  rt.wait();
  rt.reset_statistics();
  rt.spawn(on(0), in(block(0, rows, 10, 100)), [](auto) {});
  rt.spawn(on(2), inout(block(3, 2, 7, 5)), [](auto) {});
  rt.wait();
  EXPECT_EQ(rt.stats().read_bytes_by_distance, (std::vector<std::uint64_t>{rows * 100, 2 * 5}));
  EXPECT_EQ(rt.stats().write_bytes_by_distance, (std::vector<std::uint64_t>{0, 2 * 5}));
}

// Where its rows were first written, also those that are not looked at when there are many.
TEST(own_memory, is_where_the_rows_of_tiles_were_written) {
  runtime rt({.workers = all_nodes, .policy = "deferred", .machine = machine});
  constexpr std::size_t rows = 100;
  const memory m(2 * rows);
  const std::size_t stride = 2 * page_bytes();
  rt.spawn(on(1), out(ref(tile(m.all().data(), stride, 0, rows, 0, 1))), [](auto) {});
  rt.spawn(on(2), out(ref(tile(m.all().data(), stride, 0, rows, page_bytes(), page_bytes()))), [](auto) {});
  rt.wait();
  rt.reset_statistics();
  for (std::size_t page = 0; page < 2 * rows; page++)
    rt.spawn(on(page % 2 == 0 ? 1 : 2), in(ref(m.pages(page, 1))), [](auto) {});
  rt.wait();
  EXPECT_EQ(rt.stats().read_remote(), 0u);
  rt.reset_statistics();
  rt.spawn(on(1), in(ref(tile(m.all().data(), stride, 0, rows, 0, page_bytes() + 7))), [](auto) {});
  rt.wait();
  EXPECT_EQ(rt.stats().read_bytes_by_distance, (std::vector<std::uint64_t>{rows * page_bytes(), rows * 7}));
}

// Under every policy, whatever is where: all bytes that were declared are counted once.
TEST(own_memory, is_counted_whole_under_every_policy) {
  for (const std::string& policy : policy_names()) {
    watchdog dog(60);
    runtime rt({.workers = all_nodes, .policy = policy, .machine = machine});
    const memory m(64);
    std::uint64_t read = 0, written = 0;
    for (std::size_t i = 0; i < 200; i++) {
      const auto x = m.all().subspan(i * 977 % (60 * page_bytes()), 1 + i * 131 % (4 * page_bytes()));
      if (i % 10 == 7) {
        const tile<char> t(m.all().data(), 1000, i % 7, 1 + i % 90, i % 500, 1 + i % 300);
        rt.spawn(inout(ref(t)), [](tile<char> y) { y(0, 0)++; });
        read += t.rows() * t.columns();
        written += t.rows() * t.columns();
        continue;
      }
      if (i % 3 == 0) rt.spawn(in(ref(x)), [](auto) {});
      else if (i % 3 == 1) rt.spawn(out(ref(x)), [](auto y) { y[0] = 1; });
      else rt.spawn(inout(ref(x)), [](auto y) { y[0]++; });
      read += i % 3 != 1 ? x.size() : 0;
      written += i % 3 != 0 ? x.size() : 0;
    }
    rt.wait();
    const statistics s = rt.stats();
    EXPECT_EQ(s.read_local() + s.read_remote(), read) << policy;
    EXPECT_EQ(s.write_local() + s.write_remote(), written) << policy;
  }
}

// What a thread that executes nothing sends to a node counts as a push; what it deals out does not.
TEST(own_memory, that_a_task_has_written_makes_later_tasks_run_there) {
  for (const char* policy : {"local", "follow", "push-inputs", "push-weighted"}) {
    watchdog dog(60);
    runtime rt({.workers = all_nodes, .policy = policy, .machine = machine});
    const memory m(all_nodes * pages_a_node);
    write_on_nodes(rt, m);
    rt.reset_statistics();
    // All workers stand behind gates while a reader of each node's pages is created, that of `node` last. Then the
    // only worker of that node goes on, which runs what was sent to it.
    for (int node = 0; node < all_nodes; node++) {
      std::vector<gate> gates(all_nodes);
      for (int n = 0; n < all_nodes; n++) rt.spawn(on(n), [&g = gates[static_cast<std::size_t>(n)]] { g.pass(); });
      for (gate& g : gates) g.await_arrivals(1);
      std::atomic<int> first{-1};
      for (int i = 1; i <= all_nodes; i++) {
        const int of = (node + i) % all_nodes;
        const auto part = ref(m.pages(static_cast<std::size_t>(of) * pages_a_node, pages_a_node));
        const auto body = [&first, of](auto) {
          int none = -1;
          first.compare_exchange_strong(none, of);
        };
        if (node % 2 == 0) rt.spawn(in(part), body);
        else rt.spawn(inout(part), body);
      }
      gates[static_cast<std::size_t>(node)].open();
      while (first < 0) std::this_thread::yield();
      for (gate& g : gates) g.open();
      rt.wait();
      EXPECT_EQ(first, node) << policy;
    }
    EXPECT_EQ(rt.stats().pushes, 16u) << policy;
  }
}

// As ranges are: a tile's reader runs where most of its rows are. Of four workers the one of that node alone is free.
TEST(own_memory, of_tiles_that_were_written_makes_later_tasks_run_there) {
  for (const char* policy : {"local", "follow", "push-inputs", "push-weighted"}) {
    watchdog dog(60);
    runtime rt({.workers = all_nodes, .policy = policy, .machine = machine});
    constexpr std::size_t rows = 40;
    const memory m(all_nodes * rows);
    const std::size_t stride = all_nodes * page_bytes();
    const auto column = [&](int node) {
      return ref(tile(m.all().data(), stride, 0, rows, static_cast<std::size_t>(node) * page_bytes(), page_bytes()));
    };
    for (int n = 0; n < all_nodes; n++) rt.spawn(on(n), out(column(n)), [](auto) {});
    rt.wait();
    for (int node = 0; node < all_nodes; node++) {
      gate door;
      for (int n = 0; n < all_nodes; n++)
        if (n != node) rt.spawn(on(n), [&] { door.pass(); });
      door.await_arrivals(all_nodes - 1);
      std::atomic<int> ran_on{-1};
      scope s(rt);
      s.spawn(in(column(node)), [&](auto) { ran_on = this_task::node(); });
      s.wait();
      EXPECT_EQ(ran_on, node) << policy;
      door.open();
      rt.wait();
    }
    EXPECT_EQ(rt.stats().pushes, 4u) << policy;  // of readers; who must run somewhere is not counted
  }
}

// A program whose first tasks initialise its arrays has them on all nodes. All workers stand behind gates while a
// first writer is created for each node. The one that goes on runs what was dealt out to its node, which is then
// there.
TEST(own_memory, that_is_new_is_dealt_out_to_all_nodes) {
  for (const char* policy : {"local", "follow"}) {
    watchdog dog(60);
    runtime rt({.workers = all_nodes, .policy = policy, .machine = machine});
    const memory m(all_nodes * all_nodes * pages_a_node);
    std::set<int> dealt;  // which of the tasks, always in the same order, each node got
    for (int node = 0; node < all_nodes; node++) {
      std::vector<gate> gates(all_nodes);
      for (int n = 0; n < all_nodes; n++) rt.spawn(on(n), [&g = gates[static_cast<std::size_t>(n)]] { g.pass(); });
      for (gate& g : gates) g.await_arrivals(1);
      std::atomic<int> first{-1};
      for (int i = 0; i < all_nodes; i++)
        rt.spawn(out(ref(m.pages(static_cast<std::size_t>(node * all_nodes + i) * pages_a_node, pages_a_node))),
                 [&first, i](auto) {
                   int none = -1;
                   first.compare_exchange_strong(none, i);
                 });
      gates[static_cast<std::size_t>(node)].open();
      while (first < 0) std::this_thread::yield();
      for (gate& g : gates) g.open();
      rt.wait();
      dealt.insert(first);
    }
    EXPECT_EQ(dealt.size(), static_cast<std::size_t>(all_nodes)) << policy;
    rt.reset_statistics();
    for (std::size_t i = 0; i < all_nodes * all_nodes; i++)
      rt.spawn(in(ref(m.pages(i * pages_a_node, pages_a_node))), [](auto) {});
    rt.wait();
    EXPECT_EQ(rt.stats().pushes, 16u) << policy;
  }
}

TEST(own_memory, near_is_where_most_of_it_lies) {
  watchdog dog(60);
  runtime rt({.workers = all_nodes, .policy = "deferred", .machine = machine});
  const memory m(all_nodes * pages_a_node + 1);
  write_on_nodes(rt, m);
  const auto pushes_of = [&](placement where) {
    const auto before = rt.stats().pushes;
    scope s(rt);
    s.spawn({.affinity = where}, [] {});
    s.wait();
    return rt.stats().pushes - before;
  };
  EXPECT_EQ(pushes_of(near(m.pages(5, 20))), 1u);
  EXPECT_EQ(pushes_of(near(m.pages(all_nodes * pages_a_node, 1))), 0u) << "nobody has written it";
  EXPECT_EQ(pushes_of(near(m.pages(all_nodes * pages_a_node, 1))), 0u) << "asking for it has written nothing";
  // Two pages of node 1, then eight of node 2.
  gate g;
  for (int n = 0; n < all_nodes; n++)
    if (n != 2) rt.spawn(on(n), [&] { g.pass(); });
  g.await_arrivals(3);
  std::atomic<int> ran_on{-1};
  scope s(rt);
  s.spawn({.affinity = near(m.pages(2 * pages_a_node - 2, 10))}, [&] { ran_on = this_task::node(); });
  s.wait();  // of four workers, that of node 2 alone is free
  EXPECT_EQ(ran_on, 2);
  g.open();
  rt.wait();
}

TEST(own_memory, near_makes_no_sense_with_a_node_beside_it) {
  runtime rt({.workers = 1});
  const memory m(1);
  placement p = near(m.all());
  p.required = true;
  EXPECT_THROW(rt.spawn({.name = "t", .affinity = p}, [] {}), usage_error);
  p = near(m.all());
  p.node = 0;
  EXPECT_THROW(rt.spawn({.name = "t", .affinity = p}, [] {}), usage_error);
  graph g;
  EXPECT_THROW(g.add({.affinity = near(m.all())}, [] {}), usage_error);
  rt.spawn({.affinity = near(m.all().first(0))}, [] {});
  rt.spawn({.affinity = near(std::span<char>())}, [] {});
  rt.wait();
}

// A runtime's pages are its own: other nodes, other places.
TEST(own_memory, is_known_to_each_runtime_by_itself) {
  const memory m(1);
  {
    runtime rt({.workers = 8, .machine = "nodes:8 cpus:1"});
    rt.spawn(on(7), out(ref(m.all())), [](auto) {});
  }
  runtime rt({.workers = 2, .machine = "nodes:2 cpus:1"});
  rt.spawn(on(1), out(ref(m.all())), [](auto) {});
  rt.spawn(on(1), in(ref(m.all())), [](auto) {});
  rt.wait();
  EXPECT_EQ(rt.stats().locality(), 1.0);
}

}  // namespace
}  // namespace weir::test
