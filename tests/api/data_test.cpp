// Data: made from a size or from values, read and written whole and in parts, handles that come and go.
#include "tests/support/support.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace weir::test {
namespace {

TEST(data, values_are_copied) {
  runtime rt({.workers = 2});
  std::vector<int> v(1000);
  std::iota(v.begin(), v.end(), 0);
  const auto from_vector = rt.make_data(v, "v");
  const auto from_span = rt.make_data(std::span<const int>(v).first(10));
  const std::vector<int> before = v;
  std::fill(v.begin(), v.end(), -1);
  const auto a = from_vector.read(), b = from_span.read();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), before.begin(), before.end()));
  EXPECT_TRUE(std::equal(b.begin(), b.end(), before.begin(), before.begin() + 10));
  EXPECT_EQ(from_vector.size(), 1000u);
  EXPECT_EQ(from_span.size(), 10u);
}

TEST(data, slices_are_the_parts_they_name) {
  runtime rt({.workers = 2});
  std::vector<int> v(100);
  std::iota(v.begin(), v.end(), 0);
  const auto d = rt.make_data(v);
  std::vector<int> first, last, middle, nothing{1};
  rt.spawn(in(d.first(3)), in(d.last(2)), in(d.slice(40, 5)), in(d.slice(100, 0)), [&](auto a, auto b, auto c, auto e) {
    first.assign(a.begin(), a.end());
    last.assign(b.begin(), b.end());
    middle.assign(c.begin(), c.end());
    nothing.assign(e.begin(), e.end());
  });
  rt.wait();
  EXPECT_EQ(first, (std::vector{0, 1, 2}));
  EXPECT_EQ(last, (std::vector{98, 99}));
  EXPECT_EQ(middle, (std::vector{40, 41, 42, 43, 44}));
  EXPECT_TRUE(nothing.empty());
}

TEST(data, a_part_is_updated_and_the_rest_stays) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data(std::vector<int>(20, 7));
  rt.spawn(inout(d.slice(5, 3)), [](std::span<int> part) { std::ranges::fill(part, 1); });
  rt.spawn(inout(d.last(1)), [](std::span<int> part) { part[0] = 2; });
  const auto v = d.read();
  for (std::size_t i = 0; i < 20; i++) EXPECT_EQ(v[i], i == 19 ? 2 : i >= 5 && i < 8 ? 1 : 7);
}

TEST(data, one_datum_may_be_read_in_several_parts_and_written) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data(std::vector<int>{1, 2, 3, 4});
  rt.spawn(in(d.first(2)), in(d.last(2)), in(d), out(d), [](auto left, auto right, auto all, std::span<int> next) {
    ASSERT_NE(all.data(), next.data());  // the old version is not overwritten
    for (std::size_t i = 0; i < 2; i++) {
      next[i] = right[i];
      next[i + 2] = left[i];
    }
  });
  const auto v = d.read();
  EXPECT_EQ(std::vector<int>(v.begin(), v.end()), (std::vector{3, 4, 1, 2}));
}

TEST(data, of_no_elements_orders_tasks_all_the_same) {
  for (const char* policy : {"local", "steal", "interleave", "fifo"}) {
    runtime rt({.workers = 2, .policy = policy, .machine = "nodes:2 cpus:1"});
    const auto d = rt.make_data<double>(0, "empty");
    EXPECT_EQ(d.size(), 0u);
    std::atomic<int> order{0};
    int writer = -1, reader = -1, updater = -1;
    gate g;
    rt.spawn(out(d), [&](std::span<double> s) {
      g.pass();
      EXPECT_TRUE(s.empty());
      writer = order++;
    });
    rt.spawn(in(d), [&](std::span<const double> s) { reader = s.empty() ? order++ : -2; });
    rt.spawn(inout(d), [&](std::span<double> s) { updater = s.empty() ? order++ : -2; });
    g.open();
    rt.wait();
    EXPECT_EQ(writer, 0);
    EXPECT_EQ(reader, 1);
    EXPECT_EQ(updater, 2);
    EXPECT_EQ(d.read().size(), 0u);
    EXPECT_EQ(rt.make_data(std::vector<double>()).read().size(), 0u);
  }
}

