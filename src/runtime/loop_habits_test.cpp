// What is learnt about loops with the same body, and what their callers begin alone.
#include <weir/detail/loop.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weir::detail {
namespace {

// A machine on which an element takes its caller so long, and others cost so much.
struct machine {
  double ns_per_element, others_cost_ns;
  std::uint64_t workers;

  double alone_ns(std::uint64_t elements) const { return ns_per_element * static_cast<double>(elements); }
  double shared_ns(std::uint64_t elements) const {
    return others_cost_ns + alone_ns(elements) / static_cast<double>(workers);
  }
  // How many of so many loops are run alone from begin to end, and what all take.
  struct outcome {
    int alone = 0;
    double ns = 0;
  };
  outcome run(loop_habits& of, std::uint64_t elements, int loops) const {
    outcome sum;
    for (int i = 0; i < loops; i++) {
      const loop_habits::way how = of.next(elements, workers);
      const double alone = alone_ns(elements), most = static_cast<double>(how.alone_ns);
      double begun = 0;
      if (how.alone) begun = alone <= most ? 1 : most / alone;
      const auto done = static_cast<std::uint64_t>(begun * static_cast<double>(elements));
      if (how.alone && how.says_alone) of.note_alone(done, static_cast<std::uint64_t>(begun * alone));
      sum.ns += begun * alone;
      if (done == elements) {
        sum.alone++;
        continue;
      }
      const double rest = shared_ns(elements - done);
      if (how.says_shared) of.note_shared(elements - done, workers, static_cast<std::uint64_t>(rest));
      sum.ns += rest;
    }
    return sum;
  }
};

TEST(loop_habits, an_unknown_loop_is_shared_at_once) {
  loop_habits of;
  EXPECT_FALSE(of.next(1000, 2).alone);
}

TEST(loop_habits, what_is_short_is_run_alone) {
  for (const machine m :
       {machine{0.5, 1200, 2}, machine{0.5, 300, 2}, machine{0.01, 80'000, 24}, machine{1, 30'000, 192}}) {
    loop_habits of;
    m.run(of, 1000, 256);
    const machine::outcome then = m.run(of, 1000, 2560);
    EXPECT_GE(then.alone, 2500) << m.others_cost_ns;
    EXPECT_LE(then.ns, 2560 * m.alone_ns(1000) * 1.15) << m.others_cost_ns;
  }
}

TEST(loop_habits, what_is_long_is_shared_at_once) {
  for (const machine m : {machine{10, 1200, 2}, machine{100, 80'000, 24}, machine{1e6, 1200, 2}}) {
    loop_habits of;
    const machine::outcome first = m.run(of, 1000, 256), then = m.run(of, 1000, 2560);
    EXPECT_LE(first.ns, 256 * m.shared_ns(1000) * 1.1) << m.ns_per_element;
    EXPECT_LE(then.ns, 2560 * m.shared_ns(1000) * 1.02) << m.ns_per_element;
    EXPECT_LE(then.alone, 20) << m.ns_per_element;  // to see whether that is right still
  }
}

// The way back from what was right before takes at most a few hundred loops.
TEST(loop_habits, are_changed) {
  loop_habits of;
  const machine shorter{0.5, 1200, 2}, longer{20, 1200, 2};
  shorter.run(of, 1000, 1000);
  longer.run(of, 1000, 600);
  EXPECT_LE(longer.run(of, 1000, 1000).alone, 8);
  shorter.run(of, 1000, 600);
  EXPECT_GE(shorter.run(of, 1000, 1000).alone, 980);
}

// A thread that loses its CPU once, alone or in company, teaches nothing.
TEST(loop_habits, survive_one_disturbance) {
  loop_habits of;
  const machine m{0.5, 1200, 2};
  m.run(of, 1000, 1000);
  of.note_alone(1000, 4'000'000);
  EXPECT_GE(m.run(of, 1000, 100).alone, 97);
  of.note_shared(1000, 2, 4'000'000);
  EXPECT_GE(m.run(of, 1000, 100).alone, 97);
}

// Also if it was the first one, of a few elements, after which the whole loop seems to take very long.
TEST(loop_habits, survive_a_bad_beginning) {
  loop_habits of;
  const machine m{0.5, 1200, 2};
  static_cast<void>(of.next(1000, 2));
  of.note_shared(1000, 2, 100'000);
  of.note_alone(8, 12'000);
  m.run(of, 1000, 1000);
  EXPECT_GE(m.run(of, 1000, 1000).alone, 980);
}

TEST(loop_habits, bad_numbers_do_no_harm) {
  loop_habits of;
  of.note_alone(0, 100);
  of.note_shared(0, 2, 100);
  of.note_alone(1000, 0);
  of.note_shared(~std::uint64_t{0}, 2, 0);
  of.note_shared(1, 2, ~std::uint64_t{0});
  for (int i = 0; i < 600; i++) {
    const loop_habits::way how = of.next(i % 2 == 0 ? 1 : ~std::uint64_t{0}, 2);
    EXPECT_LE(how.alone_ns, 2'100'000u);
  }
}

// Whatever is taken, in whatever pieces, each chunk once; and what is left of any part is its end.
TEST(chunks_begun, go_round) {
  constexpr std::uint64_t chunks = 13;
  for (const std::uint64_t first : {0u, 4u, 12u})
    for (const std::uint64_t most : {1u, 3u, 100u}) {
      chunks_begun of(chunks);
      of.start_at(first);
      std::vector<int> seen(chunks, 0);
      while (!of.all()) {
        const chunks_taken t = of.take(most);
        ASSERT_TRUE(t.any());
        ASSERT_LE(t.last, chunks);
        for (std::uint64_t c = t.first; c < t.last; c++) seen[c]++;
        for (const auto& [begin, end] : {std::pair<std::uint64_t, std::uint64_t>{0, first}, {first, chunks}}) {
          const std::uint64_t n = of.of(begin, end);
          for (std::uint64_t c = begin; c < end; c++) EXPECT_EQ(seen[c], c < begin + n ? 1 : 0) << c;
        }
      }
      EXPECT_EQ(of.count(), chunks);
      EXPECT_FALSE(of.take(most).any());
    }
}

}  // namespace
}  // namespace weir::detail
