// Groups of ranges of the program's own memory, and what bodies get for groups of any kind.
#include "tests/support/support.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <ranges>
#include <vector>

namespace weir::test {
namespace {

template <class T>
constexpr bool is_what_algorithms_want =
    std::ranges::random_access_range<views<T>> && std::ranges::sized_range<views<T>> &&
    std::ranges::common_range<views<T>> && std::ranges::view<views<T>> && std::ranges::borrowed_range<views<T>> &&
    std::random_access_iterator<std::ranges::iterator_t<views<T>>> &&
    std::is_same_v<std::ranges::range_value_t<views<T>>, std::span<T>>;
static_assert(is_what_algorithms_want<int> && is_what_algorithms_want<const double>);
static_assert(std::ranges::random_access_range<views<tile<int>>> && std::ranges::borrowed_range<views<tile<int>>> &&
              std::is_same_v<std::ranges::range_value_t<views<tile<const int>>>, tile<const int>>);
static_assert(sizeof(views<int>) == 16 && sizeof(views<tile<int>>) == 16, "two registers");

std::vector<memory_range<int>> blocks_of(std::vector<int>& v, std::size_t count) {
  std::vector<memory_range<int>> all;
  for (std::size_t i = 0; i < v.size(); i += count)
    all.push_back(ref(std::span(v).subspan(i, std::min(count, v.size() - i))));
  return all;
}

int sum_of(views<const int> all) {
  int sum = 0;
  for (const std::span<const int> part : all) sum = std::accumulate(part.begin(), part.end(), sum);
  return sum;
}

class groups : public ::testing::Test {
 protected:
  watchdog dog{60, "groups of ranges"};
  runtime rt{{.workers = 3}};
};

TEST_F(groups, are_read_written_and_updated) {
  std::vector<int> v(103, -1);
  const auto blocks = blocks_of(v, 10);
  ASSERT_EQ(blocks.size(), 11u);
  rt.spawn(out(blocks), [&](views<int> all) {
    EXPECT_EQ(all.size(), 11u);
    EXPECT_FALSE(all.empty());
    for (std::size_t i = 0; i < all.size(); i++) {
      EXPECT_EQ(all[i].data(), v.data() + 10 * i);
      EXPECT_EQ(all[i].size(), i < 10 ? 10u : 3u);
      std::ranges::fill(all[i], static_cast<int>(i));
    }
  });
  rt.spawn(inout(std::span(blocks).first(5)), [](views<int> all) {
    for (const std::span<int> part : all)
      for (int& x : part) x *= 2;
  });
  int sum = 0;
  rt.spawn(in(blocks), out(ref(sum)), [](views<const int> all, std::span<int> s) { s[0] = sum_of(all); });
  rt.wait();
  EXPECT_EQ(sum, 10 * (0 + 2 + 4 + 6 + 8 + 5 + 6 + 7 + 8 + 9) + 3 * 10);
}

// Every member orders as if it were named alone; neighbours of members are free.
TEST_F(groups, order_by_each_member) {
  std::vector<int> v(40, 0);
  const auto blocks = blocks_of(v, 10);
  gate door;
  std::atomic<int> after{0}, free{0};
  rt.spawn(out(std::vector{blocks[0], blocks[2]}), [&](auto) { door.pass(); });
  rt.spawn(in(std::vector{blocks[1], blocks[2]}), [&](auto) { after++; });
  rt.spawn(in(std::vector{blocks[1], blocks[3]}), [&](auto) { free++; });
  rt.spawn(inout(blocks[0]), [&](auto) { after++; });
  rt.spawn(inout(std::vector{blocks[1], blocks[3]}), [&](auto) { after++; });  // waits for the readers of 1
  rt.spawn(inout(blocks[3]), [&](auto) { after++; });                         // and this for it
  while (free != 1) std::this_thread::yield();
  EXPECT_EQ(after, 0);
  door.open();
  rt.wait();
  EXPECT_EQ(after, 4);
}

TEST_F(groups, may_be_empty_overlap_and_repeat_members) {
  std::vector<int> v(30);
  std::iota(v.begin(), v.end(), 0);
  const std::span<int> all(v);
  bool ran = false;
  rt.spawn(in(std::vector<memory_range<int>>()), out(ref(ran)), [](views<const int> none, std::span<bool> r) {
    EXPECT_TRUE(none.empty());
    EXPECT_TRUE(none.begin() == none.end());
    r[0] = true;
  });
  rt.spawn(inout(std::vector{ref(all.first(20)), ref(all.last(20)), ref(all.first(20)), ref(all.first(0))}),
           [&](views<int> parts) {
             EXPECT_EQ(parts[0].data(), v.data());
             EXPECT_EQ(parts[1].data(), v.data() + 10);
             EXPECT_EQ(parts[2].data(), v.data());
             EXPECT_TRUE(parts[3].empty());
             for (const std::span<int> part : parts)
               for (int& x : part) x++;
           });
  int sum = 0;
  rt.spawn(in(ref(all)), out(ref(sum)),
           [](auto from, auto to) { to[0] = std::accumulate(from.begin(), from.end(), 0); });
  rt.wait();
  EXPECT_TRUE(ran);
  EXPECT_EQ(sum, 30 * 29 / 2 + 3 * 20);
}

// A member that others have cut is still handed out whole.
TEST_F(groups, of_ranges_in_parts) {
  std::vector<int> v(64, 1);
  const std::span<int> all(v);
  gate door;
  for (std::size_t i = 0; i < 64; i += 4) rt.spawn(inout(ref(all.subspan(i, 4))), [&](auto part) {
    door.pass();
    part[0]++;
  });
  const std::vector halves{ref(all.first(30)), ref(all.last(34))};
  int sum = 0;
  rt.spawn(in(halves), out(ref(sum)), [&](views<const int> parts, std::span<int> s) {
    EXPECT_EQ(parts[0].data(), v.data());
    EXPECT_EQ(parts[0].size(), 30u);
    EXPECT_EQ(parts[1].size(), 34u);
    s[0] = sum_of(parts);
  });
  rt.spawn(out(halves), [](views<int> parts) {
    for (const std::span<int> part : parts) std::ranges::fill(part, 0);
  });
  door.open();
  rt.wait();
  EXPECT_EQ(sum, 64 + 16);
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 0);
}

TEST_F(groups, beside_data_and_streams) {
  std::vector<int> v(20, 3);
  const std::vector data_in{rt.make_data(std::vector<int>{1, 2}), rt.make_data(std::vector<int>{4})};
  const std::vector data_out{rt.make_data<int>(2), rt.make_data<int>(3)};
  const std::vector streams{rt.make_stream<int>(), rt.make_stream<int>()};
  rt.spawn(push_each(streams, 2), [](views<int> windows) {
    for (const std::span<int> w : windows) std::ranges::fill(w, 5);
  });
  rt.spawn(in(data_in), inout(blocks_of(v, 10)), out(data_out), pop_each(streams, 2), in(ref(std::as_const(v[0]))),
           [&](views<const int> i, views<int> m, views<int> o, views<const int> w, std::span<const int> first) {
             EXPECT_EQ(sum_of(i), 7);
             EXPECT_EQ(sum_of(w), 20);
             EXPECT_EQ(m[1].data(), v.data() + 10);
             EXPECT_EQ(first.data(), v.data());
             m[1][0] = sum_of(i) + sum_of(w);
             o[0][0] = o[1][2] = 9;
           });
  rt.wait();
  EXPECT_EQ(v[10], 27);
  EXPECT_EQ(data_out[1].read()[2], 9);
}

// Of two matrices, one of them named twice, beside a group of ranges.
TEST_F(groups, of_tiles) {
  constexpr std::size_t n = 8;
  std::vector<int> a(n * n, 1), b(n * n, 2);
  const auto block = [](std::vector<int>& m, std::size_t row, std::size_t column) {
    return ref(tile(m.data(), n, row, 4, column, 4));
  };
  const std::vector named{block(a, 0, 4), block(b, 4, 0), block(a, 0, 4), block(a, 2, 2)};
  rt.spawn(inout(named), inout(blocks_of(b, 40)), out(std::span(named).first(0)),
           [&](views<tile<int>> tiles, views<int> ranges, views<tile<int>> none) {
             EXPECT_EQ(tiles.size(), 4u);
             EXPECT_TRUE(none.empty());
             EXPECT_EQ(tiles[0].data(), a.data() + 4);
             EXPECT_EQ(tiles[1].data(), b.data() + 4 * n);
             EXPECT_EQ(tiles[3].data(), a.data() + 2 * n + 2);
             EXPECT_EQ(tiles[3].row(3).data(), a.data() + 5 * n + 2);
             EXPECT_EQ(ranges[1].data(), b.data() + 40);
             for (const tile<int> t : tiles)
               for (std::size_t i = 0; i < t.rows(); i++)
                 for (int& x : t.row(i)) x += 10;
           });
  int sum = 0;
  rt.spawn(in(std::vector{block(a, 0, 4), block(b, 4, 0)}), out(ref(sum)),
           [](views<tile<const int>> tiles, std::span<int> s) {
             for (const tile<const int> t : tiles)
               for (std::size_t i = 0; i < t.rows(); i++)
                 s[0] = std::accumulate(t.row(i).begin(), t.row(i).end(), s[0]);
           });
  rt.wait();
  EXPECT_EQ(sum, 16 * 21 + 4 * 10 + 16 * 12);
}

TEST_F(groups, of_tiles_order_by_each_member) {
  constexpr std::size_t n = 6;
  std::vector<int> m(n * n, 0);
  const auto block = [&](std::size_t row, std::size_t column) { return ref(tile(m.data(), n, row, 2, column, 2)); };
  gate door;
  std::atomic<int> after{0}, free{0};
  rt.spawn(out(std::vector{block(0, 0), block(2, 2)}), [&](auto) { door.pass(); });
  rt.spawn(in(std::vector{block(0, 2), block(3, 3)}), [&](auto) { after++; });
  rt.spawn(inout(std::vector{block(0, 4), block(2, 0), block(4, 0)}), [&](auto) { free++; });
  rt.spawn(inout(block(0, 2)), [&](auto) { after++; });  // waits for the reader of it
  rt.spawn(in(std::vector{ref(std::span(m).subspan(2 * n + 3, 1))}), [&](auto) { after++; });
  while (free != 1) std::this_thread::yield();
  EXPECT_EQ(after, 0);
  door.open();
  rt.wait();
  EXPECT_EQ(after, 3);
}

TEST_F(groups, wrapping_members_are_refused) {
  std::vector<int> v(4);
  const std::span<int> wrong(v.data(), std::numeric_limits<std::size_t>::max() / 8);
  WEIR_EXPECT_CONTAINS(message_of<usage_error>([&] {
    rt.spawn(in(std::vector{ref(v), ref(wrong)}), [](auto) {});
  }), "reaches beyond what can be addressed");
  rt.wait();
}

TEST_F(groups, views_are_ranges) {
  std::vector<std::vector<int>> parts{{1, 2, 3}, {}, {4, 5}, {6}};
  std::vector<memory_range<int>> named;
  for (std::vector<int>& part : parts) named.push_back(ref(part));
  rt.spawn(inout(named), [&](views<int> all) {
    const auto size = [](std::span<int> part) { return part.size(); };
    EXPECT_EQ(std::ranges::max(all | std::views::transform(size)), 3u);
    EXPECT_EQ(std::ranges::count_if(all, &std::span<int>::empty), 1);
    EXPECT_EQ((std::ranges::find(all, 2u, size) - all.begin()), 2);
    for (const std::span<int> part : all | std::views::reverse | std::views::take(2)) part[0] = 0;
    int sum = 0;
    for (const int x : all | std::views::join) sum += x;
    EXPECT_EQ(sum, 1 + 2 + 3 + 0 + 5 + 0);
    auto i = all.begin();
    EXPECT_EQ(i[3].data(), parts[3].data());
    EXPECT_EQ((*(i + 2)).data(), (2 + i)[0].data());
    i += 3;
    EXPECT_EQ((i--)[0].data(), parts[3].data());
    EXPECT_EQ((*--i).data(), (*(all.end() - 3)).data());
    EXPECT_TRUE(all.begin() < i && i <= all.end() && all.end() - i == 3);
  });
  rt.wait();
  EXPECT_EQ(parts[3][0], 0);
}

}  // namespace
}  // namespace weir::test