TEST(data, handles_may_die_before_their_tasks) {
  runtime rt({.workers = 2});
  gate g;
  std::atomic<int> sum{0};
  {
    const auto held = rt.make_data(std::vector<int>{1});
    rt.spawn([&] { g.pass(); });
    for (int i = 0; i < 100; i++) {
      const auto d = rt.make_data<int>(10);
      rt.spawn(in(held), out(d), [i](auto, std::span<int> s) { std::ranges::fill(s, i); });
      rt.spawn(in(d), [&](std::span<const int> s) { sum += s[9]; });
      rt.spawn(inout(d), [&](std::span<int> s) { sum += s[0]; });
    }
  }
  g.open();
  rt.wait();
  EXPECT_EQ(sum, 2 * 4950);
}

TEST(data, handles_may_outlive_the_runtime) {
  data<int> empty, written, read_by_task;
  stream<int> s;
  {
    runtime rt({.workers = 2});
    empty = rt.make_data<int>(100);
    written = rt.make_data(std::vector<int>(1000, 3));
    read_by_task = rt.make_data<int>(5);
    s = rt.make_stream<int>("outlives");
    rt.spawn(out(read_by_task), [](auto v) { v[0] = 1; });
    rt.spawn(in(read_by_task), [](auto) {});
    rt.spawn(s.push(1), [](auto v) { v[0] = 1; });
    rt.spawn(s.pop(1), [](auto) {});
  }
  const auto copy = written;
  EXPECT_EQ(copy.size(), 1000u);
}

TEST(data, copies_name_the_same_datum) {
  runtime rt({.workers = 1});
  auto a = rt.make_data<int>(1);
  auto b = a;
  auto c = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_TRUE(b);
  rt.spawn(out(b), [](auto v) { v[0] = 4; });
  EXPECT_EQ(c.read()[0], 4);
  b = rt.make_data(std::vector<int>{5});
  EXPECT_EQ(c.read()[0], 4);
  EXPECT_EQ(b.read()[0], 5);
}

struct big_element {
  char text[200];
};

TEST(data, elements_may_be_of_any_size) {
  runtime rt({.workers = 2});
  const auto d = rt.make_data<big_element>(33);
  rt.spawn(out(d), [](std::span<big_element> s) {
    for (big_element& e : s) e.text[199] = 'x';
  });
  rt.spawn(in(d.last(1)), [](auto s) { EXPECT_EQ(s[0].text[199], 'x'); });
  rt.wait();
  EXPECT_EQ(d.size(), 33u);
  EXPECT_EQ(d.read()[32].text[199], 'x');
}

TEST(data, groups_come_in_their_order) {
  runtime rt({.workers = 2});
  std::vector<data<int>> blocks;
  for (int i = 0; i < 50; i++) blocks.push_back(rt.make_data<int>(static_cast<std::size_t>(i)));
  rt.spawn(out(blocks), [](auto all) {
    ASSERT_EQ(all.size(), 50u);
    for (std::size_t i = 0; i < all.size(); i++) {
      ASSERT_EQ(all[i].size(), i);
      std::ranges::fill(all[i], static_cast<int>(i));
    }
  });
  const auto before = rt.make_data(std::vector<int>{-1}), after = rt.make_data(std::vector<int>{-2});
  rt.spawn(in(before), in(blocks), in(std::vector<data<int>>{}), inout(std::vector<data<int>>(blocks.begin(), blocks.begin())), in(after),
           [](auto first, auto all, auto none, auto no_update, auto last) {
             EXPECT_EQ(first[0], -1);
             EXPECT_EQ(last[0], -2);
             EXPECT_EQ(none.size() + no_update.size(), 0u);
             for (std::size_t i = 1; i < all.size(); i++) EXPECT_EQ(all[i][i - 1], static_cast<int>(i));
           });
  rt.wait();
  // The vector is only looked at by spawn().
  auto taken = std::make_unique<std::vector<data<int>>>(blocks);
  std::atomic<int> sum{0};
  gate g;
  rt.spawn([&] { g.pass(); });
  rt.spawn(in(std::span<const data<int>>(*taken).subspan(1)), [&](auto all) {
    for (std::size_t i = 0; i < all.size(); i++) sum += all[i][0];
  });
  taken.reset();
  g.open();
  rt.wait();
  EXPECT_EQ(sum, 49 * 50 / 2);
}

}  // namespace
}  // namespace weir::test
