// Tiles of matrices in the program's own memory: what is named, what bodies get, what is refused. Who waits for whom
// is in tests/oracle.
#include "tests/support/support.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

namespace weir::test {
namespace {

class tiles : public ::testing::Test {
 protected:
  static constexpr std::size_t n = 12;
  template <class T>
  static auto part(std::vector<T>& v, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
    return tile(v.data(), n, row, rows, column, columns);
  }

  watchdog dog{60, "tiles"};
  runtime rt{{.workers = 3}};
  std::vector<int> v = std::vector<int>(n * n, 1);
};

TEST_F(tiles, are_rows_and_columns) {
  const tile<int> t = part(v, 2, 3, 4, 5);
  EXPECT_EQ(t.rows(), 3u);
  EXPECT_EQ(t.columns(), 5u);
  EXPECT_EQ(t.stride(), n);
  EXPECT_EQ(t.matrix(), v.data());
  EXPECT_EQ(t.data(), v.data() + 2 * n + 4);
  EXPECT_EQ(&t(2, 1), v.data() + 4 * n + 5);
  EXPECT_EQ(t.row(1).data(), v.data() + 3 * n + 4);
  EXPECT_EQ(t.row(1).size(), 5u);
  const tile<const int> read_only = t;
  EXPECT_EQ(read_only.row(2).data(), t.row(2).data());
}

TEST_F(tiles, are_what_the_body_gets) {
  const tile<int> t = part(v, 1, 4, 7, 5);
  rt.spawn(out(ref(t)), [&](tile<int> w) {
    EXPECT_EQ(w.data(), t.data());
    EXPECT_EQ(w.rows(), 4u);
    EXPECT_EQ(w.columns(), 5u);
    EXPECT_EQ(w.stride(), n);
    EXPECT_EQ(w.matrix(), v.data());
    for (std::size_t i = 0; i < w.rows(); i++) std::ranges::fill(w.row(i), 5);
  });
  rt.spawn(inout(ref(part(v, 0, 3, 0, n))), [](tile<int> u) {
    for (std::size_t i = 0; i < u.rows(); i++)
      for (int& x : u.row(i)) x *= 2;
  });
  int sum = 0;
  const auto add = [](tile<const int> r, std::span<const int> all, std::span<int> s) {
    for (std::size_t i = 0; i < r.rows(); i++)
      for (std::size_t j = 0; j < r.columns(); j++) s[0] += r(i, j);
    s[0] += 100 * all[2 * n + 7];
  };
  rt.spawn(in(ref(t)), in(ref(v)), inout(ref(sum)), add);
  rt.wait();
  EXPECT_EQ(sum, 5 * (10 + 10 + 5 + 5) + 1000);
}

// A product of matrices in blocks of different shapes, against the same element by element.
TEST_F(tiles, multiply_matrices) {
  constexpr std::size_t size = 40;
  std::mt19937_64 random(new_seed());
  std::vector<long> a(size * size), b(size * size), c(size * size), expected(size * size);
  for (std::vector<long>* m : {&a, &b})
    for (long& x : *m) x = static_cast<long>(between(random, 0, 9));
  const auto multiply = [](tile<const long> l, tile<const long> r, tile<long> to) {
    for (std::size_t i = 0; i < to.rows(); i++)
      for (std::size_t k = 0; k < l.columns(); k++)
        for (std::size_t j = 0; j < to.columns(); j++) to(i, j) += l(i, k) * r(k, j);
  };
  for (int round = 0; round < 8; round++) {
    const std::size_t rows = between(random, 1, size), inner = between(random, 1, size);
    const std::size_t columns = between(random, 1, size);
    for (std::size_t i = 0; i < size; i += rows)
      for (std::size_t k = 0; k < size; k += inner)
        for (std::size_t j = 0; j < size; j += columns) {
          const std::size_t r = std::min(rows, size - i), m = std::min(inner, size - k);
          const std::size_t s = std::min(columns, size - j);
          rt.spawn(in(ref(tile(a.data(), size, i, r, k, m))), in(ref(tile(b.data(), size, k, m, j, s))),
                   inout(ref(tile(c.data(), size, i, r, j, s))), multiply);
        }
  }
  rt.wait();
  for (std::size_t i = 0; i < size; i++)
    for (std::size_t j = 0; j < size; j++)
      for (std::size_t k = 0; k < size; k++) expected[i * size + j] += 8 * a[i * size + k] * b[k * size + j];
  EXPECT_EQ(c, expected);
}

// Also where tiles are named by their first elements.
TEST_F(tiles, of_one_matrix_with_other_beginnings) {
  gate door;
  std::atomic<int> free{0}, after{0};
  rt.spawn(out(ref(tile(v.data() + 2 * n + 2, n, 0, 3, 0, 3))), [&](auto) { door.pass(); });
  rt.spawn(out(ref(tile(v.data() + 5 * n + 1, n, 0, 4, 0, 9))), [&](auto) { free++; });
  rt.spawn(out(ref(tile(v.data() + 2 * n + 5, n, 0, 3, 0, 5))), [&](auto) { free++; });
  rt.spawn(inout(ref(tile(v.data(), n, 0, 2, 0, n))), [&](auto) { free++; });
  rt.spawn(in(ref(tile(v.data() + 4 * n + 4, n, 0, 2, 0, 1))), [&](auto) { after++; });
  while (free != 3) std::this_thread::yield();
  EXPECT_EQ(after, 0);
  door.open();
  rt.wait();
  EXPECT_EQ(after, 1);
}

TEST_F(tiles, of_several_strides_meet) {
  gate door;
  std::atomic<int> after{0};
  rt.spawn(out(ref(part(v, 2, 2, 3, 2))), [&](auto) { door.pass(); });
  rt.spawn(inout(ref(tile(v.data(), 2 * n, 0, 3, 0, n + 5))), [&](auto) { after++; });
  rt.spawn(inout(ref(part(v, 3, 1, 3, 1))), [&](auto) { EXPECT_EQ(after, 1); after++; });
  rt.spawn(in(ref(std::span(v).subspan(3 * n + 3, 1))), [&](auto) { EXPECT_EQ(after, 2); after++; });
  std::this_thread::yield();
  EXPECT_EQ(after, 0);
  door.open();
  rt.wait();
  EXPECT_EQ(after, 3);
}

TEST_F(tiles, that_make_no_sense_are_refused) {
  const auto message = [&](std::size_t stride, std::size_t row, std::size_t rows, std::size_t column,
                           std::size_t columns) {
    return message_of<usage_error>([&] { tile(v.data(), stride, row, rows, column, columns); });
  };
  WEIR_EXPECT_CONTAINS(message(n, 0, 0, 0, 4), "0 rows of 4 columns were asked for; a tile has at least one of each");
  WEIR_EXPECT_CONTAINS(message(n, 0, 3, 0, 0), "3 rows of 0 columns");
  WEIR_EXPECT_CONTAINS(message(n, 0, 3, 8, 5),
                       "columns 8 to 13 were asked for, and the matrix has 12 elements from row");
  WEIR_EXPECT_CONTAINS(message(4, 0, 3, 0, 5), "columns 0 to 5 were asked for, and the matrix has 4 elements");
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  WEIR_EXPECT_CONTAINS(message(n, 0, 3, most, 2), "were asked for, and the matrix has 12 elements");
  WEIR_EXPECT_CONTAINS(message(n, most, 3, 0, 5), "reach beyond what can be addressed");
  WEIR_EXPECT_CONTAINS(message(n, 0, most, 0, 5), "reach beyond what can be addressed");
  WEIR_EXPECT_CONTAINS(message(most / 4, 0, 5, 0, 5), "reach beyond what can be addressed");
  WEIR_EXPECT_CONTAINS(message(n, most / 40, 3, 0, 5), "reach beyond what can be addressed");
}

// Addresses are numbers: nobody looks at the elements.
TEST_F(tiles, end_where_addresses_end) {
  constexpr std::uintptr_t end = std::uintptr_t{1} << 47;
  int* const matrix = reinterpret_cast<int*>(end - 4 * n * sizeof(int));
  bool ran = false;
  rt.spawn(out(ref(tile(matrix, n, 0, 4, 0, n))), out(ref(ran)), [](auto, auto r) { r[0] = true; });
  rt.wait();
  EXPECT_TRUE(ran);
  const auto message = [&](auto make) { return message_of<usage_error>(make); };
  WEIR_EXPECT_CONTAINS(message([&] { tile(matrix, n, 1, 4, 0, 1); }), "rows 1 to 5 of a matrix at address");
  WEIR_EXPECT_CONTAINS(message([&] { tile(matrix, n, 0, 5, 0, n); }), "reach beyond what can be addressed");
  WEIR_EXPECT_CONTAINS(message([&] { tile(reinterpret_cast<int*>(end + 64), n, 0, 1, 0, 1); }),
                       "12 elements of 4 bytes from row to row, reach beyond what can be addressed");
  WEIR_EXPECT_CONTAINS(message([&] { tile(reinterpret_cast<int*>(~std::uintptr_t{3}), n, 0, 1, 0, 1); }),
                       "reach beyond what can be addressed");
}

// As tile, as plain range and in a group, in one task: a write if any writes, of bytes that nobody else has meanwhile.
TEST_F(tiles, may_name_the_bytes_of_a_range) {
  int sum = 0;
  for (int round = 1; round <= 50; round++) {
    const tile<int> t = part(v, 2, 3, 4, 5);
    const std::span<int> row = std::span(v).subspan(3 * n, n);
    const std::vector ranges{ref(row), ref(std::span(v).first(n))};
    rt.spawn(in(ref(t)), inout(ref(row)), in(ranges), out(ref(t)), [&](auto, auto r, auto, tile<int> w) {
      EXPECT_EQ(w.row(1).data(), r.data() + 4);
      for (int& x : r) x++;
    });
    rt.spawn(in(ref(std::span(v))), inout(ref(sum)), [round](auto all, auto s) {
      for (std::size_t i = 0; i < all.size(); i++) s[0] += all[i] == (i / n == 3 ? round + 1 : 1) ? 1 : 0;
    });
  }
  rt.wait();
  EXPECT_EQ(sum, 50 * static_cast<int>(n * n));
}

// Each of the modes, other tiles of it among them.
TEST_F(tiles, of_which_a_task_names_one_fifty_times) {
  const auto named = ref(part(v, 1, 8, 1, 8)), inner = ref(part(v, 2, 2, 2, 2));
  const std::vector fifty(50, named);
  gate door;
  std::atomic<int> done{0};
  rt.spawn(inout(inner), [&](auto) {
    door.pass();
    done++;
  });
  rt.spawn(in(fifty), inout(fifty), in(inner), out(fifty), [&](auto r, auto u, auto, auto w) {
    EXPECT_EQ(done, 1);
    EXPECT_EQ(r[49].data(), u[0].data());
    EXPECT_EQ(w[17].rows(), 8u);
    done++;
  });
  rt.spawn(in(fifty), [&](auto) {
    EXPECT_EQ(done, 2);
    done++;
  });
  rt.spawn(inout(ref(part(v, 8, 1, 8, 1))), [&](auto) { EXPECT_EQ(done, 3); });
  EXPECT_EQ(done, 0);
  door.open();
  rt.wait();
  EXPECT_EQ(done, 3);
}

// A view of a datum is memory as any other as long as it is held: who updates the datum meanwhile works on a copy.
TEST_F(tiles, of_a_view_of_a_datum) {
  const auto d = rt.make_data(std::vector<int>(n * n, 7));
  const auto view = d.read();
  const auto block = ref(tile(view.data(), n, 3, 4, 5, 6));
  std::atomic<int> sum{0};
  for (int i = 0; i < 10; i++) {
    rt.spawn(inout(d), [](auto all) {
      for (int& x : all) x++;
    });
    rt.spawn(in(block), in(d), [&, i](tile<const int> t, auto all) {
      for (std::size_t r = 0; r < t.rows(); r++)
        for (const int x : t.row(r)) sum += x;
      EXPECT_EQ(all[0], 7 + i + 1);
    });
  }
  rt.wait();
  EXPECT_EQ(sum, 10 * 24 * 7);
}

// What is read of a tile that is lost is lost, too; what lies beside it is not.
TEST_F(tiles, that_are_lost_skip_their_readers) {
  std::atomic<int> ran{0};
  rt.spawn({.name = "breaks"}, out(ref(part(v, 2, 3, 2, 3))), [](auto) { throw std::runtime_error("broken"); });
  rt.spawn(in(ref(part(v, 4, 2, 4, 2))), [&](auto) { ran += 100; });
  rt.spawn(in(ref(part(v, 2, 3, 5, 2))), [&](auto) { ran++; });
  rt.spawn(in(ref(std::span(v).first(2 * n + 2))), [&](auto) { ran++; });
  WEIR_EXPECT_CONTAINS(message_of<task_failed>([&] { rt.wait(); }), "broken");
  EXPECT_EQ(ran, 2);
  rt.spawn(in(ref(part(v, 4, 2, 4, 2))), [&](auto) { ran++; });
  rt.wait();
  EXPECT_EQ(ran, 3);
}

// Nobody names tiles of its stride for so long that they are forgotten, although one is in use.
TEST_F(tiles, of_a_stride_that_comes_back) {
  gate first, last;
  std::atomic<int> before{0}, after{0};
  rt.spawn(inout(ref(part(v, 0, 4, 0, n))), [&](auto) { first.pass(); });
  first.await_arrivals(1);
  const auto other = ref(tile(v.data(), n / 2, 0, n, 0, n / 2));
  for (int i = 0; i < 600; i++) rt.spawn(inout(other), [&](auto) { before++; });
  rt.spawn(inout(other), [&](auto) { last.pass(), before++; });
  rt.spawn(inout(ref(part(v, 0, 4, 0, n))), [&](auto) { after = before.load(); });
  first.open();
  last.await_arrivals(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));  // for one who does not wait
  last.open();
  rt.wait();
  EXPECT_EQ(after, 601) << "it did not wait for the tiles of another stride";
}

// As ranges are (ranges_test.cpp): memory that is freed and becomes another matrix.
TEST_F(tiles, of_memory_that_becomes_another_matrix) {
  std::mt19937_64 random(new_seed());
  std::vector<int> expected(n * n, 1);
  for (int round = 0; round < 200; round++) {
    const std::size_t stride = between(random, 1, n), rows = n * n / stride;
    for (int t = 0; t < 20; t++) {
      const std::size_t row = between(random, 0, rows - 1), column = between(random, 0, stride - 1);
      const std::size_t height = between(random, 1, rows - row), width = between(random, 1, stride - column);
      const auto change = [t](tile<int> all) {
        for (std::size_t i = 0; i < all.rows(); i++)
          for (int& x : all.row(i))
            x = static_cast<int>((static_cast<unsigned>(x) * 31 + static_cast<unsigned>(t)) % 1009);
      };
      rt.spawn(inout(ref(tile(v.data(), stride, row, height, column, width))), change);
      change(tile(expected.data(), stride, row, height, column, width));
    }
    if (between(random, 0, 3) == 0) rt.wait();
  }
  rt.wait();
  EXPECT_EQ(v, expected);
}

}  // namespace
}  // namespace weir::test
