// Parts of loops that come one after the other in the same memory, to which their callers do not write.
#include <weir/detail/loop.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace weir::detail {
namespace {

constexpr std::uint64_t all_workers = 3;
constexpr std::uint64_t numbers = std::uint64_t{1} << 16;  // of loops, as words have them
constexpr loop_ops no_body{nullptr, nullptr, nullptr, nullptr, nullptr};

// Their memory, as a post has it.
struct post {
  std::array<loop_part, all_workers> parts;
  std::array<atomic<std::uint64_t>, 1> unfinished;
  std::uint64_t number = 0;

  // Each worker takes all it can, of all parts: whether each chunk is taken once, but those that the caller has begun,
  // from the beginning of that worker's part on.
  void expect_all(std::uint64_t chunks, bool by_node, std::uint64_t begun = 0, std::uint64_t caller = 0,
                  float alone_ns = std::numeric_limits<float>::max()) {
    const loop_shape shape = loop_shape::of(chunks, 1, all_workers, by_node);
    loop_work l(no_body, "loop", chunks, all_workers, true);
    l.parts = parts.data();
    l.unfinished = unfinished.data();
    l.number = &number;
    chunks_begun alone(chunks);
    alone.start_at(shape.part_begin(caller));
    std::vector<chunks_taken> runs;
    for (std::uint64_t left = begun; left > 0; left -= runs.back().last - runs.back().first)
      runs.push_back(alone.take(left));
    loop_parts p(shape, l, alone, alone_ns);
    for (std::uint64_t w = 0; w < all_workers; w++)
      for (std::uint64_t part = 0; part < all_workers; part++) take_all(p, (w + part) % all_workers, runs);
    std::ranges::sort(runs, {}, &chunks_taken::first);
    std::uint64_t next = 0;
    for (const chunks_taken& t : runs) {
      ASSERT_EQ(t.first, next) << "of " << chunks << ", loop " << number;
      next = t.last;
    }
    ASSERT_EQ(next, chunks) << "loop " << number;
  }

  static void take_all(loop_parts& p, std::uint64_t part, std::vector<chunks_taken>& runs) {
    const loop_parts::extent e = p.extent_of(part);
    std::uint64_t most = 1;
    for (chunks_taken t = p.take(part, e, most); t.any(); t = p.take(part, e, most)) {
      runs.push_back(t);
      most = std::min(2 * most, p.shape.chunks);
    }
  }
};

TEST(loop_parts, of_one_loop_after_the_other) {
  post of;
  for (const bool by_node : {false, true})
    for (std::uint64_t chunks = 1; chunks < 40; chunks++)
      for (std::uint64_t caller = 0; caller < all_workers; caller++)
        for (const std::uint64_t begun : {std::uint64_t{0}, chunks / 3, chunks - 1})
          of.expect_all(chunks, by_node, begun, caller);
}

TEST(loop_parts, share_chunks_out_evenly) {
  for (const int of : {1, 2, 3, 7, 24, 192, 1000, 32767})
    for (const std::uint64_t chunks : {1u, 5u, 191u, 193u, 32766u, 32768u, 1000003u}) {
      const loop_shape s = loop_shape::of(chunks, 1, of, false);
      const auto n = static_cast<std::uint64_t>(of);
      for (std::uint64_t w = 0; w <= n; w++)
        ASSERT_EQ(s.part_begin(w), w * (chunks / n) + w * (chunks % n) / n)
            << chunks << " chunks, worker " << w << " of " << n;
    }
}

// With one chunk only the last part has any: nobody touches the others, until a loop comes that has the number that is
// still written there.
TEST(loop_parts, of_loops_whose_numbers_come_again) {
  post of;
  of.expect_all(12, true);
  const std::uint64_t number = of.number;
  for (std::uint64_t i = 2; i < numbers; i++) of.expect_all(1, false);
  of.expect_all(12, true, 1);
  EXPECT_EQ(of.number, number);
  for (int i = 0; i < 5; i++) of.expect_all(12, true, 1);
}

TEST(loop_parts, with_more_chunks_than_a_word_has_bits_for_beside_the_number) {
  post of;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t chunks : {(std::uint64_t{1} << 46) - 1, std::uint64_t{1} << 46, (std::uint64_t{1} << 46) + 1,
                                     std::uint64_t{1} << 62, most / 2}) {
    of.expect_all(chunks, true);
    of.expect_all(7, true);
    of.expect_all(chunks, false, 5, 1);
    of.expect_all(8, false, 2);
  }
}

// However little is known of how long a chunk takes.
TEST(loop_parts, of_loops_of_any_length) {
  post of;
  for (const float alone_ns : {1e-6F, 1.0F, 1e3F, 1e9F, 1e18F, std::numeric_limits<float>::max()})
    for (const std::uint64_t chunks :
         {std::uint64_t{5}, std::uint64_t{200}, std::uint64_t{1} << 46, std::uint64_t{1} << 62})
      for (const std::uint64_t begun : {std::uint64_t{0}, std::uint64_t{3}})
        of.expect_all(chunks, true, begun, 1, alone_ns);
}

}  // namespace
}  // namespace weir::detail
