// Among which tasks the program's memory orders: all of a runtime, or those of one scope.
#include "tests/support/support.hpp"

namespace weir::test {
namespace {

constexpr int fewest = 1, most = 4;

class domains : public ::testing::TestWithParam<int> {
 protected:
  watchdog dog{60, "domains"};
  runtime rt{{.workers = GetParam()}};
};

// The task holds the memory until it ends, and its children need it: among all tasks that could never end.
TEST_P(domains, children_do_not_wait_for_the_task_that_waits_for_them) {
  int cell = 1;
  rt.spawn(inout(ref(cell)), [this](std::span<int> x) {
    x[0] = 2;
    scope children(rt, dependences::own);
    for (int i = 0; i < 10; i++) children.spawn(inout(ref(x)), [](std::span<int> y) { y[0] *= 3; });
    children.wait();
    x[0]++;
  });
  rt.wait();
  EXPECT_EQ(cell, 2 * 59049 + 1);
}

TEST_P(domains, children_order_among_themselves) {
  std::vector<int> order;
  int cell = 0;
  rt.spawn([&] {
    scope children(rt, dependences::own);
    for (int i = 0; i < 100; i++) children.spawn(inout(ref(cell)), [&order, i](auto) { order.push_back(i); });
  });
  rt.wait();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; i++) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(domains, a_shared_scope_orders_with_all_tasks) {
  int cell = 0, seen = 0;
  gate g;
  rt.spawn(out(ref(cell)), [&](std::span<int> x) {
    g.pass();
    x[0] = 5;
  });
  scope s(rt);
  s.spawn(in(ref(std::as_const(cell))), [&](std::span<const int> x) { seen = x[0]; });
  g.open();
  s.wait();
  EXPECT_EQ(seen, 5);
}

// Both hold the same memory at once: only possible if neither waits for the other.
TEST(domain, of_two_scopes_have_nothing_to_do_with_each_other) {
  watchdog dog(60, "two domains");
  runtime rt({.workers = 2});
  int cell = 0;
  std::atomic<int> inside = 0;
  const auto meet = [&](auto) {
    inside++;
    while (inside < 2) std::this_thread::yield();
  };
  scope a(rt, dependences::own), b(rt, dependences::own);
  a.spawn(inout(ref(cell)), meet);
  b.spawn(inout(ref(cell)), meet);
  a.wait();
  b.wait();
}

TEST_P(domains, recursion_with_one_in_each_task) {
  std::vector<int> v(256, 1);
  const std::function<void(std::span<int>)> add = [&](std::span<int> part) {
    if (part.size() == 1) {
      part[0]++;
      return;
    }
    scope s(rt, dependences::own);
    const std::size_t half = part.size() / 2;
    for (auto p : {part.first(half), part.last(half), part.first(half)}) s.spawn(inout(ref(p)), add);
    s.wait();
  };
  rt.spawn(inout(ref(v)), add);
  rt.wait();
  // The first half of each part is gone over twice.
  EXPECT_EQ(v[255], 2);
  EXPECT_EQ(v[0], 257);
}

TEST_P(domains, what_is_lost_is_forgotten_when_the_wait_has_told_it) {
  int cell = 0;
  scope s(rt, dependences::own);
  bool ran = false;
  s.spawn(out(ref(cell)), [](auto) { throw std::runtime_error("on purpose"); });
  EXPECT_THROW(s.wait(), task_failed);
  s.spawn(inout(ref(cell)), [&](auto) { ran = true; });
  EXPECT_NO_THROW(s.wait());
  EXPECT_TRUE(ran);
}

// Ranges are cut while tasks use them, and the scope ends as soon as these are done.
TEST_P(domains, end_with_ranges_that_were_cut) {
  std::mt19937_64 random(new_seed());
  std::vector<int> v(64);
  for (int i = 0; i < 200; i++) {
    scope s(rt, dependences::own);
    std::atomic<int> ran = 0;
    for (int t = 0; t < 20; t++) {
      const std::size_t first = between(random, 0, 63), count = between(random, 1, 64 - first);
      s.spawn(inout(ref(std::span(v).subspan(first, count))), [&](auto) { ran++; });
    }
    s.wait();
    ASSERT_EQ(ran, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(workers, domains, ::testing::Values(fewest, 2, most));

}  // namespace
}  // namespace weir::test
